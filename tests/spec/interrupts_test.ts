import assert from "node:assert/strict";
import { type EventLine, type PzResult, type RunningPz, startPz } from "../harness/cli.ts";
import { problemsOfStream } from "../harness/events.ts";
import { TestHttp } from "../harness/http_server.ts";
import { readReceipt } from "../harness/run_files.ts";
import { type Files, TempDir, writeFiles } from "../harness/temp_dir.ts";

const RUN = ["run", "--all", "--log-format", "json"];
const SOON_MS = 2000;
const ENDLESS = "SELECT sum(hash(a.range + b.range)) AS n FROM range(300000) a, range(100000) b";

function busy(retryAfter?: number): Response {
  const headers = retryAfter === undefined ? {} : { "retry-after": `${retryAfter}` };
  return new Response("busy", { status: 503, headers });
}

/** A project that loads what a server gives; `more` stands among the settings of its connection. */
function loading(origin: string, more: string, engine = "", also: Files = {}): Files {
  return {
    "project.yml": `name: shop\nversion: "1"\nengine: { threads: 4${engine} }\n`,
    "connections.yml": `api:
  connector: http
  base_url: ${origin}
${more}  entities:
    items:
      read: { path: /items, columns: { id: bigint } }
    others:
      read: { path: /others, columns: { id: bigint } }
lake:
  connector: localfiles
  root: out
`,
    "pipelines/items.sql": sinkOf("items", "SELECT * FROM {{ source('api', 'items') }}"),
    ...also,
  };
}

function sinkOf(name: string, select: string): string {
  return `INSERT INTO {{ sink('lake', '${name}', format: 'csv', strategy: 'replace') }}\n${select}\n`;
}

/** The processes that live of those below another one; none where the system does not tell. */
async function childrenOf(pid: number): Promise<readonly string[]> {
  return await processes(["--ppid", `${pid}`]);
}

async function processes(which: readonly string[]): Promise<readonly string[]> {
  if (Deno.build.os !== "linux") return [];
  const { stdout } = await new Deno.Command("ps", { args: ["-o", "pid=,stat=", ...which] }).output();
  const lines = new TextDecoder().decode(stdout).split("\n").map((line) => line.trim().split(/\s+/));
  return lines.flatMap(([pid = "", stat = "Z"]) => /^[ZX]/.test(stat) ? [] : [pid]);
}

/** Waits for an event, then interrupts the run; it must come to its end soon, with all that an end needs. */
async function interrupted(
  folder: TempDir,
  running: RunningPz,
  when?: (event: EventLine) => boolean,
  failed = 0,
): Promise<PzResult> {
  if (when !== undefined) assert.ok(await running.until(when), "the run ended before it was interrupted");
  const children = await childrenOf(running.pid);
  const start = performance.now();
  running.kill("SIGINT");
  const result = await running.finish();
  const took = performance.now() - start;
  assert.equal(result.code, failed > 0 ? 1 : 3, result.toString());
  assert.ok(took < SOON_MS, `it took ${Math.round(took)} ms\n${result}`);
  assert.deepEqual(problemsOfStream(result.events), []);
  if (children.length > 0) assert.deepEqual(await processes(["--pid", children.join(",")]), []);
  const receipt = readReceipt(folder.path);
  assert.equal(receipt.interrupted, true);
  assert.equal(receipt.nodes.filter(({ status }) => status === "failed").length, failed);
  assert.notEqual(receipt.finishedAt, undefined);
  return result;
}

const hasStarted = (name: string) => ({ event, name: other }: EventLine) => event === "node_started" && other === name;

Deno.test("a stop ends a load whose next request waits as long as the server asked", async () => {
  await using server = new TestHttp(() => busy(3600));
  await using folder = await TempDir.create();
  await writeFiles(folder.path, loading(server.origin, ""));
  await using running = startPz(RUN, { cwd: folder.path });
  await interrupted(folder, running, ({ event, message }) => {
    return event === "connector_log" && /left alone for 3600 s/.test(String(message));
  });
  assert.equal(server.seen.length, 1);
});

Deno.test("a stop ends a load that waits for its next attempt", async () => {
  await using server = new TestHttp(() => busy());
  await using folder = await TempDir.create();
  await writeFiles(
    folder.path,
    loading(server.origin, "  retry: { max_attempts: 2, base_delay: 2s, max_delay: 2s }\n"),
  );
  await using running = startPz(RUN, { cwd: folder.path });
  await interrupted(folder, running, ({ event }) => event === "retry_scheduled");
  assert.equal(server.seen.length, 2);
});

