import assert from "node:assert/strict";
import { findConnector } from "../../../../src/connectors/mod.ts";
import { listFiles, writeFiles } from "../../../harness/temp_dir.ts";
import { Bench, texts } from "../bench.ts";

Deno.test("an entity is the file of its name and format under the root, csv unless said otherwise", async () => {
  await using bench = await Bench.open();
  await writeFiles(bench.dir.path, { "data/orders.csv": "id\n1\n", "data/orders.json": '{"id":2}\n' });
  assert.deepEqual(await bench.read(bench.scan("orders", {}, { id: "int" }, { root: "data" })), [["1"]]);
  assert.deepEqual(await bench.read(bench.scan("orders", { format: "json" }, { id: "int" }, { root: "data" })), [[
    "2",
  ]]);
});

Deno.test("without a root a relative path starts at the project", async () => {
  await using bench = await Bench.open();
  await writeFiles(bench.dir.path, { "in/a.csv": "id\n1\n" });
  assert.deepEqual(await bench.read(bench.scan("x", { path: "in/a.csv" }, { id: "int" })), [["1"]]);
});

Deno.test("an absolute path ignores the root", async () => {
  await using bench = await Bench.open();
  await writeFiles(bench.dir.path, { "a.csv": "id\n1\n" });
  const scan = bench.scan("x", { path: bench.dir.join("a.csv") }, { id: "int" }, { root: "elsewhere" });
  assert.deepEqual(await bench.read(scan), [["1"]]);
  assert.deepEqual(scan.reads, { files: [bench.dir.join("a.csv")], folders: [] });
});

Deno.test("a path that leaves a declared root is refused, and only a declared one", async () => {
  await using bench = await Bench.open();
  await writeFiles(bench.dir.path, { "a.csv": "id\n1\n", "data/b.csv": "id\n" });
  assert.deepEqual(texts(bench.tryScan("x", { path: "../a.csv" }, undefined, { root: "data" })), [
    `PZ0365 Path "../a.csv" leads out of the connection's root "${bench.dir.join("data")}" ` +
    `(keep it inside the root, or give an absolute path)`,
  ]);
  assert.equal(bench.tryCopy("../out", {}, { config: { root: "data" } })[0]?.code, "PZ0365");
  assert.equal(bench.tryScan("x", { path: "../nothing.csv" })[0]?.code, "PZ0353");
});

Deno.test("a link that leads out of the root is refused, whether named or matched by a pattern", async () => {
  await using bench = await Bench.open();
  await writeFiles(bench.dir.path, { "secret/a.csv": "id\n1\n", "data/ok.csv": "id\n1\n" });
  await Deno.symlink(bench.dir.join("secret"), bench.dir.join("data/way"));
  await Deno.symlink(bench.dir.join("secret/a.csv"), bench.dir.join("data/link.csv"));
  const config = { root: "data" };
  for (const path of ["link.csv", "way/a.csv", "way/*.csv", "*.csv"]) {
    assert.equal(bench.tryScan("x", { path }, undefined, config)[0]?.code, "PZ0365", path);
  }
  assert.equal(bench.tryCopy("way", {}, { config })[0]?.code, "PZ0365");
});

Deno.test("a root that is itself a link holds its own files", async () => {
  await using bench = await Bench.open();
  await writeFiles(bench.dir.path, { "real/a.csv": "id\n1\n" });
  await Deno.symlink(bench.dir.join("real"), bench.dir.join("data"));
  assert.deepEqual(bench.tryScan("a", {}, undefined, { root: "data" }), []);
});

Deno.test("a missing file, a pattern without a match and a folder are named", async () => {
  await using bench = await Bench.open();
  await writeFiles(bench.dir.path, { "folder/a.csv": "id\n" });
  assert.deepEqual(texts(bench.tryScan("orders")), [
    `PZ0353 There is no file "${bench.dir.join("orders.csv")}" for entity "orders" ` +
    "(put the file there, or name another with path:)",
  ]);
  assert.deepEqual(texts(bench.tryScan("orders", { path: "folder/*.tsv" })), [
    `PZ0353 No file matches "${bench.dir.join("folder/*.tsv")}" for entity "orders"`,
  ]);
  assert.deepEqual(texts(bench.tryScan("orders", { path: "folder" })), [
    `PZ0353 "${bench.dir.join("folder")}" is a folder, not a file ` +
    `(name its files with a pattern, such as path: "orders/*.parquet")`,
  ]);
});

Deno.test("format and its options are checked", async () => {
  await using bench = await Bench.open();
  await writeFiles(bench.dir.path, { "x.csv": "a\n", "x.tsv": "a\n", "x.json": "" });
  const cases: readonly [{ [option: string]: string }, string][] = [
    [{ format: "xml" }, 'PZ0361 Unknown format "xml": expected one of csv, tsv, parquet, json, xlsx, avro'],
    [
      { format: "xlsx" },
      'PZ0361 Format "xlsx" needs a DuckDB extension that pz does not ship (convert the file to csv, tsv, json or parquet)',
    ],
    [
      { format: "tsv", delimiter: ";" },
      'PZ0362 Option "delimiter" belongs to format "csv", not to "tsv" (tsv is always separated by tabs)',
    ],
    [
      { delimiter: ";;" },
      'PZ0362 Option "delimiter" is ";;": expected one ASCII character, not a quote or a line break',
    ],
    [{ layout: "array" }, 'PZ0362 Option "layout" belongs to format "json", not to "csv"'],
    [{ format: "json", layout: "lines" }, 'PZ0362 Option "layout" is "lines": expected "ndjson" or "array"'],
    [{ sheet: "1" }, 'PZ0362 Option "sheet" belongs to format "xlsx", not to "csv"'],
    [{ path: " " }, 'PZ0301 Option "path" is " ": expected a path'],
  ];
  for (const [options, message] of cases) assert.deepEqual(texts(bench.tryScan("x", options)), [message]);
  assert.deepEqual(texts(bench.tryCopy("x", { format: "avro" })), ['PZ0361 Format "avro" can only be read']);
  assert.deepEqual(texts(bench.tryCopy("x", { path: "a*" })), [
    'PZ0301 Option "path" is "a*": a write takes no wildcards',
  ]);
  assert.deepEqual(texts(bench.tryScan("x", {}, undefined, { root: 5 })), [
    'PZ0301 Setting "root" is 5: expected a folder (put it in quotes, as in root: "${NAME}", to keep it a text)',
  ]);
});

