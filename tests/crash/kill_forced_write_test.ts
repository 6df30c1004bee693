import assert from "node:assert/strict";
import { runPz, startPz } from "../harness/cli.ts";
import { listFiles, TempDir, writeFiles } from "../harness/temp_dir.ts";

const RUN = ["run", "--log-format", "json"];
const ROWS = 1_000_000;

/** Writes through the connector's process, which dies with the pz that started it. */
const PROJECT = {
  "project.yml": `name: killed\nversion: "1"\nengine: { threads: 1, force_universal: true }\n`,
  "connections.yml": "lake:\n  connector: localfiles\n  root: out\n",
};

for (
  const { what, options, old, isWritten } of [
    {
      what: "a file",
      options: "",
      old: "big.csv",
      isWritten: (names: readonly string[]) => names.some((name) => name.startsWith(".big.csv.")),
    },
    {
      what: "a folder of partitions",
      options: ", partition_by: 'k'",
      old: "k=0/big-0.csv",
      isWritten: (names: readonly string[]) => names.some((name) => name.startsWith(".big.")),
    },
  ]
) {
  Deno.test(`killed while a process writes ${what}, the old one stands and the next run leaves nothing beside the new`, async () => {
    await using folder = await TempDir.create();
    await writeFiles(folder.path, {
      ...PROJECT,
      "pipelines/big.sql": `INSERT INTO {{ sink('lake', 'big', format: 'csv', strategy: 'replace'${options}) }}\n` +
        `SELECT range AS n, hash(range) AS h, range % 3 AS k FROM range(${ROWS})\n`,
      [`out/big/${old}`]: "old\n",
    });
    const names = () =>
      ["out", "out/big"].flatMap((path) => [...Deno.readDirSync(folder.join(path))].map(({ name }) => name));
    await using running = startPz(RUN, { cwd: folder.path });
    assert.ok(await running.until(({ event, name }) => event === "node_started" && name === "lake.big"));
    while (!isWritten(names())) await new Promise((resolve) => setTimeout(resolve, 1));

    running.kill("SIGKILL");
    assert.equal((await running.finish()).signal, "SIGKILL");
    assert.equal(Deno.readTextFileSync(folder.join("out/big", old)), "old\n");

    const again = await runPz(RUN, { cwd: folder.path });
    assert.equal(again.code, 0, again.toString());
    const files = await listFiles(folder.join("out"));
    assert.deepEqual(files, options === "" ? ["big/big.csv"] : [0, 1, 2].map((k) => `big/k=${k}/big-0.csv`));
    const lines = files.map((file) => Deno.readTextFileSync(folder.join("out", file)).split("\n").length - 2);
    assert.equal(lines.reduce((sum, count) => sum + count, 0), ROWS);
  });
}
