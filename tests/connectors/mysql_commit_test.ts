import assert from "node:assert/strict";
import { runPz } from "../harness/cli.ts";
import { needsMariaDb, startMariaDb } from "../harness/mariadb.ts";
import { TempDir, writeFiles } from "../harness/temp_dir.ts";
import { CuttingProxy } from "./cutting_proxy_support.ts";

const LOST = {
  answer: "whose commit landed without an answer",
  question: "whose commit never reached the server",
} as const;

/** The statement after which the rows are there. */
const PUBLISHES = { append: "COMMIT", replace: "RENAME TABLE", merge: "COMMIT" } as const;

if (needsMariaDb("the mysql commit suite")) await suite();

async function suite(): Promise<void> {
  const server = await startMariaDb();
  for (const cut of ["answer", "question"] as const) {
    for (const strategy of ["append", "replace", "merge"] as const) {
      Deno.test(`an ${strategy} ${LOST[cut]} is repeated, and every row is there once`, async () => {
        await using proxy = new CuttingProxy(server, PUBLISHES[strategy], cut);
        await using folder = await TempDir.create();
        const table = `${strategy}_${cut}`;
        await server.sql(`CREATE TABLE ${table} (n bigint${strategy === "append" ? "" : " PRIMARY KEY"}, t text)`);
        const keys = strategy === "merge" ? ", keys: ['n']" : "";
        await writeFiles(folder.path, {
          "project.yml": `name: shop\nversion: "1"\n`,
          "connections.yml": "here: { connector: localfiles }\n" +
            `my: { connector: mysql, host: 127.0.0.1, port: ${proxy.port}, database: d, user: pz, ` +
            "password: '${MY_SECRET}', ssl_mode: disable, retry: { base_delay: 10ms } }\n",
          "in.csv": "n,t\n1,a\n2,b\n3,c\n",
          "pipelines/rows.sql": `INSERT INTO {{ sink('my', '${table}', strategy: '${strategy}'${keys}) }}\n` +
            "SELECT n, t FROM {{ source('here', 'in') }}\n",
        });
        const result = await runPz(["run"], { cwd: folder.path, env: { MY_SECRET: server.password } });
        assert.equal(result.code, 0, String(result));
        assert.equal(proxy.cuts, 1);
        assert.deepEqual(await server.sql(`SELECT n, t FROM ${table} ORDER BY n`), [["1", "a"], ["2", "b"], [
          "3",
          "c",
        ]]);
        const left = "SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_NAME RLIKE '^pz_(new|old)'";
        assert.deepEqual(await server.sql(left), [["0"]]);
      });
    }
  }
}
