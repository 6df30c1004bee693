import assert from "node:assert/strict";
import { type RunningPz, runPz, startPz } from "../harness/cli.ts";
import { TestHttp } from "../harness/http_server.ts";
import { TempDir, writeFiles } from "../harness/temp_dir.ts";

const ROWS = 2000;
const REQUEST_ROWS = 100;

Deno.test("killed while a server holds its answer, an append loses no row, doubles one request's, and says so", async () => {
  const taken: string[] = [];
  let requests = 0;
  const started = Promise.withResolvers<RunningPz>();
  await using server = new TestHttp(async ({ body }) => {
    taken.push(...body.split("\n").filter((line) => line !== ""));
    if (++requests === 5) {
      const running = await started.promise;
      running.kill("SIGKILL");
      await running.finish();
    }
    return new Response(null, { status: 202 });
  });
  await using folder = await TempDir.create();
  await writeFiles(folder.path, {
    "project.yml": `name: killed\nversion: "1"\n`,
    "connections.yml": `api:\n  connector: http\n  base_url: ${server.origin}\n`,
    "pipelines/log.sql": "INSERT INTO {{ sink('api', 'log', path: '/log', strategy: 'append', body_format: 'ndjson', " +
      `rows_per_request: ${REQUEST_ROWS}) }}\nSELECT range AS id FROM range(${ROWS})\n`,
  });
  await using killed = startPz(["run"], { cwd: folder.path });
  started.resolve(killed);
  assert.equal((await killed.finish()).signal, "SIGKILL");

  const retried = await runPz(["retry"], { cwd: folder.path });
  assert.equal(retried.code, 0, String(retried));
  assert.equal(new Set(taken).size, ROWS);
  assert.equal(taken.length - ROWS, REQUEST_ROWS);
  assert.match(
    `${retried.stdout}${retried.stderr}`,
    /'api\.log' goes on after 400 delivered row\(s\); what was on its way when run \S+ stopped is sent again, and may be there twice/,
  );
});
