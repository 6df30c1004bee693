import assert from "node:assert/strict";
import { runPz, startPz } from "../harness/cli.ts";
import { Duck } from "../harness/duck.ts";
import { RawHttp, TestHttp } from "../harness/http_server.ts";
import { readReceipt } from "../harness/run_files.ts";
import { type Files, listFiles, TempDir, writeFiles } from "../harness/temp_dir.ts";

const SECRET = "hush-hush-hush";
const SIZE = 10_000;
const ROWS = 300_000;

/** A project whose connection `api` leads to a server, with entities as the YAML below `entities:`. */
async function project(origin: string, entities: string, files: Files): Promise<TempDir> {
  const folder = await TempDir.create();
  await writeFiles(folder.path, {
    "project.yml": `name: shop\nversion: "1"\n`,
    "connections.yml": `api:
  connector: http
  base_url: ${origin}/v1
  auth:
    type: bearer
    token: \${API_TOKEN}
  retry: { max_attempts: 3, base_delay: 1ms, max_delay: 2ms }
  entities:
${entities}
lake:
  connector: localfiles
  root: out
`,
    ...files,
  });
  return folder;
}

const env = { API_TOKEN: SECRET };
const COLUMNS = 'columns: { id: bigint, name: varchar, amount: "decimal(18,4)", at: timestamp }';

function load(entity: string): Files {
  return {
    [`pipelines/${entity}.sql`]:
      `INSERT INTO {{ sink('lake', '${entity}', format: 'parquet', strategy: 'replace') }}\nSELECT * FROM {{ source('api', '${entity}') }}\n`,
  };
}

const pages = new Map<number, string>();

/** A page's records, from one number on, as JSON. */
function page(from: number): string {
  const known = pages.get(from) ?? records(from, from + SIZE);
  pages.set(from, known);
  return known;
}

/** All of them. */
function all(): string {
  return `[${Array.from({ length: ROWS / SIZE }, (_, index) => page(index * SIZE).slice(1, -1)).join(",")}]`;
}

/** The records from one number to before another, as JSON. */
function records(from: number, to: number): string {
  const list: string[] = [];
  for (let id = from; id < Math.min(to, ROWS); id++) {
    const big = 9_007_199_254_740_993n + BigInt(id);
    list.push(`{"id":${big},"name":"ä\\n${id}","amount":${id}.1000,"at":"2026-01-02T03:04:05.000001Z"}`);
  }
  return `[${list.join(",")}]`;
}

/** The most memory that the processes below another have taken so far, in bytes; 0 where the system does not tell. */
async function mostMemory(pid: number): Promise<number> {
  if (Deno.build.os !== "linux") return 0;
  const script = 'for child in $(ps -o pid= --ppid "$0"); do grep VmHWM "/proc/$child/status"; done';
  const { stdout } = await new Deno.Command("sh", { args: ["-c", script, String(pid)], stderr: "null" }).output();
  const kibs = [...new TextDecoder().decode(stdout).matchAll(/(\d+) kB/g)].map(([, kib]) => Number(kib));
  return Math.max(0, ...kibs) * 1024;
}

