/** A DuckDB failure: `kind` is DuckDB's exception type (such as `Catalog`), `position` a UTF-8 byte offset into the SQL. */
export class DuckDbError extends Error {
  override readonly name = "DuckDbError";
  readonly kind: string;
  readonly position: number | undefined;
  /** Names that DuckDB holds for what was meant, best first. */
  readonly candidates: readonly string[];

  constructor(message: string, kind: string, position?: number, candidates: readonly string[] = []) {
    super(message);
    this.kind = kind;
    this.position = position;
    this.candidates = candidates;
  }

  /** Whether the statement was stopped on request and did not fail by itself. */
  get interrupted(): boolean {
    return this.kind === "Interrupt";
  }
}

/** What the bindings put before DuckDB's own text. */
const WRAPPERS = ["Failed to extract statements: ", "Failure running pending result task: "];

/**
 * The failure that the bindings threw as a `DuckDbError`: DuckDB's message without the echo of the SQL, its kind and
 * its position. What is no failure of DuckDB gets the kind `Internal` and keeps its text.
 */
export function duckDbError(error: unknown): DuckDbError {
  if (error instanceof DuckDbError) return error;
  let text = error instanceof Error ? error.message : String(error);
  for (const wrapper of WRAPPERS) {
    if (text.startsWith(wrapper)) text = text.slice(wrapper.length);
  }
  const { kind, rest } = splitKind(text);
  const details = parseDetails(rest);
  if (details !== undefined) {
    const position = details["position"];
    return new DuckDbError(
      details["exception_message"] ?? rest,
      tidyKind(details["exception_type"] ?? kind ?? "Internal"),
      position === undefined ? undefined : Number(position),
      details["candidates"]?.split(",").map((name) => name.trim()).filter((name) => name !== "") ?? [],
    );
  }
  return new DuckDbError(withoutEcho(rest), tidyKind(kind ?? "Internal"));
}

/** Cuts a leading `Catalog Error: `. */
function splitKind(text: string): { readonly kind: string | undefined; readonly rest: string } {
  const match = /^([A-Za-z]+(?: [A-Za-z]+)*) Error: /.exec(text);
  if (match === null) return { kind: undefined, rest: text };
  return { kind: match[1], rest: text.slice(match[0].length) };
}

/** DuckDB writes one exception type in two ways, depending on where it was raised. */
function tidyKind(kind: string): string {
  return kind === "INTERRUPT" ? "Interrupt" : kind;
}

function parseDetails(text: string): Record<string, string> | undefined {
  if (!text.startsWith("{")) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== "object" || value === null || !("exception_message" in value)) return undefined;
  const details: Record<string, string> = {};
  for (const [key, member] of Object.entries(value)) details[key] = String(member);
  return details;
}

function withoutEcho(text: string): string {
  const echo = text.search(/\n\s*LINE \d+: /);
  return (echo < 0 ? text : text.slice(0, echo)).trimEnd();
}
