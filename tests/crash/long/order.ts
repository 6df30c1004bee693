import assert from "node:assert/strict";
import { runPz } from "../../harness/cli.ts";
import { Duck } from "../../harness/duck.ts";
import { TextLineStream } from "../../harness/lines.ts";
import { TempDir, writeFiles } from "../../harness/temp_dir.ts";

const ROWS = 5_000_000;

const sorted = (format: string) =>
  `INSERT INTO {{ sink('lake', 'sorted_${format}', format: '${format}', strategy: 'replace') }}\n` +
  `SELECT (hash(i) >> 1)::BIGINT AS k, i FROM {{ ref('numbers') }} ORDER BY k\n`;

const PROJECT = {
  "project.yml": `name: ordered\nversion: "1"\nengine: { threads: 2, staging: always }\n`,
  "connections.yml": "lake:\n  connector: localfiles\n  root: out\n",
  "pipelines/numbers.sql": `SELECT range AS i FROM range(${ROWS})\n`,
  "pipelines/sorted_csv.sql": sorted("csv"),
  "pipelines/sorted_parquet.sql": sorted("parquet"),
};

/** Rows that stand behind a greater one, in files written from five million staged rows with an ORDER BY. */
export type Inversions = { readonly rows: number; readonly csv: number; readonly parquet: number };

/** Writes five million ordered rows into a CSV and a Parquet file and counts the inversions in both. */
export async function countInversions(): Promise<Inversions> {
  await using folder = await TempDir.create();
  await writeFiles(folder.path, PROJECT);
  const result = await runPz(["run", "--all"], { cwd: folder.path });
  assert.equal(result.code, 0, result.toString());

  const csv = await csvInversions(folder.join("out", "sorted_csv", "sorted_csv.csv"));
  using duck = await Duck.open();
  const file = folder.join("out", "sorted_parquet", "sorted_parquet.parquet");
  const [[rows, parquet] = []] = await duck.rows(
    `SELECT count(*) AS rows, count(*) FILTER (WHERE k < before) AS inversions FROM ` +
      `(SELECT k, lag(k) OVER (ORDER BY file_row_number) AS before FROM read_parquet('${file}', file_row_number = true))`,
  );
  assert.equal(Number(rows), ROWS);
  return { rows: ROWS, csv, parquet: Number(parquet) };
}

async function csvInversions(path: string): Promise<number> {
  using file = await Deno.open(path);
  let before = -1n, inversions = 0, rows = -1;
  const lines = file.readable.pipeThrough(new TextDecoderStream()).pipeThrough(new TextLineStream());
  for await (const line of lines) {
    if (++rows === 0) continue;
    const key = BigInt(line.slice(0, line.indexOf(",")));
    if (key < before) inversions++;
    before = key;
  }
  assert.equal(rows, ROWS);
  return inversions;
}
