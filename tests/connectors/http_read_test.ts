import assert from "node:assert/strict";
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import type { ConfigMap } from "../../src/connectors/mod.ts";
import { TestHttp } from "../harness/http_server.ts";
import { dataset, ID, NEVER, Opened, rowsOf } from "./http_support.ts";

const ALL = Array.from({ length: 25 }, (_, index) => ({ id: String(index + 1) }));

/** An API with 25 orders that knows every way to page, ten at a time. */
function orders(): TestHttp {
  return new TestHttp((_request, url) => {
    const get = (name: string) => url.searchParams.get(name);
    const size = Number(get("n") ?? 10);
    const from = Number(get("from") ?? (Number(get("page") ?? 1) - 1) * size);
    const rows = ALL.slice(from, from + size);
    const next = from + size < ALL.length ? from + size : undefined;
    const link = `/orders?from=${next}&keep=a%20b`;
    if (url.pathname === "/orders") {
      return Response.json(rows, next === undefined ? {} : { headers: { link: `<${link}>; rel="next"` } });
    }
    return Response.json({
      data: { rows },
      next: next ?? null,
      url: next === undefined ? "" : `/wrapped?from=${next}`,
    });
  });
}

const PAGED: readonly (readonly [string, ConfigMap, readonly string[]])[] = [
  ["page", { pagination: "page" }, ["?page=1", "?page=2", "?page=3", "?page=4"]],
  ["short page", { pagination: { type: "page", size_param: "n", size: 10n, stop_on_short_page: true } }, [
    "?page=1&n=10",
    "?page=2&n=10",
    "?page=3&n=10",
  ]],
  ["offset", { pagination: { type: "offset", param: "from", size_param: "n", size: 20n } }, [
    "?from=0&n=20",
    "?from=20&n=20",
    "?from=25&n=20",
  ]],
  ["link_header", { pagination: "link_header", query: { n: 10n, a: ["x y", "&"] } }, [
    "?n=10&a=x%20y&a=%26",
    "?from=10&keep=a%20b",
    "?from=20&keep=a%20b",
  ]],
  [
    "cursor",
    { path: "/wrapped", items: "/data/rows", pagination: { type: "cursor", pointer: "/next", param: "from" } },
    [
      "",
      "?from=10",
      "?from=20",
    ],
  ],
  ["cursor of addresses", { path: "/wrapped", items: "/data/rows", pagination: { type: "cursor", pointer: "/url" } }, [
    "",
    "?from=10",
    "?from=20",
  ]],
];

for (const [name, options, asked] of PAGED) {
  Deno.test(`pages by ${name} give every record once, in order, and can be left and entered behind any page`, async () => {
    await using server = orders();
    await using api = new Opened(server.origin);
    const spec = dataset(options, ID);
    assert.deepEqual(await api.rows(spec), ALL.map(({ id }) => [id]));
    assert.deepEqual(server.seen.map(({ path }) => path.replace(/^[^?]*/, "")), asked);
    assert.deepEqual(api.operations, asked.map(() => "page"));
    const [partition = { id: "" }] = await Array.fromAsync(await api.source.plan(spec, NEVER));
    const reading = api.source.read(spec, partition, { batchBytes: 1 << 20, signal: NEVER });
    const before: unknown[][] = [];
    for await (const batch of reading) {
      before.push(...rowsOf(batch));
      const token = reading.checkpoint?.() ?? "";
      assert.ok(await api.source.resumeFrom?.(spec, partition, token, NEVER), token);
      const after: unknown[][] = [];
      for await (const more of api.source.read(spec, partition, { batchBytes: 1, signal: NEVER, resumeFrom: token })) {
        after.push(...rowsOf(more));
      }
      assert.deepEqual([...before, ...after], ALL.map(({ id }) => [id]), token);
    }
    assert.ok(before.length === 25);
  });
}

Deno.test("a token of another question, or one that was changed, is not taken", async () => {
  await using api = new Opened("http://127.0.0.1:9");
  const spec = dataset({ pagination: "page" }, ID);
  for (const text of ["", "{}", "null", "[1]", '{"pages":1}', '{"question":"x","pages":1,"next":null}']) {
    assert.equal(await api.source.resumeFrom?.(spec, { id: "pages" }, text, NEVER), false, text);
  }
  await using server = orders();
  await using real = new Opened(server.origin);
  const reading = real.source.read(spec, { id: "pages" }, { batchBytes: 1 << 20, signal: NEVER });
  for await (const _batch of reading) break;
  const good = reading.checkpoint?.() ?? "";
  assert.equal(await real.source.resumeFrom?.(spec, { id: "pages" }, good, NEVER), true);
  for (
    const other of [
      dataset({ pagination: "page", query: { a: "1" } }, ID),
      dataset({ pagination: "page" }),
      dataset({}, ID),
    ]
  ) {
    assert.equal(await real.source.resumeFrom?.(other, { id: "pages" }, good, NEVER), false);
  }
  assert.equal(await api.source.resumeFrom?.(spec, { id: "pages" }, good, NEVER), false);
  for (
    const [from, to] of [['"pages":1', '"pages":0'], ['"number":2', '"number":-2'], [
      '"at":"number"',
      '"at":"x"',
    ]] as const
  ) {
    const changed = good.replace(from, to);
    assert.notEqual(changed, good);
    assert.equal(await real.source.resumeFrom?.(spec, { id: "pages" }, changed, NEVER), false, changed);
  }
});

