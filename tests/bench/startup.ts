import { BINARY } from "../harness/cli.ts";
import { TempDir, writeFiles } from "../harness/temp_dir.ts";
import { costLine, leastCpu, measurePz, numberAfter, removeFolder, reportGates, say } from "./gates.ts";
import { layeredProject } from "./w6_project.ts";

/** The most CPU seconds from start to exit, for pz from its source and as a binary; undefined: only told. */
const LIMITS = {
  version: { source: undefined, binary: 0.08 },
  ls: { source: undefined, binary: 0.15 },
  run: { source: 0.5, binary: 0.4 },
} as const;

const THREE_ROWS = {
  "project.yml": `name: three\nversion: "1"\n`,
  "connections.yml": `in:\n  connector: localfiles\n  root: data\n  entities:\n` +
    `    rows: { read: { format: csv, columns: { id: bigint, name: varchar } } }\n` +
    `out: { connector: localfiles, root: out }\n`,
  "data/rows.csv": "id,name\n1,a\n2,b\n3,c\n",
  "pipelines/copy_rows.sql": `INSERT INTO {{ sink('out', 'rows', format: 'csv', strategy: 'replace') }}\n` +
    `SELECT * FROM {{ source('in', 'rows') }}\n`,
};

/**
 * W8: from start to exit of what should be there at once: `--version`, `ls` on ten nodes, a run of three rows. On a
 * machine with nothing else to do the seconds on the clock are about those of the CPU.
 *
 *     deno task bench startup [--rounds 9]
 */
export async function bench(args: readonly string[]): Promise<void> {
  const rounds = numberAfter(args, "--rounds", 9);
  say(`W8, pz from ${BINARY === undefined ? "source" : "the binary"}`);
  await using ten = await TempDir.create();
  await writeFiles(ten.path, layeredProject(7, 1).files);
  await using three = await TempDir.create();
  await writeFiles(three.path, THREE_ROWS);
  const costs = {
    version: await measurePz(["--version"], { cwd: ten.path, rounds }),
    ls: await measurePz(["ls"], { cwd: ten.path, rounds }),
    run: await measurePz(["run"], { cwd: three.path, rounds, before: () => removeFolder(three.join(".pz")) }),
  };
  for (const verb of ["version", "ls", "run"] as const) {
    say(costLine(verb, costs[verb]));
    const limit = LIMITS[verb][BINARY === undefined ? "source" : "binary"];
    const gate = { what: `${verb}, start to exit`, value: leastCpu(costs[verb]), unit: " CPU s" };
    reportGates([limit === undefined ? gate : { ...gate, limit }]);
  }
}
