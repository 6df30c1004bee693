import assert from "node:assert/strict";
import { type ConfigMap, ConnectorError } from "../../src/connectors/mod.ts";
import { arrowSchema, BatchBuilder, type CellValue } from "../../src/connectors/sdk/mod.ts";
import type { RecordBatch } from "../../src/util/arrow.ts";
import { RawHttp, TestHttp } from "../harness/http_server.ts";
import { NEVER, Opened, output } from "./http_support.ts";

const SCHEMA = arrowSchema([{ name: "id", type: "bigint" }, { name: "name", type: "varchar" }]);

function batch(rows: readonly (readonly CellValue[])[], schema = SCHEMA): RecordBatch {
  const builder = new BatchBuilder(schema);
  for (const row of rows) builder.append(row);
  return builder.finish();
}

/** Rows with these ids. */
function ids(from: number, to: number): RecordBatch {
  return batch(Array.from({ length: to - from + 1 }, (_, index) => [BigInt(from + index), `n${from + index}`]));
}

/** A server that takes everything. */
function taking(status = 201): TestHttp {
  return new TestHttp(() => new Response(status === 204 ? null : "{}", { status }));
}

Deno.test("an append sends arrays of rows, full ones as they fill and the rest with the commit", async () => {
  await using server = taking();
  await using api = new Opened(server.origin, { auth: { type: "bearer", token: "t" } });
  const session = await api.sink.begin(output("append", { path: "/orders", rows_per_request: 3n }), SCHEMA, NEVER);
  assert.equal(api.sink.abortSemantics, "none");
  await session.write(ids(1, 2), NEVER);
  assert.equal(session.acknowledgedRows?.(), 0n);
  await session.write(ids(3, 7), NEVER);
  assert.equal(session.acknowledgedRows?.(), 6n);
  assert.deepEqual(await session.commit(), { rows: 7n, batches: 2 });
  await assert.rejects(session.commit(), { code: "PZ0357" });
  assert.deepEqual(server.seen.map(({ body }) => (JSON.parse(body) as { id: number }[]).map(({ id }) => id)), [
    [1, 2, 3],
    [4, 5, 6],
    [7],
  ]);
  const [{ method = "", path = "", headers = new Headers() } = {}] = server.seen;
  assert.deepEqual([method, path, headers.get("content-type"), headers.get("authorization")], [
    "POST",
    "/orders",
    "application/json",
    "Bearer t",
  ]);
  assert.deepEqual(api.operations, ["append!", "append!", "append!"]);
});

Deno.test("each format of a body, and an own method", async () => {
  await using server = taking(200);
  await using api = new Opened(server.origin);
  const sent = async (options: ConfigMap) => {
    server.seen.length = 0;
    await api.write(output("append", { path: "/o", ...options }), SCHEMA, [ids(1, 2)]);
    return server.seen.map(({ method, headers, body }) => [method, headers.get("content-type"), body]);
  };
  const [one, two] = ['{"id":1,"name":"n1"}', '{"id":2,"name":"n2"}'];
  assert.deepEqual(await sent({}), [["POST", "application/json", `[${one},${two}]`]]);
  assert.deepEqual(await sent({ body_format: "ndjson", method: "put" }), [[
    "PUT",
    "application/x-ndjson",
    `${one}\n${two}\n`,
  ]]);
  assert.deepEqual(await sent({ body_format: "json", method: "PATCH" }), [
    ["PATCH", "application/json", one],
    ["PATCH", "application/json", two],
  ]);
  assert.deepEqual(api.operations, ["append!", "append!", "append!", "append!"]);
});

Deno.test("values keep their digits on the way out", async () => {
  await using server = taking();
  await using api = new Opened(server.origin);
  const schema = arrowSchema([
    { name: "b", type: "bigint" },
    { name: "d", type: "decimal(38,2)" },
    { name: "f", type: "double" },
    { name: "t", type: "timestamp" },
    { name: "j", type: "json" },
    { name: "l", type: "BIGINT[]" },
    { name: "s", type: "varchar" },
  ]);
  const rows = [
    [
      9007199254740993n,
      123456789012345678901234567890123456n,
      0.1,
      1_700_000_000_123_456n,
      '{"x": 1.10}',
      [1n, null],
      'ä"\n',
    ],
    [null, null, NaN, null, null, null, null],
  ];
  await api.write(output("append", { path: "/o" }), schema, [batch(rows, schema)]);
  assert.equal(
    server.seen[0]?.body,
    '[{"b":9007199254740993,"d":1234567890123456789012345678901234.56,"f":0.1,"t":"2023-11-14T22:13:20.123456Z",' +
      '"j":{"x": 1.10},"l":[1,null],"s":"ä\\"\\n"},{"b":null,"d":null,"f":null,"t":null,"j":null,"l":null,"s":null}]',
  );
  assert.deepEqual(api.notices, [
    'Column "f" holds numbers that JSON has none for, NaN or infinite: they are sent as null',
  ]);
});