Deno.test("a checkpoint stands behind whole pages only, even where batches end within them", async () => {
  const rows = Array.from({ length: 400_000 }, (_, id) => ({ id: String(id) }));
  await using server = new TestHttp((_request, url) =>
    Response.json(
      url.searchParams.get("page") === "1" ? rows : url.searchParams.get("page") === "2" ? [{ id: "last" }] : [],
    )
  );
  await using api = new Opened(server.origin);
  const reading = api.source.read(dataset({ pagination: "page" }, ID), { id: "pages" }, {
    batchBytes: 1 << 20,
    signal: NEVER,
  });
  const seen: string[] = [];
  for await (const batch of reading) {
    const token = reading.checkpoint?.();
    seen.push(`${rowsOf(batch).at(-1)} ${token === undefined ? "-" : /"pages":(\d+)/.exec(token)?.[1]}`);
  }
  assert.ok(seen.length > 3);
  assert.deepEqual(seen.filter((line) => !line.endsWith("-")), ["399999 1", "last 2"]);
  assert.ok(seen.slice(0, -2).every((line) => line.endsWith(" -")));
});

Deno.test("without columns a read gives each record as it came, with its page, the time, and its cursor", async () => {
  await using server = new TestHttp((_request, url) => {
    const isFirst = url.searchParams.get("page") === "1";
    const text = isFirst
      ? '[{"id": 9007199254740993, "at":{"t":"2026-01-02T03:04:05.678901Z"}},{"at":null,"x":1.10}]'
      : "[]";
    return new Response(text, { headers: { "content-type": "application/json" } });
  });
  await using api = new Opened(server.origin);
  const cursor = { cursor: "seen_at", cursor_type: "timestamp", cursor_pointer: "/at/t", cursor_order: "asc" };
  const spec = dataset({ pagination: "page", ...cursor });
  assert.deepEqual((await api.source.schema(spec, NEVER)).names, ["payload", "pz_page", "pz_fetched_at", "seen_at"]);
  const [first = [], second = []] = await api.rows(spec);
  assert.equal(first[0], '{"id": 9007199254740993, "at":{"t":"2026-01-02T03:04:05.678901Z"}}');
  assert.deepEqual([first[1], first[3], second[1], second[3]], [1, 1767323045678901n, 1, null]);
  assert.ok(typeof first[2] === "bigint" && Math.abs(Number(first[2] / 1000n) - Date.now()) < 60_000);
});

Deno.test("a cursor that is none of its type stops the read", async () => {
  const values: readonly (readonly [string, unknown, unknown])[] = [
    ["int", -5, -5],
    ["int", 3_000_000_000, undefined],
    ["int", "1.5", undefined],
    ["bigint", "9223372036854775807", 9223372036854775807n],
    ["bigint", "9223372036854775808", undefined],
    ["decimal", "-1.5", -1500000000n],
    ["decimal", "1.0000000001", undefined],
    ["date", "2024-02-29", 19782],
    ["date", "2023-02-29", undefined],
    ["date", "1969-12-31T00:00:00Z", -1],
    ["date", "2024-02-29T01:00:00Z", undefined],
    ["timestamp", "1969-12-31T23:59:59.999999", -1n],
    ["timestamp", "2024-01-01T00:00:00+02:00", undefined],
    ["timestamp", "2024-01-01T24:00:01", undefined],
    ["timestamp", "2024-01-01T00:00:00.1234567", undefined],
  ];
  let value: unknown;
  await using server = new TestHttp(() => Response.json([{ c: value }]));
  await using api = new Opened(server.origin);
  for (const [type, given, expected] of values) {
    value = given;
    const rows = api.rows(dataset({ cursor: "c", cursor_type: type }));
    if (expected === undefined) {
      await assert.rejects(rows, /The cursor "c" holds ".*", which is no /, `${type} ${given}`);
    } else assert.equal((await rows)[0]?.[3], expected, `${type} ${given}`);
  }
});

Deno.test("lines of JSON are records too, and what has no content holds none", async () => {
  await using server = new TestHttp((_request, url) =>
    url.pathname === "/none"
      ? new Response(null, { status: 204 })
      : new Response('{"id":"1"}\n{"id":"2"}\n', { headers: { "content-type": "application/x-ndjson; charset=utf-8" } })
  );
  await using api = new Opened(server.origin);
  assert.deepEqual(await api.rows(dataset({}, ID)), [["1"], ["2"]]);
  assert.deepEqual(await api.rows(dataset({ path: "/none" }, ID)), []);
});

