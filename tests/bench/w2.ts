import assert from "node:assert/strict";
import { BINARY } from "../harness/cli.ts";
import { Duck } from "../harness/duck.ts";
import { TempDir, writeFiles } from "../harness/temp_dir.ts";
import type { Sample } from "./cpu.ts";
import { costLine, leastCpu, measurePz, measureRaw, numberAfter, removeFolder, reportGates, say } from "./gates.ts";

/** The most CPU seconds, as a multiple of those of one statement of DuckDB in the same host. */
const LIMIT = 1.5;

/** What is made of an object: all of it, or a row for each of the structs in its list. */
const SHAPES: readonly { readonly name: string; readonly select: string }[] = [
  { name: "kept nested", select: "SELECT *" },
  { name: "unnested", select: "SELECT id, customer.address.city AS city, unnest(items, recursive := true)" },
];

/**
 * W2: objects of three levels with a list of structs, 19-digit numbers, absent keys and a key that comes late (but not
 * behind those that are sampled), to Parquet, against one statement of DuckDB in the same host; both guess the types.
 *
 *     deno task bench w2 [--rows 200000] [--rounds 5]
 */
export async function bench(args: readonly string[]): Promise<void> {
  const rows = numberAfter(args, "--rows", 200_000);
  const rounds = numberAfter(args, "--rounds", 5);
  await using folder = await TempDir.create();
  const source = folder.join("data", "objects.json");
  await Deno.mkdir(folder.join("data"));
  await generate(source, rows);
  say(`W2, ${rows} objects, ${((await Deno.stat(source)).size / 1e6).toFixed(0)} MB, pz from ${BINARY ?? "source"}`);
  for (const { name, select } of SHAPES) {
    await writeFiles(folder.path, project(select));
    const target = folder.join("raw.parquet");
    const samples: Sample[] = [];
    const read = `read_json('${source}', format = 'newline_delimited')`;
    const sql = `COPY (${select} FROM ${read}) TO '${target}' (FORMAT parquet)`;
    for (let round = 0; round <= rounds; round++) {
      const sample = await measureRaw(sql, folder.path);
      if (round > 0) samples.push(sample);
    }
    const pz = await measurePz(["run", "--log-format", "json"], {
      cwd: folder.path,
      rounds,
      before: async () => {
        await removeFolder(folder.join(".pz"));
        await removeFolder(folder.join("out"));
      },
    });
    await assertSame(folder.join("out", "objects", "objects.parquet"), target);
    say(costLine(`raw, ${name}`, { samples }));
    say(costLine(`pz, ${name}`, pz));
    const value = leastCpu(pz) / leastCpu({ samples });
    reportGates([{ what: `JSON to parquet, ${name}, CPU against raw`, value, unit: "x", limit: LIMIT }]);
  }
}

function project(select: string): { readonly [path: string]: string } {
  return {
    "project.yml": `name: nested\nversion: "1"\nengine:\n  threads: 2\n  duckdb: { threads: 2 }\n`,
    "connections.yml": `in: { connector: localfiles, root: data }\nout: { connector: localfiles, root: out }\n`,
    "pipelines/objects.sql": `INSERT INTO {{ sink('out', 'objects', format: 'parquet', strategy: 'replace') }}\n` +
      `${select} FROM {{ source('in', 'objects', format: 'json') }}\n`,
  };
}

/** Writes the objects, a line each, from integer arithmetic on their number. */
async function generate(file: string, rows: number): Promise<void> {
  using duck = await Duck.open();
  await duck.run(`COPY (
    WITH numbers AS (SELECT i, (i * 2654435761) % 4294967296 AS mix FROM range(${rows}) t(i))
    SELECT '{"id":' || (9000000000000000000 + i) ||
      ',"customer":{"name":"Straße \\"' || mix % 9973 || '\\" 東京","address":{"city":"c' || mix % 97 || '","geo":{"lat":' ||
      (mix % 180) / 2.0 || '}}}' ||
      CASE WHEN mix % 100 = 0 THEN '' ELSE ',"at":"2024-01-' || lpad((1 + mix % 28)::VARCHAR, 2, '0') || 'T10:00:00Z"' END ||
      CASE WHEN i < 10000 THEN '' ELSE ',"late":' || mix % 7 END ||
      ',"items":[' || array_to_string(list_transform(range((mix % 6)::BIGINT),
        lambda k: '{"sku":"s' || (mix + k) % 1000 || '","count":' || k || ',"price":' || (mix % 1000) / 4.0 || '}'), ',') ||
      ']}' AS line
    FROM numbers
  ) TO '${file}' (FORMAT csv, HEADER false, QUOTE '', ESCAPE '', DELIMITER '\u0001')`);
}

/** A run whose output is not the same rows is void, not slow. */
async function assertSame(actual: string, expected: string): Promise<void> {
  using duck = await Duck.open();
  assert.deepEqual(await duck.shape(`FROM '${actual}'`), await duck.shape(`FROM '${expected}'`));
  const digest = (file: string) => `SELECT count(*), sum(id::HUGEINT), sum(hash(COLUMNS(*))) FROM '${file}'`;
  assert.deepEqual(await duck.rows(digest(actual)), await duck.rows(digest(expected)));
}
