import process from "node:process";

/**
 * Takes away what a connector has no use for and what could lead around its permissions: nested workers, native
 * modules, and the ways to built-in modules that no import names.
 */
export function harden(): void {
  for (const name of ["Worker", "SharedWorker"]) Reflect.deleteProperty(globalThis, name);
  for (const name of ["getBuiltinModule", "dlopen", "binding", "_linkedBinding"]) {
    Reflect.deleteProperty(process, name);
    const prototype: unknown = Object.getPrototypeOf(process);
    if (typeof prototype === "object" && prototype !== null) Reflect.deleteProperty(prototype, name);
  }
}