Deno.test("compressed bodies and other charsets are read as what they mean", async () => {
  const json = new TextEncoder().encode(JSON.stringify(Array.from({ length: 5000 }, (_, id) => ({ id: `ä${id}` }))));
  const encodings: { readonly [path: string]: readonly [string, Uint8Array<ArrayBuffer>] } = {
    "/gzip": ["gzip", new Uint8Array(gzipSync(json))],
    "/br": ["br", new Uint8Array(brotliCompressSync(json))],
    "/deflate": ["deflate", new Uint8Array(deflateSync(json))],
    "/raw": ["deflate", new Uint8Array(deflateRawSync(json))],
    "/zstd": ["zstd", new Uint8Array([1, 2])],
    "/cut": ["gzip", new Uint8Array(gzipSync(json)).subarray(0, 3000)],
    "/cut2": ["deflate", new Uint8Array(deflateSync(json)).subarray(0, 3000)],
  };
  await using server = new TestHttp((_request, { pathname }) => {
    const [encoding, bytes] = encodings[pathname] ?? ["", new Uint8Array()];
    if (encoding !== "") return new Response(bytes, { headers: { "content-encoding": encoding } });
    const latin = new Uint8Array(
      [...'[{"id":"'].map((letter) => letter.charCodeAt(0)).concat(
        0xe4,
        ...[...'"}]'].map((letter) => letter.charCodeAt(0)),
      ),
    );
    return new Response(latin, { headers: { "content-type": `application/json; charset=${pathname.slice(1)}` } });
  });
  await using api = new Opened(server.origin);
  const read = (path: string) => api.rows(dataset({ path }, ID));
  for (const path of ["/gzip", "/br", "/deflate", "/raw"]) {
    const rows = await read(path);
    assert.deepEqual([rows.length, rows[4999]], [5000, ["ä4999"]], path);
  }
  assert.equal(server.seen[0]?.headers.get("accept-encoding"), "gzip, deflate, br");
  await assert.rejects(read("/zstd"), /answered in the encoding "zstd", which pz did not ask for/);
  await assert.rejects(read("/cut"), { transient: true, message: /the compressed body is damaged or incomplete/ });
  await assert.rejects(read("/cut2"), { transient: true });
  assert.deepEqual(await read("/iso-8859-1"), [["ä"]]);
  await assert.rejects(read("/utf-8"), /answered with bytes that are no text in UTF-8/);
  await assert.rejects(read("/nonsense"), /answered in the charset "nonsense", which pz does not know/);
});

Deno.test("max_pages ends a read, and says so where there would be more", async () => {
  await using server = orders();
  await using api = new Opened(server.origin);
  assert.equal((await api.rows(dataset({ pagination: "link_header", max_pages: 2n }, ID))).length, 20);
  assert.deepEqual(api.notices, ["/orders: max_pages ended the read after 2 pages, and there are more"]);
  assert.equal((await api.rows(dataset({ pagination: "link_header", max_pages: 3n }, ID))).length, 25);
  assert.equal(api.notices.length, 1);
});

Deno.test("a first page that holds nothing of what is to lead on is told, one that says it is the last is not", async () => {
  await using server = orders();
  await using api = new Opened(server.origin);
  const wrapped = { path: "/wrapped", items: "/data/rows" };
  const cursor = (pointer: string) => ({ ...wrapped, pagination: { type: "cursor", pointer, param: "from" } });
  await api.rows(dataset({ ...cursor("/next"), query: { n: 100n } }, ID));
  await api.rows(dataset({ pagination: "link_header", query: { n: 20n } }, ID));
  await api.rows(dataset({ ...cursor("/nxt"), query: { from: 99n } }, ID));
  assert.deepEqual(api.notices, []);
  assert.equal((await api.rows(dataset(cursor("/meta/nxt"), ID))).length, 10);
  assert.equal((await api.rows(dataset({ ...wrapped, pagination: "link_header" }, ID))).length, 10);
  assert.deepEqual(api.notices, [
    '/wrapped: the first page holds nothing at "/meta/nxt", which is to lead to the next: only that page is read',
    "/wrapped: the first page has no Link header, which is to lead to the next: only that page is read",
  ]);
});

Deno.test("a column that no record has is told", async () => {
  await using server = orders();
  await using api = new Opened(server.origin);
  const columns = [...ID, { name: "Id", type: "varchar" }];
  assert.deepEqual((await api.rows(dataset({}, columns)))[0], ["1", null]);
  assert.deepEqual(api.notices, ['/orders: none of the records has "Id", so that the column holds nothing but NULL']);
});
