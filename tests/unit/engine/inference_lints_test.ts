import assert from "node:assert/strict";
import { join } from "node:path";
import type { ConfigMap, NativeScan } from "../../../src/connectors/mod.ts";
import { findConnector } from "../../../src/connectors/mod.ts";
import type { RunEvent } from "../../../src/events/mod.ts";
import { Bench, nativeSource, source } from "./fixture.ts";

type Read = { readonly options?: ConfigMap; readonly columns?: readonly { name: string; type: string }[] };

/** Writes a file into the bench and gives its source as the real connector plans it. */
function fileSource(bench: Bench, file: string, text: string, { options = {}, columns }: Read = {}) {
  Deno.writeTextFileSync(join(bench.root, file), text);
  return source(file.replace(/\..*/, ""), { scan: scanOf(bench, file, { options, ...(columns ? { columns } : {}) }) });
}

function scanOf(bench: Bench, file: string, { options = {}, columns }: Read): NativeScan {
  const connector = findConnector("localfiles");
  if (connector === undefined || connector === "planned") assert.fail("there is no localfiles");
  const spec = {
    connection: "raw",
    entity: file,
    config: { root: bench.root },
    options: { path: file, ...options },
    ...(columns === undefined ? {} : { columns }),
  };
  const scan = connector.nativeScan(spec, { projectRoot: bench.root });
  if (scan?.ok !== true) assert.fail(JSON.stringify(scan));
  return scan.value;
}

function lints(events: readonly RunEvent[]): readonly RunEvent[] {
  return events.filter(({ event }) => event.endsWith("_inference_detected"));
}

Deno.test("whole numbers beyond 2^53 that were guessed to be DOUBLE are told, in staged order", async () => {
  await using bench = await Bench.create();
  const { events, receipt } = await bench.run([
    fileSource(
      bench,
      "t.csv",
      "z,half,small,code,wide,gap\n" +
        "123456789012345678901,1e20,3.0,123456789012345678902,1e60,\n" +
        ",1.5,1e3,5,2,100000000000000000000000\n",
      { options: { format: "csv" } },
    ),
  ]);
  assert.deepEqual(receipt.nodes.map(({ error }) => error), [null]);
  assert.deepEqual(lints(events), [{
    event: "lossy_integer_inference_detected",
    nodeId: "id-t",
    connection: "raw",
    entity: "t",
    columns: ["z", "code", "gap"],
  }]);
  assert.deepEqual(events.map(({ event }) => event).slice(1, 4), [
    "node_started",
    "lossy_integer_inference_detected",
    "node_completed",
  ]);
});

Deno.test("guessed types of JSON are looked at too", async () => {
  await using bench = await Bench.create();
  const { events } = await bench.run([
    fileSource(bench, "t.json", `{"a": 123456789012345678901234, "b": 1}\n{"a": 2, "b": 2.5}\n`, {
      options: { format: "json" },
    }),
  ]);
  assert.deepEqual(lints(events).map((event) => "columns" in event ? event.columns : undefined), [["a"]]);
});

Deno.test("2^53 itself, infinities, an empty file and columns without a value are no reason to warn", async () => {
  await using bench = await Bench.create();
  const guessed = (query: string) => ({ fragment: `(${query})`, setup: [], mechanism: "query", schemaInferred: true });
  const { events } = await bench.run([
    source("a", { scan: guessed("SELECT 9007199254740992::DOUBLE AS a, 'inf'::DOUBLE AS b, NULL::DOUBLE AS c") }),
    source("b", { scan: guessed("SELECT 1e20::DOUBLE AS a WHERE false") }),
    source("c", { scan: guessed("SELECT 'nan'::DOUBLE AS a UNION ALL SELECT 1e20") }),
    source("d", { scan: guessed("SELECT 170141183460469231731687303715884105728::DOUBLE AS a") }),
    nativeSource("e", "SELECT 1e20::DOUBLE AS a"),
  ]);
  assert.deepEqual(lints(events), []);
});

Deno.test("dates whose day and month could be swapped are told, one event for each family", async () => {
  await using bench = await Bench.create();
  const { events, receipt } = await bench.run([
    fileSource(
      bench,
      "t.csv",
      "b,n,a,at\n" +
        "01/02/2024,123456789012345678901,03/04/2024,05/06/2024 10:00:00\n" +
        "03/04/2024,1,,07/08/2024 11:30:00\n",
      { options: { format: "csv" } },
    ),
  ]);
  assert.deepEqual(receipt.nodes.map(({ error }) => error), [null]);
  const of = { nodeId: "id-t", connection: "raw", entity: "t" };
  assert.deepEqual(lints(events), [
    { event: "lossy_integer_inference_detected", ...of, columns: ["n"] },
    { event: "ambiguous_date_inference_detected", ...of, columns: ["b", "a"], format: "%d/%m/%Y" },
    { event: "ambiguous_date_inference_detected", ...of, columns: ["at"], format: "%d/%m/%Y %H:%M:%S" },
  ]);
});

for (
  const [title, rows] of [
    ["one value shows which is the day", "01/02/2024\n13/02/2024\n"],
    ["the year comes first", "2024/01/02\n2024/03/04\n"],
    ["every day equals its month", "01/01/2024\n02/02/2024\n"],
  ] as const
) {
  Deno.test(`dates are not ambiguous where ${title}`, async () => {
    await using bench = await Bench.create();
    const { events, receipt } = await bench.run([
      fileSource(bench, "t.csv", `d\n${rows}`, { options: { format: "csv" } }),
    ]);
    assert.deepEqual(receipt.nodes.map(({ rows, error }) => [rows, error]), [[2, null]]);
    assert.deepEqual(lints(events), []);
  });
}

Deno.test("one column that shows the order of its own does not speak for another", async () => {
  await using bench = await Bench.create();
  const { events } = await bench.run([
    fileSource(bench, "t.csv", "a,b\n01/02/2024,25/02/2024\n", { options: { format: "csv" } }),
  ]);
  assert.deepEqual(lints(events).map((event) => "columns" in event ? event.columns : undefined), [["a"]]);
});

Deno.test("a contract ends both warnings", async () => {
  await using bench = await Bench.create();
  const { events, receipt } = await bench.run([
    fileSource(bench, "t.csv", "n,d\n123456789012345678901,01/02/2024\n", {
      options: { format: "csv" },
      columns: [{ name: "n", type: "double" }, { name: "d", type: "varchar" }],
    }),
  ]);
  assert.deepEqual(receipt.nodes.map(({ error }) => error), [null]);
  assert.deepEqual(lints(events), []);
});

Deno.test("the first rows clear a column only where they can, and later rows decide the rest", async () => {
  await using bench = await Bench.create();
  const guessed = (query: string) => ({ fragment: `(${query})`, setup: [], mechanism: "query", schemaInferred: true });
  const { events } = await bench.run([
    source("t", {
      scan: guessed(
        "SELECT CASE WHEN range >= 50000 THEN 1e20::DOUBLE END AS late, " +
          "CASE WHEN range = 50000 THEN 1e20 ELSE range + 0.5 END::DOUBLE AS cleared, " +
          "CASE WHEN range = 50000 THEN 0.5 ELSE 1e20 END::DOUBLE AS refuted FROM range(60000)",
      ),
    }),
  ]);
  assert.deepEqual(lints(events).map((event) => "columns" in event ? event.columns : undefined), [["late"]]);
});
