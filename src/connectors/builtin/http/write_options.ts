import type { ConfigProblem, OutputSpec } from "../../contract/mod.ts";
import { Settings } from "./settings.ts";

/** The options that a write may have. */
export const WRITE_OPTIONS: readonly string[] = [
  "path",
  "method",
  "body_format",
  "rows_per_request",
  "parallel_requests",
  "expected_status",
  "idempotency_header",
];

export const KEY_MARK = "{key}";
const MAX_ROWS = 100_000;
const MAX_PARALLEL = 32;

/** The options of a write, checked. */
export type WriteOptions = {
  readonly path: string;
  readonly method: "POST" | "PUT" | "PATCH";
  /** `json`: one object alone. */
  readonly format: "json_array" | "ndjson" | "json";
  readonly rowsPerRequest: number;
  /** Requests that may be under way side by side. */
  readonly parallel: number;
  readonly expected: readonly number[] | undefined;
  /** The header that carries a name for each request, by which the server knows a repetition. */
  readonly idempotencyHeader: string | undefined;
  /** Of a merge: the column whose value stands in the path. */
  readonly key: string | undefined;
};

/** Reads the options of a write. */
export function writeOptions(
  { options: map, mode, keys }: Pick<OutputSpec, "options" | "mode" | "keys">,
): { readonly options?: WriteOptions; readonly problems: readonly ConfigProblem[] } {
  const settings = new Settings(map, "option");
  const isMerge = mode === "merge";
  const path = settings.has("path") ? settings.text("path") : undefined;
  if (!settings.has("path")) {
    settings.refuse("path", "is missing", `add path: such as ${isMerge ? "/orders/{key}" : "/orders"}`);
  }
  if (path !== undefined) checkPath(settings, path, isMerge);
  const method = settings.oneOf("method", ["post", "put", "patch"], isMerge ? "put" : "post");
  const format = settings.oneOf("body_format", ["json_array", "ndjson", "json"], isMerge ? "json" : "json_array");
  const rows = settings.whole("rows_per_request", 1, MAX_ROWS, isMerge || format === "json" ? 1 : 500);
  if (isMerge) {
    for (const name of ["body_format", "rows_per_request"]) {
      if (settings.has(name)) {
        settings.refuse(name, "has no meaning for a merge", "remove it: each row is a request of its own");
      }
    }
    if (keys.length !== 1) {
      settings.refuse(
        "path",
        `has a place for one key, and the merge has ${keys.length}`,
        "give keys exactly one column",
      );
    }
  } else if (format === "json" && rows !== 1) {
    settings.refuse(
      "rows_per_request",
      `is ${rows}, where body_format "json" sends one row`,
      "remove it, or use json_array",
    );
  }
  const parallel = settings.whole("parallel_requests", 1, MAX_PARALLEL, 1);
  if (!isMerge && parallel > 1) {
    settings.refuse(
      "parallel_requests",
      "is for a merge alone",
      "rows that are appended go one request after the other",
    );
  }
  const header = settings.text("idempotency_header");
  if (header !== undefined && !/^[A-Za-z][A-Za-z0-9-]*$/.test(header)) {
    settings.refuse("idempotency_header", `is "${header}"`, "give the name of a header, such as Idempotency-Key");
  }
  const expected = expectedOf(settings);
  const { problems } = settings;
  if (problems.length > 0 || path === undefined) return { problems };
  const named = { post: "POST", put: "PUT", patch: "PATCH" } as const;
  return {
    problems,
    options: {
      path,
      method: named[method],
      format,
      rowsPerRequest: rows,
      parallel,
      expected,
      idempotencyHeader: header,
      key: isMerge ? keys[0] : undefined,
    },
  };
}

function checkPath(settings: Settings, path: string, isMerge: boolean): void {
  const marks = path.split(KEY_MARK).length - 1;
  if (!path.startsWith("/")) settings.refuse("path", `is "${path}"`, "start it with /; the host stands in base_url");
  else if (/[?#]/.test(path)) settings.refuse("path", `is "${path}"`, "leave out ? and #");
  else if (isMerge && marks !== 1) settings.refuse("path", `is "${path}"`, `a merge needs ${KEY_MARK} in it, once`);
  else if (!isMerge && marks > 0) settings.refuse("path", `is "${path}"`, `only a merge has ${KEY_MARK} in its path`);
}

function expectedOf(settings: Settings): readonly number[] | undefined {
  const list = settings.list("expected_status");
  if (list.length === 0) return undefined;
  const statuses = list.map(Number);
  if (statuses.every((status) => Number.isInteger(status) && status >= 200 && status < 400)) return statuses;
  settings.refuse(
    "expected_status",
    `is "${list.join(", ")}"`,
    "expected statuses from 200 to 399, such as [200, 201]",
  );
  return undefined;
}
