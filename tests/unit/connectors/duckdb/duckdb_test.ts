import assert from "node:assert/strict";
import { findConnector } from "../../../../src/connectors/mod.ts";
import { Bench, texts } from "../bench.ts";

const CONFIG = { path: "w.duckdb" };

function attempt(run: string, ordinal = 1) {
  return { node: "0123456789abcdef", run, ordinal };
}

Deno.test("replace makes the table anew each time", async () => {
  await using bench = await Bench.open("duckdb");
  const copy = bench.copy("t", {}, { config: CONFIG });
  await bench.write(copy, "(SELECT 1 AS a)");
  await bench.write(copy, "(SELECT 'x' AS b)");
  assert.deepEqual(await bench.read(bench.scan("t", {}, undefined, CONFIG)), [["x"]]);
});

Deno.test("append adds rows by name, once for each node and run", async () => {
  await using bench = await Bench.open("duckdb");
  const append = (run: string, ordinal: number) =>
    bench.copy("t", {}, { config: CONFIG, mode: "append", attempt: attempt(run, ordinal) });
  await bench.write(append("run1", 1), "(SELECT 1 AS a, 'x' AS b)");
  await bench.write(append("run1", 2), "(SELECT 1 AS a, 'x' AS b)");
  await bench.write(append("run2", 1), "(SELECT 'y' AS b, 2 AS a)");
  assert.deepEqual(await bench.read(bench.scan("t", {}, undefined, CONFIG)), [["1", "x"], ["2", "y"]]);
});

Deno.test("an append that fails leaves nothing, and its repetition lands", async () => {
  await using bench = await Bench.open("duckdb");
  const copy = bench.copy("t", {}, { config: CONFIG, mode: "append" });
  await assert.rejects(
    bench.write(copy, "(SELECT CASE WHEN i = 5 THEN error('no') ELSE i END AS a FROM range(9) r(i))"),
  );
  await bench.connection.run("ROLLBACK");
  await bench.write(copy, "(SELECT 1 AS a)");
  assert.deepEqual(await bench.read(bench.scan("t", {}, undefined, CONFIG)), [["1"]]);
});

Deno.test("merge updates by key, adds the rest and keeps one row of each key", async () => {
  await using bench = await Bench.open("duckdb");
  const copy = bench.copy("t", {}, { config: CONFIG, mode: "merge", keys: ["id"] });
  await bench.write(copy, "(SELECT * FROM (VALUES (1, 'a'), (2, 'b')) v(id, n))");
  await bench.write(copy, "(SELECT * FROM (VALUES ('c', 2), ('d', 3), ('d', 3)) v(n, id))");
  assert.deepEqual(await bench.read(bench.scan("t", {}, undefined, CONFIG)), [["1", "a"], ["2", "c"], ["3", "d"]]);
});

Deno.test("append and merge refuse columns that the table lacks or has with another type", async () => {
  await using bench = await Bench.open("duckdb");
  await bench.write(bench.copy("t", {}, { config: CONFIG }), "(SELECT 1 AS a, 2 AS extra)");
  for (const mode of ["append", "merge"] as const) {
    const copy = bench.copy("t", {}, { config: CONFIG, mode, keys: ["a"] });
    await assert.rejects(bench.write(copy, "(SELECT 1.5::DOUBLE AS a, 'x' AS b)"), {
      message: /Table "t" does not take these columns: .*a DOUBLE \(there INTEGER\)/,
    });
    await bench.connection.run("ROLLBACK");
    await bench.write(copy, "(SELECT 7 AS a)");
  }
  assert.equal((await bench.read(bench.scan("t", {}, undefined, CONFIG))).length, 2);
});

Deno.test("a contract chooses and types the columns of a table, exactly", async () => {
  await using bench = await Bench.open("duckdb");
  await bench.write(bench.copy("main.t", {}, { config: CONFIG }), "(SELECT 1.5::DOUBLE AS a, 2::BIGINT AS b)");
  assert.deepEqual(await bench.types(bench.scan("t", {}, { b: "int" }, CONFIG)), ["b INTEGER"]);
  await assert.rejects(bench.read(bench.scan("t", {}, { a: "int" }, CONFIG)), /Column "a" holds a value/);
});

