import { pointerOf } from "./json_pointer.ts";
import type { Settings } from "./settings.ts";

/** How the pages of a read follow one another. */
export type Pagination =
  | { readonly kind: "none" }
  | {
    readonly kind: "page";
    readonly param: string;
    readonly start: number;
    readonly sizeParam: string | undefined;
    readonly size: number | undefined;
    readonly stopOnShortPage: boolean;
  }
  | {
    readonly kind: "offset";
    readonly param: string;
    readonly sizeParam: string;
    readonly size: number;
    readonly stopOnShortPage: boolean;
  }
  | { readonly kind: "link_header" }
  /** Without `param`, the value is the address of the next page. */
  | { readonly kind: "cursor"; readonly pointer: readonly string[]; readonly param: string | undefined };

/** Where a read is: the page that comes, by what its kind needs; `url` and `cursor` are the server's words. */
export type PageState =
  | { readonly at: "first" }
  | { readonly at: "number"; readonly number: number }
  | { readonly at: "cursor"; readonly cursor: string }
  | { readonly at: "url"; readonly url: string };

/** What a page told about the next. */
export type PageFacts = {
  readonly records: number;
  /** The value at the pointer of `cursor`. */
  readonly cursor: string | undefined;
  /** The address of the `Link` header's `rel="next"`. */
  readonly link: string | undefined;
};

const KINDS = ["none", "page", "offset", "link_header", "cursor"] as const;
const NAMES: { readonly [kind in typeof KINDS[number]]: readonly string[] } = {
  none: [],
  page: ["param", "start", "size_param", "size", "stop_on_short_page"],
  offset: ["param", "size_param", "size", "stop_on_short_page"],
  link_header: [],
  cursor: ["pointer", "param"],
};
const MAX_SIZE = 1_000_000;

/** Reads the option `pagination`: the name of a kind, or a map of it as `type` and its options. */
export function paginationOf(options: Settings): Pagination {
  const value = options.get("pagination");
  if (value === undefined) return { kind: "none" };
  if (typeof value !== "object") {
    const kind = options.oneOf("pagination", KINDS, "none");
    if (kind === "cursor") {
      options.refuse(
        "pagination",
        'is "cursor" without a pointer',
        "write it as a map: { type: cursor, pointer: /next, param: cursor }",
      );
    }
    if (kind === "offset") {
      options.refuse("pagination", 'is "offset" without a size', "write it as a map: { type: offset, size: 100 }");
    }
    return kind === "page" ? pageDefaults() : { kind: kind === "link_header" ? kind : "none" };
  }
  const inner = options.inside("pagination");
  if (inner === undefined) return { kind: "none" };
  if (!inner.has("type")) inner.refuse("type", "is missing", `expected one of ${KINDS.join(", ")}`);
  const kind = inner.oneOf("type", KINDS, "none");
  inner.only(["type", ...NAMES[kind]]);
  switch (kind) {
    case "none":
    case "link_header":
      return { kind };
    case "page": {
      const size = inner.whole("size", 1, MAX_SIZE, undefined);
      const sizeParam = inner.text("size_param");
      if (sizeParam !== undefined && size === undefined) {
        inner.refuse("size", "is missing", `add size: how many records ${sizeParam} asks for`);
      }
      const stopOnShortPage = inner.flag("stop_on_short_page");
      if (stopOnShortPage && size === undefined) inner.refuse("size", "is missing", "stop_on_short_page needs it");
      return {
        kind,
        param: inner.text("param") ?? "page",
        start: inner.whole("start", 0, MAX_SIZE, 1),
        sizeParam,
        size,
        stopOnShortPage,
      };
    }
    case "offset": {
      const size = inner.whole("size", 1, MAX_SIZE, undefined);
      if (size === undefined && !inner.has("size")) {
        inner.refuse("size", "is missing", "add size: how many records a page has");
      }
      return {
        kind,
        param: inner.text("param") ?? "offset",
        sizeParam: inner.text("size_param") ?? "limit",
        size: size ?? 1,
        stopOnShortPage: inner.flag("stop_on_short_page"),
      };
    }
    case "cursor": {
      const text = inner.needed("pointer", "where the answer holds what leads to the next page, such as /meta/next");
      const pointer = text === undefined ? undefined : pointerOf(text);
      if (text !== undefined && (pointer === undefined || pointer.length === 0)) {
        inner.refuse("pointer", `is "${text}"`, "write it as a JSON pointer, such as /meta/next");
      }
      return { kind, pointer: pointer ?? [], param: inner.text("param") };
    }
  }
}

function pageDefaults(): Pagination {
  return { kind: "page", param: "page", start: 1, sizeParam: undefined, size: undefined, stopOnShortPage: false };
}

/** The parameters that ask for a page; those of a page by its address stand there already. */
export function pageParams(pagination: Pagination, state: PageState): readonly (readonly [string, string])[] {
  switch (pagination.kind) {
    case "page": {
      const { param, start, sizeParam, size } = pagination;
      const number = state.at === "number" ? state.number : start;
      return [
        [param, String(number)],
        ...(sizeParam === undefined || size === undefined ? [] : [[sizeParam, String(size)] as const]),
      ];
    }
    case "offset":
      return [
        [pagination.param, String(state.at === "number" ? state.number : 0)],
        [pagination.sizeParam, String(pagination.size)],
      ];
    case "cursor":
      return pagination.param === undefined || state.at !== "cursor" ? [] : [[pagination.param, state.cursor]];
    default:
      return [];
  }
}

/** What comes after a page; undefined: it was the last. */
export function nextPage(pagination: Pagination, state: PageState, facts: PageFacts): PageState | undefined {
  switch (pagination.kind) {
    case "none":
      return undefined;
    case "page":
    case "offset": {
      const { stopOnShortPage, size = 1 } = pagination;
      if (facts.records === 0 || (stopOnShortPage && facts.records < size)) return undefined;
      const first = pagination.kind === "page" ? pagination.start : 0;
      const number = state.at === "number" ? state.number : first;
      // A server may give fewer records than it was asked for: what comes next is counted from what came.
      return { at: "number", number: number + (pagination.kind === "page" ? 1 : facts.records) };
    }
    case "link_header":
      return facts.link === undefined ? undefined : { at: "url", url: facts.link };
    case "cursor": {
      if (facts.cursor === undefined) return undefined;
      return pagination.param === undefined ? { at: "url", url: facts.cursor } : { at: "cursor", cursor: facts.cursor };
    }
  }
}
