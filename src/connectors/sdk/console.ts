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
