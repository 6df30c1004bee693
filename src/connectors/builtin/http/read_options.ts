import type { ConfigMap, ConfigProblem } from "../../contract/mod.ts";
import { pathOf } from "./config.ts";
import { CURSOR_TYPES, type CursorColumn } from "./cursor_value.ts";
import { pointerOf } from "./json_pointer.ts";
import { type Pagination, paginationOf } from "./pagination.ts";
import { Settings } from "./settings.ts";
import { callsIn } from "./window.ts";

/** The options that a read may have. */
export const READ_OPTIONS: readonly string[] = [
  "path",
  "query",
  "pagination",
  "items",
  "cursor",
  "cursor_type",
  "cursor_pointer",
  "cursor_order",
  "max_pages",
  "delta_pointer",
];

/** More pages than this are a server that never ends. */
export const PAGE_CEILING = 50_000;

/** The options of a read, checked. */
export type ReadOptions = {
  readonly path: string;
  /** Parameters of the first request, in their order; values may hold `{{ watermark }}` and `{{ window_upper }}`. */
  readonly query: readonly (readonly [string, string])[];
  readonly pagination: Pagination;
  /** Undefined: the whole answer. */
  readonly items: readonly string[] | undefined;
  /** Of a read without declared columns. */
  readonly cursor: CursorColumn | undefined;
  /** Undefined: all of them, up to the ceiling. */
  readonly maxPages: number | undefined;
};

/** Reads the options of a read; `isRaw`: it has no declared columns. */
export function readOptions(
  map: ConfigMap,
  isRaw: boolean,
): { readonly options?: ReadOptions; readonly problems: readonly ConfigProblem[] } {
  const settings = new Settings(map, "option");
  if (!settings.has("path")) {
    settings.refuse("path", "is missing", "add path: such as /orders, below the connection's base_url");
  }
  const path = pathOf(settings, "path");
  const query = queryOf(settings);
  const pagination = paginationOf(settings);
  const items = itemsOf(settings);
  const cursor = cursorOf(settings, isRaw);
  settings.oneOf("cursor_order", ["asc", "desc"], undefined);
  const maxPages = settings.whole("max_pages", 1, PAGE_CEILING, undefined);
  if (pagination.kind === "cursor" && items === undefined) {
    settings.refuse(
      "items",
      "is missing",
      "with a cursor the answer is an object: say where its records are, such as items: /data",
    );
  }
  if (
    pagination.kind === "cursor" && items !== undefined && items.every((step, at) => pagination.pointer[at] === step)
  ) {
    settings.refuse("pagination", "has a pointer into the records", "point to a value outside of items");
  }
  const problems = [...settings.problems];
  if (settings.has("delta_pointer")) {
    problems.push({
      code: "PZ0700",
      message: `Option "delta_pointer" does not run yet`,
      option: "delta_pointer",
      hint: "remove it to read everything in each run",
    });
  }
  if (problems.length > 0 || path === undefined) return { problems };
  return { problems, options: { path, query, pagination, items, cursor, maxPages } };
}

function queryOf(settings: Settings): readonly (readonly [string, string])[] {
  const inner = settings.inside("query");
  if (inner === undefined) return [];
  const query = inner.names().flatMap((name) => inner.list(name).map((text) => [name, text] as const));
  for (const [name, text] of query) {
    for (const call of callsIn(text)) {
      if (call === "watermark" || call === "window_upper") continue;
      settings.refuse("query", `calls "${call}" in "${name}"`, "the calls are {{ watermark }} and {{ window_upper }}");
    }
  }
  return query;
}

function itemsOf(settings: Settings): readonly string[] | undefined {
  const text = settings.get("items") === "" ? "" : settings.text("items");
  const items = text === undefined ? undefined : pointerOf(text);
  if (text !== undefined && items === undefined) {
    settings.refuse("items", `is "${text}"`, "write it as a JSON pointer, such as /data/orders");
  }
  return items;
}

function cursorOf(settings: Settings, isRaw: boolean): CursorColumn | undefined {
  const name = settings.text("cursor");
  const type = settings.oneOf("cursor_type", ["int", "bigint", "decimal", "date", "timestamp"], undefined);
  const pointerText = settings.text("cursor_pointer");
  if (name === undefined) {
    for (const other of ["cursor_type", "cursor_pointer"]) {
      if (settings.has(other)) settings.refuse("cursor", "is missing", `${other} says nothing without it`);
    }
    return undefined;
  }
  if (!isRaw) {
    settings.refuse(
      "cursor",
      "is for reads without columns",
      `remove it: the columns have "${name}" and its type already`,
    );
    return undefined;
  }
  if (["payload", "pz_page", "pz_fetched_at"].includes(name.toLowerCase())) {
    settings.refuse("cursor", `is "${name}", a column that every such read has`, "give it another name");
  }
  if (!settings.has("cursor_type")) {
    settings.refuse("cursor_type", "is missing", "add int, bigint, decimal, date or timestamp");
  }
  const pointer = pointerText === undefined ? [name] : pointerOf(pointerText);
  if (pointer === undefined || pointer.length === 0) {
    settings.refuse(
      "cursor_pointer",
      `is "${pointerText}"`,
      "write it as a JSON pointer into a record, such as /meta/updated_at",
    );
  }
  return type === undefined || pointer === undefined ? undefined : { name, type: CURSOR_TYPES[type], pointer };
}