Deno.test("a missing database, a folder, a place inside .pz and an odd entity are named", async () => {
  await using bench = await Bench.open("duckdb");
  assert.deepEqual(texts(bench.tryScan("t", {}, undefined, CONFIG)), [
    `PZ0353 There is no database "${bench.dir.join("w.duckdb")}" for connection "files"`,
  ]);
  assert.deepEqual(texts(bench.tryCopy("t", {}, { config: { path: "." } })), [
    `PZ0353 "${bench.dir.path}" is a folder, not a DuckDB database`,
  ]);
  assert.equal(bench.tryCopy("t", {}, { config: { path: ".pz/x.duckdb" } })[0]?.code, "PZ0301");
  assert.deepEqual(texts(bench.tryCopy("a.b.c", {}, { config: CONFIG })), [
    'PZ0353 Entity "a.b.c" is no table of a DuckDB database: expected "table" or "schema.table"',
  ]);
  assert.equal(bench.tryCopy("t", {}, { config: {} })[0]?.code, "PZ0301");
});

Deno.test("the grant is the database file", () => {
  const connector = findConnector("duckdb");
  assert.ok(connector !== undefined && connector !== "planned");
  const { read, write } = connector.grant(CONFIG, { projectRoot: "/srv/p" });
  assert.deepEqual({ read, write }, { read: ["/srv/p/w.duckdb"], write: ["/srv/p/w.duckdb"] });
});

Deno.test("texts of a table get the checks of text files", async () => {
  await using bench = await Bench.open("duckdb");
  await bench.connection.run(`ATTACH '${bench.dir.join("a.db")}' AS made`);
  await bench.connection.run("CREATE TABLE made.t AS SELECT '1.5' AS a, '2' AS b");
  await bench.connection.run("DETACH made");
  const config = { path: "a.db" };
  assert.deepEqual(await bench.read(bench.scan("t", {}, { b: "int" }, config)), [["2"]]);
  await assert.rejects(bench.read(bench.scan("t", {}, { a: "int" }, config)), /Column "a" can't hold '1.5' as INTEGER/);
});

Deno.test("a file that is no database is refused before DuckDB opens it, with what is wrong", async () => {
  await using bench = await Bench.open("duckdb");
  await bench.write(bench.copy("t", {}, { config: CONFIG }), "(SELECT 1 AS a)");
  await bench.connection.run("CHECKPOINT");
  const whole = new Uint8Array(9000);
  whole.set(new TextEncoder().encode("DUCK"), 8);
  const cases: readonly [Uint8Array, string][] = [
    [new Uint8Array(), "is an empty file, not a DuckDB database"],
    [new TextEncoder().encode("PAR1 and more of what is none"), "is no DuckDB database"],
    [new TextEncoder().encode("short"), "is no DuckDB database"],
    [whole, "is a DuckDB database that was cut off after 9000 bytes"],
  ];
  const path = bench.dir.join("broken.duckdb");
  for (const [bytes, trouble] of cases) {
    Deno.writeFileSync(path, bytes);
    const expected = [
      `PZ0353 "${path}" ${trouble} (put the database back from a copy, or take the file away: a write makes a new one)`,
    ];
    const config = { path: "broken.duckdb" };
    assert.deepEqual(texts(bench.tryScan("t", {}, undefined, config)), expected);
    assert.deepEqual(texts(bench.tryCopy("t", {}, { config })), expected);
  }
  if (Deno.build.os === "linux") {
    const problems = bench.tryCopy("t", {}, { config: { path: "/dev/stdin" } });
    assert.match(texts(problems).join(), /^PZ0353 "\/dev\/stdin" is not a regular file/);
  }
});

Deno.test("two connections to one database, one of them through a link, share it", async () => {
  await using bench = await Bench.open("duckdb");
  await bench.write(bench.copy("t", {}, { config: CONFIG }), "(SELECT 1 AS a)");
  await Deno.symlink(bench.dir.join("w.duckdb"), bench.dir.join("link.duckdb"));
  const other = bench.copy("u", {}, { config: { path: "link.duckdb" }, connection: "other" });
  await bench.write(other, "(SELECT 2 AS a)");
  assert.deepEqual(await bench.read(bench.scan("u", {}, undefined, CONFIG)), [["2"]]);
});