Deno.test("300,000 records arrive by every way to page, each once and exactly, with the child's memory flat", async () => {
  let onRequest = () => Promise.resolve();
  await using server = new TestHttp(async (request, url) => {
    await onRequest();
    if (request.headers.get("authorization") !== `Bearer ${SECRET}`) return new Response("who?", { status: 401 });
    const number = Number(
      url.searchParams.get("page") ?? url.searchParams.get("offset") ?? url.searchParams.get("at") ?? 0,
    );
    const from = url.searchParams.has("page") ? (number - 1) * SIZE : number;
    const data = page(from);
    const next = from + SIZE < ROWS ? from + SIZE : undefined;
    const headers = { "content-type": "application/json" };
    if (url.pathname === "/v1/link") {
      const link = { link: `<${url.origin}/v1/link?at=${next}>; rel="next"` };
      return new Response(data, { headers: next === undefined ? headers : { ...headers, ...link } });
    }
    if (url.pathname === "/v1/cursor") return new Response(`{"next":${next ?? null},"data":${data}}`, { headers });
    if (url.pathname === "/v1/all") return new Response(all(), { headers });
    return new Response(data, { headers });
  });
  const kinds: { readonly [entity: string]: string } = {
    all: "",
    page: "pagination: page",
    offset: "pagination: { type: offset, size: 10000 }",
    link: "pagination: link_header",
    cursor: "items: /data\n        pagination: { type: cursor, pointer: /next, param: at }",
  };
  const entities = Object.entries(kinds).map(([name, how]) =>
    `    ${name}:\n      read:\n        path: /${name}\n        ${COLUMNS}\n        ${how}`
  );
  await using folder = await project(
    server.origin,
    entities.join("\n"),
    Object.assign({}, ...Object.keys(kinds).map(load)),
  );
  await using pz = startPz(["run", "--all", "--log-format", "json"], { cwd: folder.path, env });
  let most = 0;
  onRequest = async () => void (most = Math.max(most, await mostMemory(pz.pid)));
  const result = await pz.finish();
  assert.equal(result.code, 0, String(result));
  assert.ok(!`${result.stdout}${result.stderr}`.includes(SECRET));
  using duck = await Duck.open();
  for (const kind of Object.keys(kinds)) {
    const expected =
      `SELECT (9007199254740993 + i)::BIGINT AS id, 'ä' || chr(10) || i AS name, (i + 0.1)::DECIMAL(18,4) AS amount,
      TIMESTAMP '2026-01-02 03:04:05.000001' AS at FROM range(${ROWS}) t(i)`;
    await duck.assertSame(`SELECT * FROM '${folder.path}/out/${kind}/*.parquet'`, expected);
  }
  const asked = (path: string) => server.seen.filter((request) => request.path.startsWith(`/v1/${path}`)).length;
  assert.deepEqual(Object.keys(kinds).map(asked), [1, 31, 31, 30, 30]);
  // Five reads at a time, one of them a single answer of 25 MB.
  assert.ok(most < 400 << 20 && (most > 0 || Deno.build.os !== "linux"), `${most >> 20} MiB`);
});

Deno.test("without columns the records arrive as they came, and the plan says what is granted", async () => {
  await using server = new TestHttp((_request, url) =>
    new Response(url.searchParams.get("page") === "1" ? '[{"a": 1.10}]' : "[]")
  );
  await using folder = await project(
    server.origin,
    "    raw:\n      read: { path: /raw, pagination: page, query: { since: '{{ watermark }}', x: 1 } }",
    load("raw"),
  );
  const plan = await runPz(["plan"], { cwd: folder.path, env });
  assert.match(plan.stdout, new RegExp(`^grant: api \\(http\\) net 127\\.0\\.0\\.1:${server.port}$`, "m"));
  const result = await runPz(["run"], { cwd: folder.path, env });
  assert.equal(result.code, 0, String(result));
  using duck = await Duck.open();
  const rows =
    `SELECT payload, pz_page, pz_fetched_at > TIMESTAMP '2020-01-01' FROM '${folder.path}/out/raw/*.parquet'`;
  assert.deepEqual(await duck.rows(rows), [['{"a": 1.10}', "1", "true"]]);
  assert.deepEqual(server.seen.map(({ path }) => path), ["/v1/raw?x=1&page=1", "/v1/raw?x=1&page=2"]);
});

Deno.test("a value that its column can't hold stops the run and is named with its page and record", async () => {
  const rows = (page: string | null) =>
    page === "1" ? '[{"id":1},{"id":2}]' : page === "2" ? '[{"id":3},{"id":4.5}, {"id":"x"}]' : "[]";
  await using server = new TestHttp((_request, url) => new Response(rows(url.searchParams.get("page"))));
  await using folder = await project(
    server.origin,
    "    bad:\n      read: { path: /bad, pagination: page, columns: { id: bigint } }",
    load("bad"),
  );
  const result = await runPz(["run"], { cwd: folder.path, env });
  assert.equal(result.code, 1, String(result));
  assert.match(
    result.stdout + result.stderr,
    /PZ0501.*Column "id" holds "4\.5", which BIGINT can't hold as it is \(page 2, record 2\).*\/bad/,
  );
  assert.ok(!(await listFiles(folder.path)).some((file) => file.startsWith("out/")));
});