Deno.test("a merge sends each row to the place of its key, which can't lead elsewhere", async () => {
  await using server = taking(204);
  await using api = new Opened(server.origin);
  const schema = arrowSchema([{ name: "Name", type: "varchar" }, { name: "n", type: "int" }]);
  const merge = (key: CellValue, options: ConfigMap = {}) =>
    api.write(output("merge", { path: "/o/{key}/x", ...options }, ["name"]), schema, [batch([[key, 1]], schema)]);
  assert.deepEqual(await merge("a/b?c#d&e=1 %2e ü"), { rows: 1n, batches: 1 });
  assert.deepEqual(server.seen.map(({ method, path, body }) => [method, path, body]), [
    ["PUT", "/o/a%2Fb%3Fc%23d%26e%3D1%20%252e%20%C3%BC/x", '{"Name":"a/b?c#d&e=1 %2e ü","n":1}'],
  ]);
  await merge("y", { method: "patch" });
  assert.equal(server.seen[1]?.method, "PATCH");
  assert.deepEqual(api.operations, ["merge", "merge"]);
  for (
    const [key, message] of [["..", /"\.\.", which a path can't hold/], [".", /a path can't hold/], [
      "",
      /an empty text/,
    ], [null, /NULL/]] as const
  ) {
    await assert.rejects(merge(key), message);
  }
  assert.equal(server.seen.length, 2);
  const lacking = async () => await api.sink.begin(output("merge", { path: "/o/{key}" }, ["id2"]), schema, NEVER);
  await assert.rejects(lacking, /no column "id2", which is the key/);
});

Deno.test("a merge sends as many rows side by side as it may, and confirms those before the first that fails", async () => {
  let open = 0;
  let most = 0;
  let bad = "";
  let gate = Promise.withResolvers<void>();
  await using server = new TestHttp(async (_request, url) => {
    most = Math.max(most, ++open);
    if (open === 4) gate.resolve();
    await gate.promise;
    open--;
    return new Response(null, { status: url.pathname === bad ? 422 : 204 });
  });
  await using api = new Opened(server.origin);
  const spec = output("merge", { path: "/o/{key}", parallel_requests: 4n }, ["id"]);
  assert.deepEqual(await api.write(spec, SCHEMA, [ids(1, 8)]), { rows: 8n, batches: 1 });
  assert.equal(most, 4);
  assert.equal(new Set(server.seen.map(({ path }) => path)).size, 8);
  bad = "/o/6";
  gate = Promise.withResolvers();
  const session = await api.sink.begin(spec, SCHEMA, NEVER);
  await assert.rejects(session.write(ids(1, 8), NEVER), /answered 422/);
  assert.equal(session.acknowledgedRows?.(), 5n);
  await session.abort();
});

Deno.test("only statuses that mean success are success, and a failure does not show the key", async () => {
  let status = 200;
  await using server = new TestHttp(() => new Response('{"error":"no"}', { status, headers: { location: "/x" } }));
  await using api = new Opened(server.origin);
  const write = (options: ConfigMap) => api.write(output("append", { path: "/o", ...options }), SCHEMA, [ids(1, 1)]);
  await write({});
  await assert.rejects(write({ expected_status: [201n, 303n] }), /answered 200: \{"error":"no"\}$/);
  for (status of [201, 303]) await write({ expected_status: [201n, 303n] });
  status = 307;
  await assert.rejects(write({}), {
    transient: false,
    message: /answered 307 \(a redirect, which no write follows\): /,
  });
  status = 422;
  await assert.rejects(api.write(output("merge", { path: "/o/{key}" }, ["name"]), SCHEMA, [ids(7, 7)]), (error) => {
    assert.ok(error instanceof ConnectorError);
    assert.equal(error.message, `PUT ${server.origin}/o/{key} answered 422: {"error":"no"}`);
    return true;
  });
  status = 503;
  await assert.rejects(write({}), { transient: true });
});

Deno.test("a request that may have landed is told, an unclear commit too; one that can't have is neither", async () => {
  let mode: "lost" | number = "lost";
  await using server = new RawHttp(async (write) => {
    if (mode !== "lost") await write(`HTTP/1.1 ${mode} X\r\ncontent-length: 0\r\n\r\n`);
  });
  await using api = new Opened(server.origin);
  const write = (rows: number) =>
    api.write(output("append", { path: "/o", rows_per_request: 5n }), SCHEMA, [ids(1, rows)]);
  await assert.rejects(write(5), { transient: true, outcomeUnknown: undefined, message: /the connection was lost/ });
  assert.deepEqual(api.notices.splice(0), [
    "/o: the server may have taken rows 1 to 5, though its answer was lost or a failure; if they are sent again, they may be there twice",
  ]);
  await assert.rejects(write(3), { transient: true, outcomeUnknown: true });
  assert.equal(api.notices.splice(0).length, 1);
  mode = 400;
  await assert.rejects(write(3), { transient: false, outcomeUnknown: false });
  mode = 429;
  await assert.rejects(write(5), { transient: true });
  assert.deepEqual(api.notices, []);
  assert.equal(server.requests, 4);
});

