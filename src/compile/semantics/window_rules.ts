import type { SyncBlock, Value } from "../../project/mod.ts";
import { canonicalCursor, compareCursors, type CursorType, isStep, stepText, valueText } from "./cursor_value.ts";

type Incremental = Extract<SyncBlock, { mode: "incremental" }>;
type Problem = { readonly message: string; readonly hint?: string };

/**
 * What is wrong with the window of an incremental read, and the block with its values in their one text.
 *
 * @param type the cursor's declared type
 * @param query the read's option `query`: a text of its own can't be windowed
 */
export function windowRules(
  sync: Incremental,
  type: CursorType | undefined,
  query: Value | undefined,
): { readonly sync: Incremental; readonly problems: readonly Problem[] } {
  const { maxWindow, initial, until, lookback } = sync;
  const problems: Problem[] = [];
  if (maxWindow === undefined) {
    for (const [key, value] of Object.entries({ initial, until })) {
      if (value !== undefined) {
        problems.push({ message: `${key} needs max_window`, hint: "add max_window, such as 7d" });
      }
    }
  } else {
    if (initial === undefined) {
      problems.push({ message: "max_window needs initial", hint: "say where the first window starts" });
    }
    if (type === undefined) {
      problems.push({
        message: `max_window needs the type of the cursor '${sync.cursor}'`,
        hint: "declare the cursor under columns as int, bigint, decimal, date or timestamp",
      });
    } else if (!isStep(type, maxWindow)) {
      problems.push({ message: `max_window is '${maxWindow}', but a ${type} cursor needs ${stepText(type)}` });
    }
    if (typeof query === "string") {
      problems.push({
        message: "max_window can't limit a query of your own",
        hint: "remove query, or put the limits into it",
      });
    }
  }
  if (lookback !== undefined && type !== undefined && lookback !== "0" && !isStep(type, lookback)) {
    problems.push({ message: `lookback is '${lookback}', but a ${type} cursor needs ${stepText(type)}` });
  }
  if (type === undefined) return { sync, problems };
  const first = valueOf("initial", initial, type, problems);
  const last = until === "now" ? undefined : valueOf("until", until, type, problems);
  if (until === "now" && type !== "date" && type !== "timestamp") {
    problems.push({
      message: `until is 'now', but the cursor is ${type}`,
      hint: "only date and timestamp cursors know now",
    });
  }
  if (first !== undefined && last !== undefined && compareCursors(type, last, first) <= 0) {
    problems.push({ message: `until '${until}' does not lie behind initial '${initial}'` });
  }
  return {
    sync: {
      ...sync,
      ...(first === undefined ? {} : { initial: first }),
      ...(last === undefined ? {} : { until: last }),
    },
    problems,
  };
}

function valueOf(key: string, value: string | undefined, type: CursorType, problems: Problem[]): string | undefined {
  if (value === undefined) return undefined;
  const canonical = canonicalCursor(type, value);
  if (canonical === undefined) {
    problems.push({ message: `${key} is '${value}', but a ${type} cursor needs ${valueText(type)}` });
  }
  return canonical;
}
