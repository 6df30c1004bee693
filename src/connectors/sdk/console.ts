import { Readable } from "node:stream";

/** More of one output than this is no message for a person; the host shortens what is left further. */
const MAX_OUTPUT_BYTES = 16 * 1024;

type Level = "debug" | "info" | "warn" | "error";

/** What of a console prints, and how important it is. */
const LEVELS: { readonly [method: string]: Level } = {
  debug: "debug",
  trace: "debug",
  log: "info",
  info: "info",
  dir: "info",
  dirxml: "info",
  table: "info",
  group: "info",
  groupCollapsed: "info",
  warn: "warn",
  error: "error",
};

/**
 * Makes a console hand what it prints to `log`, since the output of a connector's process belongs to the protocol. What
 * only counts, times or formats does nothing any more.
 */
export function divertConsole(target: object, log: (level: Level, message: string) => void): void {
  for (const name of Object.getOwnPropertyNames(target)) {
    if (typeof Reflect.get(target, name) !== "function") continue;
    const level = Object.hasOwn(LEVELS, name) ? LEVELS[name] : undefined;
    const value = (...values: unknown[]): void => {
      if (level !== undefined) log(level, values.map(textOf).join(" "));
      else if (name === "assert" && !values[0]) log("warn", values.slice(1).map(textOf).join(" "));
    };
    Object.defineProperty(target, name, { value, configurable: true, writable: true });
  }
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : Deno.inspect(value, { colors: false });
}

/**
 * Makes what is written to the standard output go to `log` in place of the pipe, which belongs to the protocol; what
 * node's `process.stdout` writes passes here, too. A file's descriptor can't be diverted.
 */
export function divertOutput(target: typeof Deno.stdout, log: (message: string) => void): void {
  const take = (bytes: Uint8Array): number => {
    const shown = bytes.subarray(0, MAX_OUTPUT_BYTES);
    const text = new TextDecoder().decode(shown).replace(/\n$/, "");
    if (text !== "") log(shown.length < bytes.length ? `${text}…` : text);
    return bytes.length;
  };
  const writable = new WritableStream<Uint8Array<ArrayBuffer>>({ write: (bytes) => void take(bytes) });
  const changed = {
    writeSync: take,
    write: (bytes: Uint8Array): Promise<number> => Promise.resolve(take(bytes)),
  };
  for (const [name, value] of Object.entries(changed)) {
    Object.defineProperty(target, name, { value, configurable: true, writable: true });
  }
  Object.defineProperty(target, "writable", { value: writable, configurable: true });
}

/**
 * Makes the standard input end at once for whoever reads it: its bytes are the host's requests, and one that is taken
 * away is never answered. A file's descriptor can't be closed.
 *
 * @param process node's, whose `stdin` is made when it is first asked for
 */
export function closeInput(target: typeof Deno.stdin, process: object): void {
  const changed = { readSync: () => null, read: () => Promise.resolve(null) };
  for (const [name, value] of Object.entries(changed)) {
    Object.defineProperty(target, name, { value, configurable: true, writable: true });
  }
  const empty = () => new ReadableStream({ start: (controller) => controller.close() });
  Object.defineProperty(target, "readable", { get: empty, configurable: true });
  let stdin: Readable | undefined;
  Object.defineProperty(process, "stdin", { get: () => stdin ??= Readable.from([]), configurable: true });
}