Deno.test("a page that fails for a moment is asked for again, and its records arrive once", async () => {
  let failures = 2;
  await using server = new TestHttp((_request, url) => {
    const page = Number(url.searchParams.get("page"));
    if (page === 2 && failures-- > 0) return new Response("later", { status: 503 });
    return Response.json(page > 3 ? [] : [{ id: page }]);
  });
  await using folder = await project(
    server.origin,
    "    flaky:\n      read: { path: /flaky, pagination: page, columns: { id: int } }",
    load("flaky"),
  );
  const result = await runPz(["run"], { cwd: folder.path, env });
  assert.equal(result.code, 0, String(result));
  using duck = await Duck.open();
  assert.deepEqual(await duck.rows(`SELECT id FROM '${folder.path}/out/flaky/*.parquet' ORDER BY id`), [["1"], ["2"], [
    "3",
  ]]);
});

Deno.test("a server that asks for time gets it, and the connection's rate limit holds", async () => {
  const times: number[] = [];
  await using server = new TestHttp((_request, url) => {
    times.push(performance.now());
    if (times.length === 2) return new Response("slowly", { status: 429, headers: { "retry-after": "1" } });
    return Response.json(url.searchParams.get("page") === "3" ? [] : [{ id: 1 }]);
  });
  await using folder = await project(
    server.origin,
    "    slow:\n      read: { path: /slow, pagination: page, columns: { id: int } }\n" +
      "  rate_limit: { requests_per_minute: 240, burst: 1 }",
    load("slow"),
  );
  const result = await runPz(["run"], { cwd: folder.path, env });
  assert.equal(result.code, 0, String(result));
  const waits = times.slice(1).map((time, index) => time - (times[index] ?? 0));
  assert.equal(waits.length, 3);
  // The engine counts from when it has the answer, and the server from when it got the request.
  assert.ok(waits[0] !== undefined && waits[0] > 150, String(waits));
  assert.ok(waits[1] !== undefined && waits[1] >= 990, String(waits));
});

Deno.test("a retry of a failed read asks for no page again that has arrived", async () => {
  let isBroken = true;
  await using server = new TestHttp((_request, url) => {
    const page = Number(url.searchParams.get("page"));
    if (page === 3 && isBroken) return new Response("broken", { status: 500 });
    return Response.json(page > 4 ? [] : [{ id: page }]);
  });
  await using folder = await project(
    server.origin,
    "    parts:\n      read: { path: /parts, pagination: page, columns: { id: int } }",
    load("parts"),
  );
  const failed = await runPz(["run"], { cwd: folder.path, env });
  assert.equal(failed.code, 1, String(failed));
  const pages = () => server.seen.splice(0).map(({ path }) => path.replace(/^.*page=/, ""));
  assert.deepEqual([...new Set(pages())], ["1", "2", "3"]);
  isBroken = false;
  const retried = await runPz(["retry"], { cwd: folder.path, env });
  assert.equal(retried.code, 0, String(retried));
  assert.deepEqual(pages(), ["3", "4", "5"]);
  using duck = await Duck.open();
  const rows = await duck.rows(`SELECT id FROM '${folder.path}/out/parts/*.parquet' ORDER BY id`);
  assert.deepEqual(rows, [["1"], ["2"], ["3"], ["4"]]);
});

Deno.test("a retry of a failed append sends no row again that the server has taken", async () => {
  const taken: number[] = [];
  let isBroken = true;
  await using server = new TestHttp((request) => {
    if (isBroken && taken.length >= 4) return new Response("full", { status: 507 });
    const rows: { readonly id: number }[] = JSON.parse(request.body);
    taken.push(...rows.map(({ id }) => id));
    return new Response(null, { status: 201 });
  });
  await using folder = await project(
    server.origin,
    "    log:\n      write: { path: /log, strategy: append, rows_per_request: 2 }",
    {
      "out/people.csv": `id\n${[1, 2, 3, 4, 5, 6, 7].join("\n")}\n`,
      "pipelines/log.sql":
        "INSERT INTO {{ sink('api', 'log') }}\nSELECT * FROM {{ source('lake', 'people', columns: { id: 'int' }) }}\n",
    },
  );
  const failed = await runPz(["run"], { cwd: folder.path, env });
  assert.equal(failed.code, 1, String(failed));
  assert.equal(taken.length, 4);
  isBroken = false;
  const retried = await runPz(["retry"], { cwd: folder.path, env });
  assert.equal(retried.code, 0, String(retried));
  assert.deepEqual(taken.sort(), [1, 2, 3, 4, 5, 6, 7]);
});

