import assert from "node:assert/strict";
import { builtinConnectors, type Capability } from "../../src/connectors/mod.ts";

/**
 * A test's file, from the folder of all tests, and what its title begins with, as it is written there; or that DuckDB
 * does it, where the connector only says which rows there are.
 */
type Proof = readonly [file: string, title: string] | "DuckDB's part";

const PG_READ = "connectors/postgres_read_test.ts";
const PG_WRITE = "connectors/postgres_write_test.ts";
const PG_RESUME = "connectors/resume_postgres_test.ts";
const MY_READ = "connectors/mysql_read_test.ts";
const MY_WRITE = "connectors/mysql_strategies_test.ts";
const LITE_READ = "connectors/sqlite_read_test.ts";
const LITE_WRITE = "connectors/sqlite_write_test.ts";
const DUCK = "unit/connectors/duckdb/duckdb_test.ts";
const FILES = "unit/connectors/localfiles";
const WINDOW = "a window's bounds";
const MERGE = "a merge updates, inserts, and lets the row written last win";

/** Which test, on the real system, shows that a connector can do what it says. */
const PROOFS: { readonly [connector: string]: { readonly [capability in Capability]?: Proof } } = {
  duckdb: {
    NativeScan: [DUCK, "a contract chooses and types the columns of a table, exactly"],
    NativeCopy: [DUCK, "append adds rows by name, once for each node and run"],
    ReplaceWrites: [DUCK, "replace makes the table anew each time"],
    Merge: [DUCK, "merge updates by key, adds the rest and keeps one row of each key"],
    Transactional: [DUCK, "an append that fails leaves nothing, and its repetition lands"],
    BoundedWindow: "DuckDB's part",
    InclusiveWatermarkBound: "DuckDB's part",
  },
  generate: {},
  http: {
    GatedOperations: ["connectors/http_pipeline_test.ts", "a page that fails for a moment is asked for again"],
    StablePartitionIds: ["connectors/http_pipeline_test.ts", "a retry of a failed read asks for no page again"],
    CheckpointableReads: ["connectors/http_read_test.ts", "pages by ${name} give every record once"],
    Merge: ["connectors/http_write_test.ts", "a merge sends each row to the place of its key"],
    CheckpointableWrites: [
      "connectors/http_write_test.ts",
      "a write goes on behind the rows that the server confirmed",
    ],
  },
  localfiles: {
    NativeScan: [
      `${FILES}/declared_test.ts`,
      "declared columns are bound by the header's names, and only they are read",
    ],
    NativeCopy: [`${FILES}/exact_write_test.ts`, "a value written to Parquet comes back as it was"],
    PartitionedRead: [`${FILES}/child_read_test.ts`, "files are shared out to partitions, so many to each"],
    ReplaceWrites: [`${FILES}/child_write_test.ts`, "a file has its final name when all of it is there"],
    BoundedWindow: "DuckDB's part",
    ColumnPartitionedWrites: [`${FILES}/partitions_test.ts`, "partition_by writes a folder for each value"],
  },
  mysql: {
    ColumnPruning: [MY_READ, "names are read as they are spelled, whatever they hold"],
    PredicatePushdown: [MY_READ, "a predicate changes no result that DuckDB's own filter would give"],
    PartitionedRead: [MY_READ, "the parts by a column of ${type} (${make}) make up the whole"],
    StablePartitionIds: [MY_READ, "a plan after an earlier one divides as before"],
    Merge: [MY_WRITE, MERGE],
    Transactional: [MY_WRITE, "a server that loses the connection mid-write keeps nothing"],
    ReplaceWrites: [MY_WRITE, "a replace keeps columns, indexes and defaults"],
    BoundedWindow: [MY_READ, WINDOW],
    InclusiveWatermarkBound: [MY_READ, WINDOW],
  },
  postgres: {
    ColumnPruning: [PG_READ, "hinted columns come alone, in the hint's order"],
    PredicatePushdown: [PG_READ, "a predicate changes no result that DuckDB's own filter would give"],
    PartitionedRead: [PG_READ, "the parts by a column of ${type} (${make}) make up the whole"],
    StablePartitionIds: [PG_RESUME, "another attempt at a divided read divides alike"],
    Merge: [PG_WRITE, MERGE],
    Transactional: [PG_WRITE, "a server that loses the connection mid-write keeps nothing"],
    ReplaceWrites: [PG_WRITE, "a replace keeps the table, its rights and indexes"],
    CheckpointableWrites: [PG_RESUME, "an append with checkpoints keeps what it committed, and goes on behind it"],
    BoundedWindow: [PG_READ, WINDOW],
    InclusiveWatermarkBound: [PG_READ, WINDOW],
  },
  s3: {
    GatedOperations: ["connectors/s3_failure_test.ts", "a store that is busy for a while is asked again"],
    ReplaceWrites: ["connectors/s3_store_test.ts", "a replace of a folder deletes what else stands below it"],
    ColumnPartitionedWrites: ["connectors/s3_pipeline_test.ts", "partition_by makes an object for each value"],
  },
  sqlite: {
    ColumnPruning: [LITE_READ, "names are read as they are spelled, views and tables without rowids too"],
    PredicatePushdown: [LITE_READ, "a predicate changes no result that DuckDB's own filter would give"],
    PartitionedRead: [LITE_READ, "the parts by ${what} make up the whole"],
    StablePartitionIds: [LITE_READ, "a plan after an earlier one divides as before"],
    Merge: [LITE_WRITE, MERGE],
    Transactional: [LITE_WRITE, "an aborted write leaves nothing in the file"],
    ReplaceWrites: [LITE_WRITE, "a replace keeps the table with its indexes"],
    BoundedWindow: [LITE_READ, WINDOW],
    InclusiveWatermarkBound: [LITE_READ, WINDOW],
  },
};

for (const { name, capabilities } of builtinConnectors()) {
  Deno.test(`what ${name} says that it can do, and nothing else, is shown by a test`, async () => {
    const proofs = Object.entries(PROOFS[name] ?? {});
    assert.deepEqual(proofs.map(([capability]) => capability).sort(), [...capabilities].sort());
    for (const [capability, proof] of proofs) {
      if (proof === "DuckDB's part") {
        assert.ok(capabilities.has("NativeScan"), capability);
        continue;
      }
      const [file, title] = proof;
      const source = await Deno.readTextFile(new URL(`../${file}`, import.meta.url));
      const isThere = [`test("${title}`, `test(\`${title}`].some((start) => source.includes(start));
      assert.ok(isThere, `${capability}: there is no test "${title}" in ${file}`);
    }
  });
}
