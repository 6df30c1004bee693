import assert from "node:assert/strict";
import { budgetOf, retryAfterMs } from "../../../../src/connectors/builtin/http/limits_told.ts";
import { nextLink } from "../../../../src/connectors/builtin/http/link_header.ts";
import {
  nextPage,
  type PageFacts,
  pageParams,
  type PageState,
  type Pagination,
} from "../../../../src/connectors/builtin/http/pagination.ts";
import { Utf8Check } from "../../../../src/connectors/builtin/http/utf8_check.ts";
import { withinWindow } from "../../../../src/connectors/builtin/http/window.ts";

/** The parameters of each request, where pages have so many records and tell this. */
function walk(pagination: Pagination, pages: readonly Partial<PageFacts>[]): string[] {
  const asked: string[] = [];
  let state: PageState | undefined = { at: "first" };
  for (const facts of pages) {
    if (state === undefined) break;
    const params = pageParams(pagination, state).map(([name, value]) => `${name}=${value}`).join("&");
    asked.push(state.at === "url" ? state.url : params);
    state = nextPage(pagination, state, { records: 10, cursor: undefined, link: undefined, ...facts });
  }
  return asked;
}

Deno.test("pages are counted until one is empty, or short where that is said to be the end", () => {
  const pagination = { kind: "page", param: "p", start: 0, sizeParam: "n", size: 10, stopOnShortPage: false } as const;
  assert.deepEqual(walk(pagination, [{}, { records: 3 }, { records: 0 }, {}]), ["p=0&n=10", "p=1&n=10", "p=2&n=10"]);
  assert.deepEqual(walk({ ...pagination, stopOnShortPage: true }, [{}, { records: 3 }, {}]), ["p=0&n=10", "p=1&n=10"]);
});

Deno.test("offsets follow the records that came, not those that were asked for", () => {
  const pagination = { kind: "offset", param: "o", sizeParam: "n", size: 10, stopOnShortPage: false } as const;
  assert.deepEqual(walk(pagination, [{}, { records: 7 }, { records: 0 }, {}]), ["o=0&n=10", "o=10&n=10", "o=17&n=10"]);
});

Deno.test("cursors and links are followed until there is none", () => {
  const cursor = { kind: "cursor", pointer: ["next"], param: "after" } as const;
  assert.deepEqual(walk(cursor, [{ cursor: "a" }, { cursor: "b", records: 0 }, {}, {}]), ["", "after=a", "after=b"]);
  assert.deepEqual(walk({ ...cursor, param: undefined }, [{ cursor: "/2" }, {}, {}]), ["", "/2"]);
  assert.deepEqual(walk({ kind: "link_header" }, [{ link: "/2" }, {}, {}]), ["", "/2"]);
  assert.deepEqual(walk({ kind: "none" }, [{ link: "/2", cursor: "a" }, {}]), [""]);
});

Deno.test("the next page is found in a Link header among others", () => {
  assert.equal(nextLink('<https://x/?a=1,2&b="3">; rel="prev", </next;x>; title="a, b"; rel=next'), "/next;x");
  assert.equal(nextLink('</a>; rel="last NEXT"'), "/a");
  assert.equal(nextLink('</a>;rel="prev"; title="rel=next"'), undefined);
  assert.equal(nextLink("</a>; rel=nextish"), undefined);
  assert.equal(nextLink("nonsense"), undefined);
  assert.equal(nextLink(null), undefined);
});

Deno.test("how long to wait is read as seconds or as a date", () => {
  const now = Date.UTC(2026, 0, 1);
  const after = (text: string) => retryAfterMs(new Headers({ "retry-after": text }), now);
  assert.equal(after("2"), 2000);
  assert.equal(after("0.5"), 500);
  assert.equal(after("Thu, 01 Jan 2026 00:00:30 GMT"), 30_000);
  assert.equal(after("Wed, 31 Dec 2025 23:59:59 GMT"), 0);
  assert.equal(after("999999999"), 24 * 3600 * 1000);
  assert.equal(after("soon"), undefined);
  assert.equal(after("-1"), undefined);
  assert.equal(retryAfterMs(new Headers(), now), undefined);
});

Deno.test("what is left of a server's limit is read in each of its usual forms", () => {
  const now = 1_700_000_000_000;
  const budget = (headers: { [name: string]: string }) => budgetOf(new Headers(headers), now);
  assert.deepEqual(budget({ "ratelimit-remaining": "5", "ratelimit-reset": "30" }), {
    remaining: 5,
    resetAtMs: now + 30_000,
  });
  const epoch = { "x-ratelimit-remaining": "0", "x-ratelimit-reset": String(now / 1000 + 60) };
  assert.deepEqual(budget(epoch), { remaining: 0, resetAtMs: now + 60_000 });
  assert.deepEqual(budget({ "x-ratelimit-remaining": "1", "x-ratelimit-reset": String(now + 1234) }), {
    remaining: 1,
    resetAtMs: now + 1234,
  });
  assert.deepEqual(budget({ ratelimit: '"default";r=50;t=7' }), { remaining: 50, resetAtMs: now + 7000 });
  assert.deepEqual(budget({ ratelimit: "limit=100, remaining=49, reset=9" }), { remaining: 49, resetAtMs: now + 9000 });
  assert.equal(budget({ "ratelimit-remaining": "5" }), undefined);
  assert.equal(budget({ "ratelimit-remaining": "many", "ratelimit-reset": "1" }), undefined);
});

Deno.test("parameters get the bounds of a window, and those without a bound are left out", () => {
  const query = [["since", "{{ watermark }}"], ["until", "<={{window_upper()}}"], ["x", "1"]] as const;
  assert.deepEqual(withinWindow(query, {}), [["x", "1"]]);
  assert.deepEqual(withinWindow(query, { watermark: "a$&", windowUpper: "b" }), [["since", "a$&"], ["until", "<=b"], [
    "x",
    "1",
  ]]);
});

Deno.test("a text is checked to be UTF-8 wherever it is cut, and loses its byte order mark", () => {
  const text = "\ufeffaä€😀\ufeff";
  const bytes = new TextEncoder().encode(text);
  for (let size = 1; size <= bytes.length; size++) {
    const check = new Utf8Check();
    const out: number[] = [];
    for (let at = 0; at < bytes.length; at += size) out.push(...check.push(bytes.slice(at, at + size)) ?? [0]);
    assert.ok(check.isComplete);
    assert.equal(
      new TextDecoder("utf-8", { ignoreBOM: true }).decode(new Uint8Array(out)),
      text.slice(1),
      `size ${size}`,
    );
  }
  const refused = (list: readonly number[]) => new Utf8Check().push(new Uint8Array(list)) === undefined;
  assert.ok(refused([0x61, 0xff, 0x61]));
  assert.ok(refused([0xc3, 0x61]));
  assert.ok(refused([0x80]));
  const cut = new Utf8Check();
  assert.deepEqual(cut.push(new Uint8Array([0x61, 0xe2, 0x82])), new Uint8Array([0x61]));
  assert.ok(!cut.isComplete);
});
