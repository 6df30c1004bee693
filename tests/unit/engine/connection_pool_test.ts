import assert from "node:assert/strict";
import type { DagNode } from "../../../src/compile/mod.ts";
import { ConnectionPool, leavesConnectionsAlone } from "../../../src/engine/connection_pool.ts";
import { openStaging, type Staging } from "../../../src/staging/mod.ts";
import { TempDir } from "../../harness/temp_dir.ts";
import { check, pipeline } from "./fixture.ts";

const GOES_ON = new AbortController().signal;

async function withStaging(work: (staging: Staging) => Promise<void>): Promise<void> {
  await using folder = await TempDir.create();
  await using staging = await openStaging({
    file: folder.join("staging.duckdb"),
    memoryLimitBytes: 500_000_000,
    threads: 1,
    tempDirectory: folder.join("spill"),
    allowedPaths: { files: [], folders: [] },
    preserveInsertionOrder: false,
  });
  await work(staging);
}

Deno.test("a connection whose work ended well is lent again, and two works never share one", () =>
  withStaging(async (staging) => {
    const pool = new ConnectionPool(staging);
    const plain = { reuse: true, signal: GOES_ON };
    const id = () =>
      pool.lend(plain, async (connection) => {
        const mine = await connection.integer("SELECT current_connection_id()");
        assert.equal(await connection.integer("SELECT current_connection_id()"), mine);
        return mine;
      });
    const first = await id();
    assert.equal(await id(), first);
    assert.equal(new Set(await Promise.all([id(), id(), id()])).size, 3);
  }));

Deno.test("a connection that saw an error, a stop or other work than plain statements is never lent again", () =>
  withStaging(async (staging) => {
    const pool = new ConnectionPool(staging);
    const seen = new Set<bigint>();
    const see = async (options: { reuse: boolean; signal: AbortSignal }, sql = "SELECT 1") => {
      await pool.lend(options, async (connection) => {
        const id = await connection.integer("SELECT current_connection_id()");
        assert.ok(!seen.has(id), "lent again");
        seen.add(id);
        await connection.run(sql);
      });
    };
    await assert.rejects(see({ reuse: true, signal: GOES_ON }, "BEGIN; SELECT 1/0::INTEGER FROM missing"));
    await see({ reuse: false, signal: GOES_ON }, "USE memory");
    await see({ reuse: true, signal: AbortSignal.abort() });
    await see({ reuse: true, signal: GOES_ON });
    assert.equal(seen.size, 4);
  }));

Deno.test("texts that may change their connection switch the reuse off, in pipelines and in checks", () => {
  const nodes = (...list: readonly (readonly [DagNode, unknown])[]) => ({ nodes: list.map(([node]) => node) });
  const plain = [pipeline("a", "SELECT settled, offset_id FROM x"), check("c", "a", { type: "not_null" })];
  assert.equal(leavesConnectionsAlone(nodes(...plain)), true);
  for (const sql of ["SELECT SetSeed(0.5)", "FROM enable_profiling()", "FROM disable_optimizer()", "FROM query('x')"]) {
    assert.equal(leavesConnectionsAlone(nodes(...plain, pipeline("b", sql))), false, sql);
    assert.equal(leavesConnectionsAlone(nodes(...plain, check("d", "a", { type: "custom_sql", sql }))), false, sql);
  }
});