Deno.test("replace writes the entity's folder, through a temporary name in the same folder", async () => {
  await using bench = await Bench.open();
  for (const format of ["csv", "tsv", "json", "parquet"]) {
    const copy = bench.copy("out", { format }, { config: { root: "data" } });
    assert.deepEqual(copy.folders, [bench.dir.join("data/out")]);
    assert.equal(copy.moves[0]?.to, bench.dir.join(`data/out/out.${format}`));
    await bench.write(copy, "(SELECT 1 AS a)");
    await bench.write(copy, "(SELECT 2 AS a)");
    const scan = bench.scan("out", { format, path: `data/out/out.${format}` }, { a: "int" });
    assert.deepEqual(await bench.read(scan), [["2"]], format);
  }
  assert.deepEqual(await listFiles(bench.dir.join("data/out")), ["out.csv", "out.json", "out.parquet", "out.tsv"]);
});

Deno.test("append adds a file named by node and run, so that a repetition replaces its own", async () => {
  await using bench = await Bench.open();
  const write = async (run: string, value: number, ordinal: number) => {
    const attempt = { node: "0123456789abcdef", run, ordinal };
    await bench.write(bench.copy("out", { format: "csv" }, { mode: "append", attempt }), `(SELECT ${value} AS a)`);
  };
  await write("run1", 1, 1);
  await write("run1", 1, 2);
  await write("run2", 2, 1);
  assert.deepEqual(await listFiles(bench.dir.join("out")), ["out-01234567-run1.csv", "out-01234567-run2.csv"]);
  assert.deepEqual(await bench.read(bench.scan("out", { path: "out/*.csv" }, { a: "int" })), [["1"], ["2"]]);
});

Deno.test("a path with the format's extension is the file, any other the folder", async () => {
  await using bench = await Bench.open();
  const target = (options: { [option: string]: string }, entity = "out") => bench.copy(entity, options).moves[0]?.to;
  assert.equal(target({ path: "x/report.parquet" }), bench.dir.join("x/report.parquet"));
  assert.equal(target({ path: "x/report.csv" }), bench.dir.join("x/report.csv/out.parquet"));
  assert.equal(target({ path: "x" }), bench.dir.join("x/out.parquet"));
  assert.equal(target({}, "raw/orders"), bench.dir.join("raw/orders/orders.parquet"));
});

Deno.test("a target that a file or a folder blocks is named", async () => {
  await using bench = await Bench.open();
  await writeFiles(bench.dir.path, { "out": "", "y/y.parquet/a": "" });
  assert.deepEqual(texts(bench.tryCopy("out", {})), [
    `PZ0353 Cannot write into "${bench.dir.join("out")}": it is a file, and a folder is needed`,
  ]);
  assert.deepEqual(texts(bench.tryCopy("y", {})), [
    `PZ0353 Cannot write "${bench.dir.join("y/y.parquet")}": it is a folder`,
  ]);
});

Deno.test("the grant is the root, absolute", () => {
  const connector = findConnector("localfiles");
  assert.ok(connector !== undefined && connector !== "planned");
  const context = { projectRoot: "/srv/p" };
  assert.deepEqual(connector.grant({}, context), { net: [], read: ["/srv/p"], write: ["/srv/p"], env: [] });
  assert.deepEqual(connector.grant({ root: "../d" }, context).read, ["/srv/d"]);
});

Deno.test("every connector of the contract is known by name, built or planned", () => {
  const names = "localfiles postgres s3 sqlserver azureblob gcs http mysql sqlite duckdb ducklake motherduck quack " +
    "iceberg sftp";
  for (const name of names.split(" ")) assert.notEqual(findConnector(name), undefined, name);
  assert.equal(findConnector("nope"), undefined);
});

Deno.test("a name that is too long for a file is told in short, with room for what a write adds to it", async () => {
  await using bench = await Bench.open();
  await bench.connection.run("CREATE TABLE rows AS SELECT 1 AS a");
  const long = (bytes: number) => "x".repeat(bytes - ".csv".length);
  const path = (bytes: number) => ({ format: "csv", path: `${long(bytes)}.csv` });
  const told = (bytes: number, most: number) => [
    `PZ0353 The file name "${"x".repeat(40)}…" has ${bytes} bytes: expected at most ${most} ` +
    "(give a shorter name, or another one as path:)",
  ];
  assert.deepEqual(texts(bench.tryScan(long(256))), told(256, 255));
  assert.deepEqual(texts(bench.tryScan("x", { path: `${"x".repeat(300)}/a.csv` })), told(300, 255));
  assert.deepEqual(texts(bench.tryCopy("e", path(191), { mode: "replace" })), told(191, 190));
  assert.deepEqual(texts(bench.tryCopy("e", path(161), { mode: "append" })), told(161, 160));
  for (const [mode, bytes] of [["replace", 190], ["append", 160]] as const) {
    await bench.write(bench.copy("e", path(bytes), { mode }), "rows");
  }
});
