import assert from "node:assert/strict";
import type { NativeScan } from "../../../src/connectors/mod.ts";
import { Bench, nativeSource, pipeline, source } from "./fixture.ts";

const BROKEN: NativeScan = {
  fragment: "(SELECT CAST('x' AS INTEGER) AS i)",
  setup: [],
  mechanism: "query",
  schemaInferred: false,
};

Deno.test("a scan that fails is explained by the connector, with the place in the user's file", async () => {
  await using bench = await Bench.create();
  const explained = {
    ...BROKEN,
    diagnose: async (query: (sql: string) => Promise<readonly (readonly (string | null)[])[]>) => {
      const [[value] = []] = await query("SELECT 'x'");
      const message = `Column "i" holds "${value}"`;
      return { message, file: `${bench.root}/data/a.csv`, line: 7, column: "i", hint: "correct the file" };
    },
  };
  const elsewhere = {
    ...BROKEN,
    diagnose: () => Promise.resolve({ message: "bad", file: "/far/b.csv", line: undefined, column: "i", hint: "h" }),
  };
  const { receipt } = await bench.run([source("a", { scan: explained }), source("b", { scan: elsewhere })]);
  const errors = Object.fromEntries(receipt.nodes.map(({ name, error }) => [name, error]));
  assert.deepEqual(errors, {
    a: { code: "PZ0501", message: `Column "i" holds "x" (data/a.csv:7)\nhint: correct the file`, cause: "read" },
    b: { code: "PZ0501", message: "bad (/far/b.csv)\nhint: h", cause: "read" },
  });
});

Deno.test("DuckDB's own error stands where the connector finds nothing or fails to look", async () => {
  await using bench = await Bench.create();
  const { receipt } = await bench.run([
    source("a", { scan: { ...BROKEN, diagnose: () => Promise.resolve(undefined) } }),
    source("b", { scan: { ...BROKEN, diagnose: () => Promise.reject(new Error("lost")) } }),
  ]);
  for (const { error } of receipt.nodes) {
    assert.match(error?.message ?? "", /Could not convert string 'x'/);
    assert.equal(error?.cause, "read");
  }
});

Deno.test("a scan whose types were guessed is asked once, and its answer is loaded", async () => {
  await using bench = await Bench.create();
  let asked = 0;
  const guessed = {
    ...BROKEN,
    schemaInferred: true,
    infer: async (query: (sql: string) => Promise<readonly (readonly (string | null)[])[]>) => {
      asked++;
      const [[value] = []] = await query("SELECT 42");
      return { ...BROKEN, fragment: `(SELECT ${value} AS i)` };
    },
  };
  const { receipt } = await bench.run([
    source("a", { scan: guessed }),
    pipeline("p", "SELECT * FROM staging.a WHERE i = 42", ["a"]),
  ]);
  assert.deepEqual([asked, receipt.nodes.map(({ rows }) => rows)], [1, [1, 1]]);
});

Deno.test("setup runs once for all nodes that ask for the same text", async () => {
  await using bench = await Bench.create();
  const scan = (table: string): NativeScan => ({
    fragment: `staging.${table}`,
    setup: ["CREATE TABLE staging.prepared AS SELECT 1 AS i"],
    mechanism: "query",
    schemaInferred: false,
  });
  const { receipt } = await bench.run([
    source("a", { scan: scan("prepared") }),
    source("b", { scan: scan("prepared") }),
  ]);
  assert.deepEqual(receipt.nodes.map(({ rows, error }) => [rows, error]), [[1, null], [1, null]]);
});

Deno.test("only what the run's native nodes open is within reach of a pipeline's SQL", async () => {
  await using bench = await Bench.create();
  const outside = await Deno.makeTempDir({ prefix: "pz-outside-" });
  try {
    Deno.writeTextFileSync(`${outside}/granted.csv`, "n\n1\n");
    Deno.writeTextFileSync(`${outside}/secret.csv`, "n\n1\n");
    const [node, plan] = nativeSource("a", `SELECT * FROM read_csv('${outside}/granted.csv')`);
    assert.ok(plan.scan !== undefined);
    const reads = { files: [`${outside}/granted.csv`], folders: [] };
    const { receipt } = await bench.run([
      [node, { ...plan, scan: { ...plan.scan, reads } }],
      pipeline("p", `SELECT * FROM read_csv('${outside}/secret.csv')`),
    ]);
    const errors = Object.fromEntries(receipt.nodes.map(({ name, error }) => [name, error?.cause ?? null]));
    assert.deepEqual(errors, { a: null, p: "denied" });
  } finally {
    Deno.removeSync(outside, { recursive: true });
  }
});
