import assert from "node:assert/strict";
import { BINARY } from "../harness/cli.ts";
import { Duck } from "../harness/duck.ts";
import { TempDir, writeFiles } from "../harness/temp_dir.ts";
import { costLine, leastCpu, measurePz, numberAfter, removeFolder, reportGates, say } from "./gates.ts";

const ROWS = 200;
/** The most CPU seconds for so many files. */
const LIMITS: readonly (readonly [files: number, limit: number])[] = [[500, 0.9], [5000, 3]];

/**
 * W3: what reading many small CSV files costs whose columns are not declared, named by a wildcard.
 *
 *     deno task bench w3 [--rounds 3]
 */
export async function bench(args: readonly string[]): Promise<void> {
  const rounds = numberAfter(args, "--rounds", 3);
  say(`W3, ${ROWS} rows a file, columns not declared, pz from ${BINARY === undefined ? "source" : "the binary"}`);
  for (const [files, limit] of LIMITS) {
    await using folder = await TempDir.create();
    await writeFiles(folder.path, projectFiles());
    await writeParts(folder.join("data", "parts"), files);
    const costs = await measurePz(["run", "--log-format", "json"], {
      cwd: folder.path,
      rounds,
      before: async () => {
        await removeFolder(folder.join(".pz"));
        await removeFolder(folder.join("out"));
      },
    });
    await assertRows(folder.join("out", "rows", "rows.parquet"), files);
    say(costLine(`${files} files, run`, costs));
    reportGates([{ what: `read ${files} files`, value: leastCpu(costs), unit: " CPU s", limit }]);
  }
}

function projectFiles(): { readonly [path: string]: string } {
  return {
    "project.yml": `name: parts\nversion: "1"\nengine:\n  threads: 2\n  duckdb: { threads: 2 }\n`,
    "connections.yml": `in: { connector: localfiles, root: data }\nout: { connector: localfiles, root: out }\n`,
    "pipelines/rows.sql": `INSERT INTO {{ sink('out', 'rows', format: 'parquet', strategy: 'replace') }}\n` +
      `SELECT * FROM {{ source('in', 'parts', format: 'csv', path: 'parts/*.csv') }}\n`,
  };
}

async function writeParts(folder: string, files: number): Promise<void> {
  await Deno.mkdir(folder, { recursive: true });
  for (let file = 0; file < files; file++) {
    let text = "id,code,amount,due,note\n";
    for (let row = 0; row < ROWS; row++) {
      const id = file * ROWS + row;
      const day = String(1 + id % 28).padStart(2, "0");
      text += `${id},C${id % 9973},${id % 1000}.${String(id % 100).padStart(2, "0")},2020-01-${day},"row, ${id}"\n`;
    }
    await Deno.writeTextFile(`${folder}/part_${String(file).padStart(5, "0")}.csv`, text);
  }
}

/** A run whose output is not the right rows is void, not slow. */
async function assertRows(file: string, files: number): Promise<void> {
  using duck = await Duck.open();
  const rows = BigInt(files) * BigInt(ROWS);
  const found = await duck.rows(`SELECT count(*), sum(id), count(DISTINCT note), min(due) FROM '${file}'`);
  assert.deepEqual(found, [[`${rows}`, `${rows * (rows - 1n) / 2n}`, `${rows}`, "2020-01-01"]]);
}
