import { CAPABILITIES, ConnectorError } from "../contract/mod.ts";
import type { ConnectorInstance, Sink, WriteSession } from "./connector.ts";

/** The functions of each part of an opened connection: those that must be there, and those that may. */
const PARTS: { readonly [part in "source" | "sink" | "files"]: Parts } = {
  source: { needed: ["schema", "plan", "read"], optional: ["resumeFrom"] },
  sink: { needed: ["begin"], optional: [] },
  files: { needed: ["fetch", "store", "sweep"], optional: [] },
};
const INSTANCE: Parts = { needed: [], optional: ["check", "close"] };
const SESSION: Parts = {
  needed: ["write", "commit", "abort"],
  optional: ["applyDeletes", "acknowledgedRows", "resumeFrom"],
};

type Parts = { readonly needed: readonly string[]; readonly optional: readonly string[] };

/** What is wrong with what a module exports as `connector`, in words that follow "its"; undefined: nothing. */
export function moduleFault(connector: unknown): string | undefined {
  if (connector === undefined) return 'code exports no "connector"';
  if (typeof connector !== "object" || connector === null) return `"connector" is ${kindOf(connector)}, no object`;
  for (const name of ["name", "version"]) {
    if (typeof Reflect.get(connector, name) !== "string") return `"connector" has no text "${name}"`;
  }
  const capabilities: unknown = Reflect.get(connector, "capabilities");
  if (!Array.isArray(capabilities)) return '"connector" has no list "capabilities"';
  const unknown = capabilities.find((name) => typeof name !== "string" || !Object.hasOwn(CAPABILITIES, name));
  if (unknown !== undefined) {
    return `"capabilities" has ${typeof unknown === "string" ? `"${unknown}"` : kindOf(unknown)}, which is none`;
  }
  return typeof Reflect.get(connector, "open") === "function" ? undefined : '"connector" has no function "open"';
}

/** @throws {ConnectorError} PZ0357 for what is no opened connection, by the name of what it lacks */
export function checkInstance(connector: string, instance: ConnectorInstance): void {
  const opened: unknown = instance;
  if (typeof opened !== "object" || opened === null) {
    throw malformed(connector, `its open() gave ${kindOf(opened)}: expected an object with source, sink or check`);
  }
  if (opened instanceof Promise) {
    throw malformed(connector, "its open() gave a promise: it must return at once, and connect when it is first used");
  }
  const fault = faultOf(opened, INSTANCE);
  if (fault !== undefined) throw malformed(connector, fault);
  for (const [name, parts] of Object.entries(PARTS)) {
    const part: unknown = Reflect.get(opened, name);
    if (part === undefined) continue;
    if (typeof part !== "object" || part === null) throw malformed(connector, `its ${name} is no object`);
    const wrong = faultOf(part, parts);
    if (wrong !== undefined) throw malformed(connector, `its ${name} ${wrong}`);
  }
}

/** The sink, whose writes are checked when they begin. */
export function checkedSink(connector: string, sink: Sink): Sink {
  const begin: Sink["begin"] = async (...asked) => {
    const session: WriteSession = await sink.begin(...asked);
    const given: unknown = session;
    if (typeof given !== "object" || given === null) {
      throw malformed(connector, `its sink's begin() gave ${kindOf(given)}: expected an object`);
    }
    const fault = faultOf(given, SESSION);
    if (fault !== undefined) throw malformed(connector, `what its sink's begin() gave ${fault}`);
    return session;
  };
  return { abortSemantics: sink.abortSemantics, begin };
}

/**
 * What a function of a connector gave to be gone through.
 *
 * @throws {ConnectorError} PZ0357 for what can't be
 */
export function checkedItems<T extends object>(connector: string, what: string, items: T): T {
  const given: unknown = items;
  const isIterable = typeof given === "object" && given !== null &&
    (Symbol.asyncIterator in given || Symbol.iterator in given);
  if (isIterable) return items;
  throw malformed(connector, `${what} gave ${kindOf(given)}: expected what can be gone through`);
}

function faultOf(part: object, { needed, optional }: Parts): string | undefined {
  const missing = needed.find((name) => typeof Reflect.get(part, name) !== "function");
  if (missing !== undefined) return `has no function '${missing}'`;
  const wrong = optional.find((name) => !["function", "undefined"].includes(typeof Reflect.get(part, name)));
  return wrong === undefined ? undefined : `'${wrong}' is no function`;
}

function malformed(connector: string, what: string): ConnectorError {
  return new ConnectorError(`Connector '${connector}': ${what}`, { transient: false, code: "PZ0357" });
}

function kindOf(value: unknown): string {
  if (value === undefined || value === null) return String(value);
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
