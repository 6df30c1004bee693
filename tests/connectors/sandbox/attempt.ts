/** What a hostile connector is given to aim at. All of it exists, and none of it is granted but what says so. */
export type Targets = {
  /** A text file, a JSON file, modules and a WebAssembly module, each of which tells `SECRET`. */
  readonly secret: string;
  readonly secretJson: string;
  readonly secretModule: string;
  readonly secretCommonJs: string;
  readonly secretWasm: string;
  /** The folder that holds them. */
  readonly outside: string;
  /** A folder of files that may be spoiled. */
  readonly victims: string;
  /** Granted for reading and writing. In it `file_link` leads to the secret and `folder_link` to `victims`. */
  readonly granted: string;
  /** Where something listens, on 127.0.0.1: granted, and not. The granted one redirects HTTP to the other. */
  readonly grantedPort: number;
  readonly otherPort: number;
  /** A name server, by UDP. */
  readonly namePort: number;
  readonly unixSocket: string;
  /** A process that is not the connector's. */
  readonly pid: number;
  /** A native addon, and an executable that does nothing. */
  readonly addon: string;
  readonly program: string;
};

/** The kinds of which there must be five at least. */
export const KINDS = [
  "files",
  "symlinks",
  "proc",
  "import",
  "hosts",
  "dns",
  "spawn",
  "signals",
  "ffi",
  "workers",
  "environment",
  "inspector",
  "builtins",
  "wasm",
  "code",
  "system",
] as const;

/** One way out of the sandbox. It comes back when it has worked, and throws when it has not. */
export type Attempt = {
  readonly kind: typeof KINDS[number];
  readonly name: string;
  /** `landlock`: the runtime's own sandbox is known not to stop it. */
  readonly only?: "landlock";
  /** The permission that the runtime names when it refuses. */
  readonly permission?: string;
  readonly run: (targets: Targets) => unknown;
};

export const SECRET = "the crown jewels";

/** The variable that a hostile connector looks for. */
export const SECRET_VARIABLE = "PZ_TEST_SECRET";

/** @throws {Error} unless the text tells the secret */
export function tells(text: unknown): void {
  if (!String(text).includes(SECRET)) throw new Error(`nothing is told: ${String(text).slice(0, 60)}`);
}

/** @throws {Error} unless it holds */
export function must(holds: unknown, what = "nothing happened"): void {
  if (holds !== true) throw new Error(what);
}

/** Imports what no bundler can see. */
export function load(specifier: string, attributes: ImportAttributes = {}): Promise<Loaded> {
  return import(specifier, { with: attributes });
}

/** Built-in modules by names that no bundler and no reader of the code sees. */
export function builtin(name: string): Promise<Loaded> {
  return load(["node", name].join(":"));
}

/** A module, or part of one, of which nothing is known. */
export type Loaded = { readonly [name: string]: Loaded } & ((...args: readonly unknown[]) => Loaded) & {
  new (...args: readonly unknown[]): Loaded;
};

/** A member of a global that the types do not have. */
export function unknownMember(owner: object, name: string): Loaded {
  const value: unknown = Reflect.get(owner, name);
  if (value === undefined) throw new Error(`there is no ${name}`);
  return value as Loaded;
}

/** Waits for the first event of either name. @throws {Error} for the second */
export function eventOf(emitter: Loaded, good: string, bad = "error"): Promise<unknown> {
  return new Promise((resolve, reject) => {
    emitter.once?.(good, resolve);
    emitter.once?.(bad, (error: unknown) => reject(error instanceof Error ? error : new Error(String(error))));
  });
}
