import assert from "node:assert/strict";
import { startPz } from "../harness/cli.ts";
import { StoreProxy } from "../harness/s3_proxy.ts";
import { openStores } from "../harness/s3_store.ts";
import { assertNothingLeft, pzIn, storeProject } from "./s3_support.ts";

const stores = await openStores();
const RETRY = "  retry: { max_attempts: 3, base_delay: 10ms, max_delay: 20ms }\n";
/** Three parts. */
const LARGE = `INSERT INTO {{ sink('store', 'x', path: 'x.csv', format: 'csv', strategy: 'replace') }}\n` +
  `SELECT range AS id, repeat(md5(range::varchar), 31) AS text FROM range(40000)\n`;

function error(status: number, code: string): Response {
  return new Response(`<Error><Code>${code}</Code><Message>Said so.</Message></Error>`, { status });
}

for (const store of stores) {
  const test = (title: string, work: () => Promise<void>) => Deno.test(`${title} (${store.name})`, work);

  test("a store that is busy for a while is asked again, request by request", async () => {
    let refused = 0;
    const isPart = (query: URLSearchParams) => query.get("partNumber") === "2";
    await using proxy = new StoreProxy(
      store,
      ({ query }) => isPart(query) && refused++ < 2 ? error(503, "SlowDown") : undefined,
    );
    await using folder = await storeProject(proxy.store, "busy", { "pipelines/p.sql": LARGE }, { entities: RETRY });
    const result = await pzIn(folder, store, "run", "--all");
    assert.equal(result.code, 0, String(result));
    assert.equal(proxy.seen.filter((request) => request.includes("?partNumber")).length, 5);
    assert.equal(proxy.seen.filter((request) => request === "POST busy/x.csv?uploads").length, 1);
    assert.deepEqual(await store.keys("busy/"), ["busy/x.csv"]);
    await assertNothingLeft(folder, store);
  });

  test("a refused part ends the write, with the store's words and a next step, and nothing is left", async () => {
    await using proxy = new StoreProxy(
      store,
      ({ query }) => query.get("partNumber") === "2" ? error(403, "AccessDenied") : undefined,
    );
    await using folder = await storeProject(proxy.store, "denied", { "pipelines/p.sql": LARGE }, { entities: RETRY });
    const result = await pzIn(folder, store, "run", "--all");
    assert.equal(result.code, 1, String(result));
    assert.match(result.stdout, /PZ0501: Writing s3:.*denied\/x\.csv failed: Said so\. \(AccessDenied, status 403\)/);
    assert.match(result.stdout, /hint: give the access key the right to it/);
    assert.deepEqual(await store.keys("denied/"), []);
    await assertNothingLeft(folder, store);
  });

  test("what DuckDB can't write into a file is told with its reason, and nothing is left", async () => {
    await using folder = await storeProject(store, "unheld", {
      "pipelines/p.sql": `INSERT INTO {{ sink('store', 'x', format: 'parquet', strategy: 'replace') }}\n` +
        `SELECT range AS id, INTERVAL 1 MICROSECOND AS lasted FROM range(3)\n`,
    });
    const result = await pzIn(folder, store, "run", "--all");
    assert.equal(result.code, 1, String(result));
    assert.match(result.stdout, /PZ0501: .*\blasted\b/);
    assert.deepEqual(await store.keys("unheld/"), []);
    await assertNothingLeft(folder, store);
  });

  test("a completion that the store does and denies is found out; one that it refuses is a failure", async () => {
    let lied = false;
    await using lying = new StoreProxy(store, ({ method, query }) => {
      if (method !== "POST" || !query.has("uploadId") || lied) return undefined;
      lied = true;
      return async (answer) => {
        await answer.body?.cancel();
        return error(500, "InternalError");
      };
    });
    await using good = await storeProject(lying.store, "done", { "pipelines/p.sql": LARGE }, { entities: RETRY });
    const done = await pzIn(good, store, "run", "--all");
    assert.equal(done.code, 0, String(done));
    assert.equal(lying.seen.filter((request) => request === "POST done/x.csv?uploads").length, 1);
    assert.deepEqual(await store.keys("done/"), ["done/x.csv"]);
    await assertNothingLeft(good, store);
    for (const [status, code, unknown] of [[403, "AccessDenied", false], [500, "InternalError", true]] as const) {
      await using proxy = new StoreProxy(
        store,
        ({ method, query }) => method === "POST" && query.has("uploadId") ? error(status, code) : undefined,
      );
      await using folder = await storeProject(proxy.store, "undone", { "pipelines/p.sql": LARGE }, { entities: RETRY });
      const result = await pzIn(folder, store, "run", "--all");
      assert.equal(result.code, 1, String(result));
      assert.equal(result.stdout.includes("outcome unknown"), unknown, String(result));
      const begun = proxy.seen.filter((request) => request === "POST undone/x.csv?uploads").length;
      assert.equal(begun, unknown ? 3 : 1);
      assert.deepEqual(await store.keys("undone/"), []);
      await assertNothingLeft(folder, store);
    }
  });

  for (const way of ["a stop signal", "the time limit of nodes"]) {
    test(`${way} within an upload leaves neither object nor upload`, async () => {
      const within = Promise.withResolvers<void>();
      const over = Promise.withResolvers<void>();
      await using proxy = new StoreProxy(store, async ({ query }) => {
        if (query.get("partNumber") !== "2") return undefined;
        within.resolve();
        await over.promise;
        return undefined;
      });
      const settings = way === "a stop signal" ? "" : "engine: { node_timeout: 8s }\n";
      await using folder = await storeProject(proxy.store, "stop", { "pipelines/p.sql": LARGE }, { settings });
      await using running = startPz(["run", "--all"], { cwd: folder.path, env: { S3_SECRET: store.secret } });
      const finished = running.finish();
      // On a machine that is very busy the time may be over before.
      await Promise.race([within.promise, finished]);
      if (way === "a stop signal") running.kill("SIGINT");
      const result = await finished;
      over.resolve();
      assert.notEqual(result.code, 0, String(result));
      assert.deepEqual(await store.keys("stop/"), [], String(result));
      await assertNothingLeft(folder, store);
    });
  }

  test("an object that is changed while it is read is read again", async () => {
    await store.put("again/x.csv", "id\n1\n");
    let changed = false;
    await using proxy = new StoreProxy(store, async ({ method }) => {
      if (method !== "GET" || changed) return undefined;
      changed = true;
      await store.put("again/x.csv", "id\n1\n2\n");
      return undefined;
    });
    await using folder = await storeProject(proxy.store, "again", {
      "pipelines/p.sql": `INSERT INTO {{ sink('files', 'n', format: 'csv', strategy: 'replace') }}\n` +
        `SELECT count(*) AS n FROM {{ source('store', 'x', format: 'csv', columns: { id: 'int' }) }}\n`,
    }, { entities: RETRY });
    const result = await pzIn(folder, store, "run", "--all");
    assert.equal(result.code, 0, String(result));
    assert.equal(await Deno.readTextFile(folder.join("data", "n", "n.csv")), "n\n2\n");
    await assertNothingLeft(folder, store);
  });
}
