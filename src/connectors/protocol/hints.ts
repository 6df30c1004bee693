import type { Predicate, ReadHints, TypedText } from "../contract/mod.ts";
import { FrameError } from "./frame.ts";
import { asRecord, texts } from "./messages.ts";

/** No predicate is nested deeper. */
const MAX_DEPTH = 64;

/** What of a dataset is needed, as plain JSON. */
export function hintsToWire(hints: ReadHints): { readonly [field: string]: unknown } {
  return { columns: hints.columns, predicate: hints.predicate };
}

/**
 * The hints of a message, with nothing in them but what their type names.
 *
 * @throws {FrameError}
 */
export function hintsFromWire(wire: unknown): ReadHints {
  const { columns, predicate } = asRecord(wire, "the hints");
  return {
    ...(columns === undefined ? {} : { columns: texts(columns) }),
    ...(predicate === undefined ? {} : { predicate: predicateFromWire(predicate, 0) }),
  };
}

function predicateFromWire(wire: unknown, depth: number): Predicate {
  if (depth > MAX_DEPTH) throw new FrameError("a predicate that is nested too deep");
  const { op, args, column, value, values } = asRecord(wire, "a predicate");
  if (op === "and") {
    if (!Array.isArray(args)) throw new FrameError(`a predicate "and" without its parts`);
    return { op, args: args.map((part) => predicateFromWire(part, depth + 1)) };
  }
  if (typeof column !== "string") throw new FrameError("a predicate without its column");
  switch (op) {
    case "=":
    case "<>":
    case "<":
    case "<=":
    case ">":
    case ">=":
      return { op, column, value: typedText(value) };
    case "in":
      if (!Array.isArray(values)) throw new FrameError(`a predicate "in" without its values`);
      return { op, column, values: values.map(typedText) };
    case "is_null":
    case "is_not_null":
      return { op, column };
  }
  throw new FrameError(`a predicate with the operator "${op}"`);
}

function typedText(wire: unknown): TypedText {
  const { type, text } = asRecord(wire, "a value");
  if (typeof type !== "string" || typeof text !== "string") throw new FrameError("a value without type and text");
  return { type, text };
}