Deno.test("one request of a run may be sent again in doubt, any number of times; a second one in doubt ends the write", async () => {
  const statuses = [200, 500, 500, 200, 500];
  await using server = new TestHttp(() => new Response(null, { status: statuses.shift() ?? 200 }));
  await using api = new Opened(server.origin);
  const spec = output("append", { path: "/o", rows_per_request: 2n });
  const attempt = async (ordinal: number, confirmed: bigint) => {
    const session = await api.sink.begin({ ...spec, attempt: { ...spec.attempt, ordinal } }, SCHEMA, NEVER);
    if (confirmed > 0n) assert.equal(await session.resumeFrom?.(confirmed), true);
    await session.write(ids(Number(confirmed) + 1, 8), NEVER);
  };
  await assert.rejects(attempt(1, 0n), { transient: true });
  await assert.rejects(attempt(2, 2n), { transient: true });
  await assert.rejects(attempt(3, 2n), {
    transient: false,
    message: /answered 500.*; rows behind 2 may be there twice already$/,
    hint: /idempotency_header/,
  });
  assert.deepEqual(api.notices.map((notice) => /rows \d+ to \d+/.exec(notice)?.[0]), [
    "rows 3 to 4",
    "rows 3 to 4",
    "rows 5 to 6",
  ]);
  statuses.push(500);
  const next = { ...spec, attempt: { ...spec.attempt, run: "another" } };
  await assert.rejects(api.write(next, SCHEMA, [ids(1, 2)]), { transient: true });
});

Deno.test("a write goes on behind the rows that the server confirmed", async () => {
  let left = 2;
  await using server = new TestHttp(() => new Response(null, { status: left-- > 0 ? 200 : 503 }));
  await using api = new Opened(server.origin);
  const spec = output("append", { path: "/o", rows_per_request: 2n });
  const session = await api.sink.begin(spec, SCHEMA, NEVER);
  await assert.rejects(session.write(ids(1, 7), NEVER), { transient: true });
  assert.equal(session.acknowledgedRows?.(), 4n);
  await session.abort();
  left = 10;
  server.seen.length = 0;
  const again = await api.sink.begin({ ...spec, attempt: { ...spec.attempt, ordinal: 2 } }, SCHEMA, NEVER);
  assert.equal(await again.resumeFrom?.(4n), true);
  await again.write(ids(5, 7), NEVER);
  assert.equal(again.acknowledgedRows?.(), 6n);
  assert.equal(await again.resumeFrom?.(4n), false);
  assert.deepEqual(await again.commit(), { rows: 7n, batches: 1 });
  assert.deepEqual(server.seen.map(({ body }) => body.match(/"id":\d/g)), [['"id":5', '"id":6'], ['"id":7']]);
});

Deno.test("requests get names that a repetition shares, and nothing else does", async () => {
  await using server = taking();
  await using api = new Opened(server.origin);
  const spec = output("append", { path: "/o", rows_per_request: 2n, idempotency_header: "Idempotency-Key" });
  const names = async (change: Partial<typeof spec.attempt>, rows = ids(1, 4)) => {
    server.seen.length = 0;
    await api.write({ ...spec, attempt: { ...spec.attempt, ...change } }, SCHEMA, [rows]);
    return server.seen.map(({ headers }) => headers.get("idempotency-key") ?? "");
  };
  const first = await names({});
  assert.equal(new Set(first).size, 2);
  assert.match(first[0] ?? "", /^[0-9a-f]{32}$/);
  assert.deepEqual(await names({ ordinal: 2 }), first);
  assert.deepEqual(await names({ run: "r2", prior: [{ run: "r1", ordinal: 1 }] }), first);
  const others = [await names({ run: "r2" }), await names({ node: "other" }), await names({}, ids(3, 6))].flat();
  assert.equal(new Set([...first, ...others]).size, 8);
  assert.ok(api.operations.every((operation) => operation === "append"));
});

Deno.test("a replace is refused", async () => {
  await using api = new Opened("http://127.0.0.1:9");
  await assert.rejects(
    async () => await api.sink.begin(output("replace", { path: "/o" }), SCHEMA, NEVER),
    /can't replace/,
  );
});