Deno.test("a body cut short in its middle fails the run with a code, and leaves nothing", async () => {
  const body = records(0, 5000);
  await using server = new RawHttp((write) =>
    write(
      `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length * 2}\r\n\r\n${
        body.slice(0, -9)
      }`,
    )
  );
  await using folder = await project(server.origin, `    cut:\n      read: { path: /cut, ${COLUMNS} }`, load("cut"));
  const result = await runPz(["run"], { cwd: folder.path, env });
  assert.equal(result.code, 1, String(result));
  const [node] = readReceipt(folder.path).nodes.filter(({ name }) => name === "src_api__cut");
  assert.equal(node?.error?.code, "PZ0501");
  assert.match(
    node?.error?.message ?? "",
    /GET http:\/\/127\.0\.0\.1:\d+\/v1\/cut \(page 1\) failed: the connection was lost/,
  );
  assert.ok(!(await listFiles(folder.path)).some((file) => file.startsWith("out/")));
});

Deno.test("rows are appended and merged into an API", async () => {
  const appended: { id: number; name: string }[] = [];
  const merged = new Map<string, unknown>();
  await using server = new TestHttp((request, url) => {
    if (request.headers.get("authorization") !== `Bearer ${SECRET}`) return new Response("who?", { status: 401 });
    const body: unknown = JSON.parse(request.body);
    if (request.method === "POST" && Array.isArray(body)) appended.push(...body);
    else if (request.method === "PUT") merged.set(decodeURIComponent(url.pathname.split("/").at(-1) ?? ""), body);
    else return new Response("what?", { status: 400 });
    return new Response(null, { status: 204 });
  });
  const lines = Array.from({ length: 1200 }, (_, id) => `${id},n/${id}`);
  await using folder = await project(
    server.origin,
    "    log:\n      write: { path: /log, strategy: append }\n" +
      "    items:\n      write: { path: '/items/{key}', strategy: merge, keys: [name] }",
    {
      "out/people.csv": `id,name\n${lines.join("\n")}\n`,
      "pipelines/people.sql": "SELECT * FROM {{ source('lake', 'people', columns: { id: 'int', name: 'varchar' }) }}\n",
      "pipelines/log.sql": "INSERT INTO {{ sink('api', 'log') }}\nSELECT * FROM {{ ref('people') }}\n",
      "pipelines/items.sql":
        "INSERT INTO {{ sink('api', 'items') }}\nSELECT * FROM {{ ref('people') }} WHERE id < 50\n",
    },
  );
  for (const verb of ["plan", "run"]) {
    const result = await runPz([verb], { cwd: folder.path, env });
    assert.equal(result.code, 0, String(result));
  }
  assert.deepEqual(
    appended.sort((a, b) => a.id - b.id),
    Array.from({ length: 1200 }, (_, id) => ({ id, name: `n/${id}` })),
  );
  assert.equal(server.seen.filter(({ method }) => method === "POST").length, 3);
  assert.deepEqual([...merged.keys()].sort(), Array.from({ length: 50 }, (_, id) => `n/${id}`).sort());
  assert.deepEqual(merged.get("n/7"), { id: 7, name: "n/7" });
});

Deno.test("what can't work is refused before anything runs, at its place", async () => {
  await using folder = await project(
    "http://127.0.0.1:9",
    "    a:\n      read:\n        path: /a\n        pagination: sideways\n    b:\n      write: { path: /b, strategy: replace }",
    {
      ...load("a"),
      "pipelines/b.sql": "INSERT INTO {{ sink('api', 'b') }}\nSELECT 1 AS x\n",
    },
  );
  const result = await runPz(["plan"], { cwd: folder.path, env });
  assert.equal(result.code, 2, String(result));
  assert.match(result.stderr, /^error PZ0301: .*"pagination" is "sideways" \(connections\.yml:12:9\)/m);
  assert.match(result.stderr, /^error PZ0324: /m);
});
