import process from "node:process";

/** Of the process: the ways to built-in modules that no import names, and to native code. */
const PROCESS_WAYS = ["getBuiltinModule", "dlopen", "binding", "_linkedBinding", "_debugProcess"];

/** Of the globals: threads, and what is kept beyond the process's life. */
const GLOBALS = ["Worker", "SharedWorker", "caches", "localStorage", "sessionStorage"];

/** A thread that ends tells nobody by itself; these end it. */
const EXITS = [
  { owner: Deno, name: "exit" },
  { owner: process, name: "exit" },
  { owner: process, name: "reallyExit" },
  { owner: globalThis, name: "close" },
] as const;

/**
 * Takes away what a connector has no use for and what could lead around its permissions: nested workers, stores
 * that outlive it, native modules, the ways to built-in modules that no import names, and the runtime's own insides.
 *
 * @param end ends the thread, in place of all that the connector could end it with
 */
export function harden(end: (code: number) => never): void {
  for (const { owner, name } of EXITS) {
    const value = (code?: unknown): never => end(Number(code ?? 0));
    Object.defineProperty(owner, name, { value, configurable: false, writable: false });
  }
  for (const name of GLOBALS) Reflect.deleteProperty(globalThis, name);
  for (const name of PROCESS_WAYS) {
    Reflect.deleteProperty(process, name);
    const prototype: unknown = Object.getPrototypeOf(process);
    if (typeof prototype === "object" && prototype !== null) Reflect.deleteProperty(prototype, name);
  }
  closeInside();
}

/**
 * The runtime's operations check permissions, but some of them compile texts, and nobody but the runtime should call
 * them. What stays is what CommonJS modules find their global names in.
 */
function closeInside(): void {
  const key: unknown = Reflect.get(Deno, "internal");
  if (typeof key !== "symbol") return;
  const inside: unknown = Reflect.get(Deno, key);
  Reflect.deleteProperty(Deno, key);
  if (typeof inside !== "object" || inside === null || !("nodeGlobals" in inside)) return;
  Object.defineProperty(Deno, key, { value: Object.freeze({ nodeGlobals: inside.nodeGlobals }) });
}
