import { join } from "node:path";
import { drainArrow, ingestArrow, openStaging } from "../../../src/staging/mod.ts";
import { TempDir } from "../../harness/temp_dir.ts";

/** Lists, structs and texts, some of them NULL. */
const ROW = "range AS id, [range, NULL, range + 1] AS ids, " +
  "CASE WHEN range % 17 <> 3 THEN {'name': 'name ' || range, 'amounts': [range / 7.0, NULL]} END AS detail, " +
  "[{'sku': md5(range::VARCHAR), 'count': range % 5}] AS items";

/**
 * Moves rows with lists and structs out of a DuckDB as Arrow batches and straight into another table, where they must be
 * the same.
 *
 * @throws {Error} when a row is lost or changed
 */
export async function moveThroughArrow(rows: number): Promise<void> {
  await using folder = await TempDir.create();
  await using staging = await openStaging({
    file: join(folder.path, "staging.duckdb"),
    memoryLimitBytes: 2 * 2 ** 30,
    threads: 2,
    tempDirectory: join(folder.path, "spill"),
    allowedPaths: { files: [], folders: [] },
    preserveInsertionOrder: false,
  });
  using reader = await staging.connect();
  using writer = await staging.connect();
  await reader.run(`CREATE TABLE staging.source AS SELECT ${ROW} FROM range(${rows})`);
  const { schema, batches } = await drainArrow(reader, "source", { batchBytes: 1 << 20 });
  await ingestArrow(writer, "copy", schema, batches, {});
  const digest = (table: string) =>
    reader.rows(`SELECT count(*), sum(hash(id, ids, detail, items)) FROM staging.${table}`);
  const [source, copy] = [await digest("source"), await digest("copy")];
  if (String(source) !== String(copy)) throw new Error(`${source} left as ${copy}`);
}

/** Runs in a process of its own, whose V8 flags are given to its runtime. */
if (import.meta.main) await moveThroughArrow(Number(Deno.args[0]));
