/** What the kernel is asked for: rights on files and TCP, and scopes; bits of `linux/landlock.h`. */
export type RulesetRights = { readonly files: bigint; readonly tcp: bigint; readonly scopes: bigint };

/** A call that the kernel refused, with its error number. */
export class SystemCallError extends Error {
  override readonly name = "SystemCallError";
  readonly errno: number;

  constructor(call: string, errno: number) {
    super(`${call} failed with error ${errno}`);
    this.errno = errno;
  }
}

/** The same numbers on every architecture. */
const CREATE_RULESET = 444n;
const ADD_RULE = 445n;
const RESTRICT_SELF = 446n;

const ABI_VERSION = 1n;
const RULE_PATH = 1n;
const RULE_PORT = 2n;
const CONNECT_TCP = 2n;
const SET_NO_NEW_PRIVS = 38;
const OPEN_TO_READ = 0o2000000;
const OPEN_PATH = 0o12000000;
const OPEN_FOLDER = OPEN_PATH | (Deno.build.arch === "aarch64" ? 0o40000 : 0o200000);

const SYMBOLS = {
  createRuleset: { name: "syscall", parameters: ["i64", "buffer", "i64", "i64"], result: "i64" },
  addRule: { name: "syscall", parameters: ["i64", "i64", "i64", "buffer", "i64"], result: "i64" },
  restrictSelf: { name: "syscall", parameters: ["i64", "i64", "i64"], result: "i64" },
  prctl: { parameters: ["i32", "u64", "u64", "u64", "u64"], result: "i32" },
  open: { parameters: ["buffer", "i32"], result: "i32" },
  read: { parameters: ["i32", "buffer", "i64"], result: "i64" },
  close: { parameters: ["i32"], result: "i32" },
  execve: { parameters: ["buffer", "buffer", "buffer"], result: "i32" },
  errno: { name: "__errno_location", parameters: [], result: "pointer" },
} as const;

/** The few calls of the C library that confine a process; needs the permission `ffi` until it is closed. */
export class LandlockCalls implements Disposable {
  readonly #libc = Deno.dlopen("libc.so.6", SYMBOLS);

  /** The version of the kernel's Landlock, from 1. @throws {SystemCallError} where there is none to use */
  abi(): number {
    return this.#checked(
      "landlock_create_ruleset",
      this.#libc.symbols.createRuleset(CREATE_RULESET, null, 0n, ABI_VERSION),
    );
  }

  /** What is at a path, links followed. */
  kindOf(path: string): "file" | "folder" | undefined {
    if (this.#opens(path, OPEN_FOLDER)) return "folder";
    return this.#opens(path, OPEN_PATH) ? "file" : undefined;
  }

  /**
   * The text of a file, of which the runtime may refuse to read some that tell of the own process.
   *
   * @throws {SystemCallError}
   */
  textOf(path: string): string {
    const descriptor = this.#checked("open", this.#libc.symbols.open(cString(path), OPEN_TO_READ));
    try {
      const decoder = new TextDecoder();
      const buffer = new Uint8Array(1 << 16);
      let text = "";
      for (;;) {
        const count = this.#checked("read", this.#libc.symbols.read(descriptor, buffer, BigInt(buffer.length)));
        if (count === 0) return text + decoder.decode();
        text += decoder.decode(buffer.subarray(0, count), { stream: true });
      }
    } finally {
      this.#libc.symbols.close(descriptor);
    }
  }

  /** A new ruleset's descriptor. @throws {SystemCallError} */
  createRuleset({ files, tcp, scopes }: RulesetRights): number {
    const attributes = new BigUint64Array([files, tcp, scopes]);
    return this.#checked(
      "landlock_create_ruleset",
      this.#libc.symbols.createRuleset(CREATE_RULESET, new Uint8Array(attributes.buffer), 24n, 0n),
    );
  }

  /** Allows rights on a file, or below a folder. A path that is not there is left out. @throws {SystemCallError} */
  allowPath(ruleset: number, path: string, rights: bigint): void {
    const descriptor = this.#libc.symbols.open(cString(path), OPEN_PATH);
    if (descriptor < 0) return;
    try {
      const rule = new Uint8Array(12);
      const view = new DataView(rule.buffer);
      view.setBigUint64(0, rights, true);
      view.setInt32(8, descriptor, true);
      this.#checked(
        "landlock_add_rule",
        this.#libc.symbols.addRule(ADD_RULE, BigInt(ruleset), RULE_PATH, rule, 0n),
      );
    } finally {
      this.#libc.symbols.close(descriptor);
    }
  }

  /** Allows connections to a TCP port of any host. @throws {SystemCallError} */
  allowPort(ruleset: number, port: number): void {
    const rule = new BigUint64Array([CONNECT_TCP, BigInt(port)]);
    this.#checked(
      "landlock_add_rule",
      this.#libc.symbols.addRule(ADD_RULE, BigInt(ruleset), RULE_PORT, new Uint8Array(rule.buffer), 0n),
    );
  }

  /** Confines this thread, and all that it starts or becomes, for good. @throws {SystemCallError} */
  restrictSelf(ruleset: number): void {
    this.#checked("prctl", this.#libc.symbols.prctl(SET_NO_NEW_PRIVS, 1n, 0n, 0n, 0n));
    this.#checked("landlock_restrict_self", this.#libc.symbols.restrictSelf(RESTRICT_SELF, BigInt(ruleset), 0n));
  }

  /** Replaces the process, all of its threads. Comes back only by throwing. @throws {SystemCallError} */
  execute(path: string, args: readonly string[], env: { readonly [name: string]: string }): never {
    const argv = cStrings([path, ...args]);
    const envp = cStrings(Object.entries(env).map(([name, value]) => `${name}=${value}`));
    this.#checked("execve", this.#libc.symbols.execve(cString(path), argv.pointers, envp.pointers));
    throw new Error(`execve came back, with ${argv.texts.length + envp.texts.length} texts`);
  }

  [Symbol.dispose](): void {
    this.#libc.close();
  }

  #opens(path: string, how: number): boolean {
    const descriptor = this.#libc.symbols.open(cString(path), how);
    if (descriptor < 0) return false;
    this.#libc.symbols.close(descriptor);
    return true;
  }

  #checked(call: string, result: number | bigint): number {
    if (result >= 0) return Number(result);
    const place = this.#libc.symbols.errno();
    throw new SystemCallError(call, place === null ? 0 : new Deno.UnsafePointerView(place).getInt32());
  }
}

function cString(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(`${text}\0`);
}

/** A list that ends with a null pointer; the texts must live as long as it is used. */
function cStrings(
  texts: readonly string[],
): { readonly pointers: Uint8Array<ArrayBuffer>; readonly texts: readonly Uint8Array<ArrayBuffer>[] } {
  const bytes = texts.map(cString);
  const pointers = new BigUint64Array(bytes.length + 1);
  bytes.forEach((text, index) => pointers[index] = BigInt(Deno.UnsafePointer.value(Deno.UnsafePointer.of(text))));
  return { pointers: new Uint8Array(pointers.buffer), texts: bytes };
}
