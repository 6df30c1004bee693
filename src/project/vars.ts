import { fail, type Outcome, PzError, succeed } from "../errors/mod.ts";
import type { Value, ValueMap } from "./model.ts";
import { recordOf } from "./optional.ts";
import { isExactNumber } from "./scalars.ts";

const HINT = `Pass a JSON object: --vars '{"name": "value"}'.`;

/** What newer engines hand to a reviver: the source text of a scalar. */
type ReviverContext = { readonly source?: string };

/**
 * The variables of `--vars`, a JSON object. Whole numbers are exact whatever their size; a decimal with more digits than
 * a number holds is refused, as is anything that is no object (PZ0102). No message repeats a value.
 */
export function parseVars(text: string): Outcome<ValueMap> {
  let inexact: string | undefined;
  const revive = function (this: unknown, key: string, value: unknown, context?: ReviverContext): unknown {
    if (typeof value !== "number") return value;
    const source = context?.source ?? String(value);
    if (/^-?[0-9]+$/.test(source)) return BigInt(source);
    if (!isExactNumber(source, value)) inexact ??= key;
    return value;
  };
  let parsed: Value;
  try {
    // JSON holds no other values, and the reviver adds only bigint.
    parsed = JSON.parse(text, revive) as Value;
  } catch (error) {
    const at = /position (\d+)/.exec(error instanceof Error ? error.message : "")?.[1];
    const place = at === undefined ? "" : ` at character ${Number(at) + 1}`;
    return fail([new PzError("PZ0102", `--vars is not valid JSON${place}`, { hint: HINT })]);
  }
  if (!isMap(parsed)) return fail([new PzError("PZ0102", "--vars must be a JSON object", { hint: HINT })]);
  if (inexact !== undefined) {
    const message = `A number in --vars ('${inexact}') has more digits than can be kept exactly`;
    return fail([new PzError("PZ0102", message, { hint: "Put it in quotes to keep its digits as text." })]);
  }
  return succeed(recordOf(Object.entries(parsed)));
}

function isMap(value: Value): value is ValueMap {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
