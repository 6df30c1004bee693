import { type ErrorCode, PzError } from "../../errors/mod.ts";
import type { SyncBlock, Value } from "../../project/mod.ts";
import { nearMiss } from "../../util/mod.ts";
import type { SourceEntity } from "../entities.ts";
import { CURSOR_TYPES, type CursorType, isCursorType } from "./cursor_value.ts";
import { dateTokens, tokenProblem } from "./path_tokens.ts";
import { windowRules } from "./window_rules.ts";

type Incremental = Extract<SyncBlock, { mode: "incremental" }>;

export type CheckedSource = {
  /** The source with `initial` and `until` in their one text. */
  readonly source: SourceEntity;
  readonly errors: readonly PzError[];
  readonly notices: readonly string[];
};

/** Checks what a read says about its cursor, window, pages and path against each other. */
export function checkRead(source: SourceEntity): CheckedSource {
  const problems = new ReadProblems(source);
  const { sync, options } = source.read;
  const incremental = sync?.mode === "incremental" ? sync : undefined;
  const windowed = incremental !== undefined &&
    [incremental.maxWindow, incremental.initial, incremental.until].some((value) => value !== undefined);
  const type = incremental === undefined ? undefined : cursorType(problems, incremental, windowed);
  const window = incremental === undefined ? undefined : windowRules(incremental, type, options["query"]);
  for (const { message, hint } of window?.problems ?? []) problems.add("PZ0213", message, hint);
  pageRules(problems, incremental);
  pathRules(problems, type, windowed && incremental?.maxWindow !== undefined, incremental);
  filesRule(problems, options["files_per_partition"]);
  const read = window === undefined ? source.read : { ...source.read, sync: window.sync };
  return { source: { ...source, read }, errors: problems.errors, notices: problems.notices };
}

class ReadProblems {
  readonly source: SourceEntity;
  readonly name: string;
  readonly errors: PzError[] = [];
  readonly notices: string[] = [];

  constructor(source: SourceEntity) {
    this.source = source;
    this.name = `${source.connection.name}.${source.entity}`;
  }

  add(code: ErrorCode, message: string, hint?: string): void {
    this.errors.push(new PzError(code, `source '${this.name}': ${message}`, { ...this.source.position, hint }));
  }
}

/** The declared type of a cursor, or undefined where there is none, after saying so. */
function cursorType(problems: ReadProblems, sync: Incremental, windowed: boolean): CursorType | undefined {
  const { columns, options } = problems.source.read;
  const declared = columns?.find(({ name }) => name.toLowerCase() === sync.cursor.toLowerCase());
  const say = (message: string, hint: string) => {
    // The rules of the window report the same cause.
    if (!windowed) problems.add("PZ0212", message, hint);
    return undefined;
  };
  const types = `a cursor is ${CURSOR_TYPES.join(", ")}`;
  const optionType = options["cursor_type"];
  if (columns === undefined && typeof optionType === "string") {
    const optionCursor = options["cursor"];
    if (optionCursor !== undefined && optionCursor !== sync.cursor) {
      return say(
        `'cursor' is '${shown(optionCursor)}', but sync follows '${sync.cursor}'`,
        "name the same column twice",
      );
    }
    return isCursorType(optionType) ? optionType : say(`cursor_type is '${optionType}'`, types);
  }
  if (columns === undefined) {
    if (!windowed) {
      problems.notices.push(
        `the cursor '${sync.cursor}' of '${problems.name}' is unverified until the first run: it has no columns: contract`,
      );
    }
    return undefined;
  }
  if (declared === undefined) {
    const meant = nearMiss(sync.cursor, columns.map(({ name }) => name));
    return say(
      `the cursor '${sync.cursor}' is not in the columns: contract`,
      meant === undefined ? `add '${sync.cursor}' to columns` : `did you mean '${meant}'?`,
    );
  }
  const { type } = declared;
  return isCursorType(type) ? type : say(`the cursor '${sync.cursor}' has the type '${type}'`, types);
}

function shown(value: Value | undefined): string {
  return typeof value === "object" ? "a list or map" : String(value);
}

function pageRules(problems: ReadProblems, incremental: Incremental | undefined): void {
  const { cursor_order: order, max_pages: pages } = problems.source.read.options;
  if (incremental === undefined || pages === undefined) return;
  if (order === "desc") {
    problems.add(
      "PZ0229",
      "cursor_order is 'desc' and max_pages may cut off the rows between two runs",
      "remove max_pages, or read in ascending order",
    );
  } else if (order === undefined) {
    problems.notices.push(
      `'${problems.name}' has max_pages but no cursor_order: a run fails if its pages turn out to be in descending order`,
    );
  }
}

function pathRules(
  problems: ReadProblems,
  type: CursorType | undefined,
  bounded: boolean,
  incremental: Incremental | undefined,
): void {
  const { path } = problems.source.read.options;
  const tokens = typeof path === "string" ? dateTokens(path) : [];
  if (tokens.length === 0) return;
  const problem = tokenProblem(tokens);
  if (problem !== undefined) problems.add("PZ0218", problem);
  if (incremental === undefined || (type !== undefined && type !== "date" && type !== "timestamp")) {
    problems.add(
      "PZ0217",
      "date tokens in a path need an incremental cursor of type date or timestamp",
      "declare sync: { mode: incremental, cursor: … } and the cursor's type under columns",
    );
  }
  if (!bounded) {
    problems.add(
      "PZ0221",
      "date tokens in a path need a bounded window",
      "add initial and max_window to sync",
    );
  }
}

function filesRule(problems: ReadProblems, files: Value | undefined): void {
  if (
    files === undefined ||
    ((typeof files === "bigint" || typeof files === "number") && /^[1-9]\d*$/.test(String(files)))
  ) {
    return;
  }
  problems.add("PZ0222", `files_per_partition is '${shown(files)}'`, "write a whole number above 0");
}