Deno.test("a stop ends a load that waits for an open breaker", async () => {
  await using server = new TestHttp(() => busy());
  await using folder = await TempDir.create();
  await writeFiles(
    folder.path,
    loading(
      server.origin,
      "  retry: { max_attempts: 1 }\n  max_concurrency: 1\n",
      ", breaker: { failure_threshold: 1, cool_down: 3600s }",
      { "pipelines/others.sql": sinkOf("others", "SELECT * FROM {{ source('api', 'others') }}") },
    ),
  );
  await using running = startPz(RUN, { cwd: folder.path });
  await interrupted(folder, running, hasStarted("src_api__others"), 1);
  assert.equal(server.seen.length, 1);
});

for (
  const [what, settings, isAnswered] of [
    ["waits for its rate limit", "  rate_limit: { requests_per_minute: 1, burst: 1 }\n", true],
    ["is not answered", "", false],
  ] as const
) {
  Deno.test(`a stop ends a load that ${what}`, async () => {
    const asked = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    await using server = new TestHttp(async () => {
      asked.resolve();
      if (!isAnswered) await released.promise;
      return busy();
    });
    await using folder = await TempDir.create();
    const retry = "  retry: { base_delay: 1ms, max_delay: 1ms }\n";
    await writeFiles(folder.path, loading(server.origin, settings + retry));
    await using running = startPz(RUN, { cwd: folder.path });
    assert.ok(await running.until(hasStarted("src_api__items")));
    const ended = running.until(({ event }) => event === "node_completed");
    try {
      assert.equal(await Promise.race([asked.promise, ended]), undefined, "the load ended before it was interrupted");
      await interrupted(folder, running);
    } finally {
      // A server ends only when it has answered.
      released.resolve();
    }
    assert.equal(server.seen.length, 1);
  });
}

Deno.test("a stop ends a write that waits for its rate limit, and tells what may be there", async () => {
  const asked = Promise.withResolvers<void>();
  await using server = new TestHttp(() => {
    asked.resolve();
    return new Response("{}", { status: 201 });
  });
  await using folder = await TempDir.create();
  await writeFiles(folder.path, {
    ...loading(server.origin, "  rate_limit: { requests_per_minute: 1, burst: 1 }\n"),
    "pipelines/items.sql":
      "INSERT INTO {{ sink('api', 'items', path: '/items', rows_per_request: 1, strategy: 'append', " +
      "duplicates: 'accept') }}\nSELECT range AS id FROM range(5)\n",
  });
  await using running = startPz(RUN, { cwd: folder.path });
  const ended = running.until(({ event, kind }) => event === "node_completed" && kind === "SinkWrite");
  assert.equal(await Promise.race([asked.promise, ended]), undefined, "the write ended before it was interrupted");
  const { events } = await interrupted(folder, running);
  assert.equal(server.seen.length, 1);
  assert.equal(
    events.find(({ kind, event }) => event === "node_completed" && kind === "SinkWrite")?.["status"],
    "skipped",
  );
});

Deno.test("a stop ends a statement that would take minutes", async () => {
  await using folder = await TempDir.create();
  await writeFiles(folder.path, {
    "project.yml": `name: long\nversion: "1"\n`,
    "connections.yml": "lake:\n  connector: localfiles\n  root: out\n",
    "pipelines/endless.sql": sinkOf("endless", ENDLESS),
  });
  await using running = startPz(RUN, { cwd: folder.path });
  await interrupted(folder, running, hasStarted("endless"));
});

Deno.test("with fail-fast a failure ends within a second what others wait for and compute", async () => {
  await using server = new TestHttp(() => busy(3600));
  await using folder = await TempDir.create();
  await writeFiles(
    folder.path,
    loading(server.origin, "", "", {
      "pipelines/bad.sql": sinkOf(
        "bad",
        "SELECT CAST(CASE WHEN range = 3000000 THEN 'no' ELSE '1' END AS INTEGER) AS n FROM range(3000001)",
      ),
      "pipelines/endless.sql": sinkOf("endless", ENDLESS),
    }),
  );
  await using running = startPz([...RUN, "--fail-fast"], { cwd: folder.path });
  const failed = await running.until(({ event, status }) => event === "node_completed" && status === "failed");
  assert.ok(failed !== undefined);
  const start = performance.now();
  const result = await running.finish();
  const took = performance.now() - start;
  assert.equal(result.code, 1, result.toString());
  assert.ok(took < 1000, `it took ${Math.round(took)} ms`);
});
