import assert from "node:assert/strict";
import { HAS_FAULTS, runWithFault } from "../crash/fault_run.ts";
import { startPostgres } from "../harness/postgres.ts";
import { readReceipt } from "../harness/run_files.ts";
import { TempDir, writeFiles } from "../harness/temp_dir.ts";

const server = await startPostgres();
const ENV = { PG_SECRET: server.password };
const PG = `pg: { connector: postgres, host: ${server.host}, port: ${server.port}, database: ${server.database}, ` +
  `user: ${server.user}, password: '\${PG_SECRET}', retry: { base_delay: 10ms } }\n`;

async function project(files: { readonly [path: string]: string }): Promise<TempDir> {
  const folder = await TempDir.create();
  await writeFiles(folder.path, {
    "project.yml": `name: shop\nversion: "1"\n`,
    "connections.yml": `here: { connector: localfiles }\n${PG}`,
    ...files,
  });
  return folder;
}

Deno.test({
  name: "a run that is killed between partitions is taken up by a retry, which reads those that are missing",
  ignore: !HAS_FAULTS,
  fn: async () => {
    await server.sql("CREATE TABLE parts AS SELECT i AS id, 'row ' || i AS t FROM generate_series(1, 60000) i");
    await using folder = await project({
      "pipelines/copy.sql": "INSERT INTO {{ sink('here', 'out', format: 'csv', strategy: 'replace') }}\n" +
        "SELECT id, t FROM {{ source('pg', 'parts', partition_column: 'id', partitions: 6) }}\n",
    });
    const options = { cwd: folder.path, env: ENV };
    const killed = await runWithFault(["run", "--all"], { ...options, fault: "partition_done:3:kill" });
    assert.equal(killed.signal, "SIGKILL", String(killed));
    // What was read stays as it was read; what is missing is read as it is now.
    await server.sql("UPDATE parts SET t = 'new ' || id");
    const retried = await runWithFault(["retry"], options);
    assert.equal(retried.code, 0, String(retried));
    const load = readReceipt(folder.path).nodes.find(({ kind }) => kind === "SourceLoad");
    assert.equal(load?.rows, 60_000, String(retried));
    const { partitions } = load;
    assert.deepEqual([partitions?.total, partitions?.completed], [6, 6]);
    assert.ok((partitions?.reused ?? 0) >= 3, JSON.stringify(partitions));
    const [file] = await Array.fromAsync(Deno.readDir(folder.join("out")));
    const lines = (await Deno.readTextFile(folder.join("out", file?.name ?? ""))).trimEnd().split("\n").slice(1);
    assert.equal(new Set(lines.map((line) => line.split(",")[0])).size, 60_000);
    const old = lines.filter((line) => line.includes(",row ")).length;
    assert.equal(old, 10_000 * (partitions?.reused ?? 0));
  },
});

for (const action of ["kill", "throw"] as const) {
  Deno.test({
    name: `an append with checkpoint_rows goes on in a retry behind the last row that it committed: ${action}`,
    ignore: !HAS_FAULTS,
    fn: async () => {
      const table = `checkpointed_${action}`;
      await using folder = await project({
        "pipelines/copy.sql": `INSERT INTO {{ sink('pg', '${table}', strategy: 'append', checkpoint_rows: 1000) }}\n` +
          "SELECT range AS id, 'row ' || range AS t FROM range(20000)\n",
      });
      const options = { cwd: folder.path, env: ENV };
      const failed = await runWithFault(["run", "--all"], { ...options, fault: `rows_acknowledged:3:${action}` });
      assert.notEqual(failed.code, 0, String(failed));
      const before = Number((await server.sql(`SELECT count(*) FROM ${table}`))[0]?.[0]);
      const retried = await runWithFault(["retry"], options);
      assert.equal(retried.code, 0, String(retried));
      assert.deepEqual(await server.sql(`SELECT count(*), count(DISTINCT id) FROM ${table}`), [["20000", "20000"]]);
      const sink = readReceipt(folder.path).nodes.find(({ kind }) => kind === "SinkWrite");
      const { resumed_rows: resumed = 0 } = sink?.delivery ?? {};
      // The connector's process may have committed once more before it noticed that it is alone.
      assert.ok(resumed >= Math.max(3000, before) && resumed % 1000 === 0, `${before}, ${resumed}: ${retried}`);
      assert.match(String(retried), new RegExp(`resumed past ${resumed} delivered row`));
    },
  });
}

Deno.test("checkpoint_rows is refused for a merge before anything runs", async () => {
  await using folder = await project({
    "pipelines/copy.sql": "INSERT INTO {{ sink('pg', 'm', strategy: 'merge', keys: ['id'], checkpoint_rows: 10) }}\n" +
      "SELECT range AS id FROM range(5)\n",
  });
  const result = await runWithFault(["plan", "--all"], { cwd: folder.path, env: ENV });
  assert.equal(result.code, 2, String(result));
  assert.match(String(result), /PZ0334.*'checkpoint_rows' of 'pg\.m' needs strategy 'append', not 'merge'/);
});
