import assert from "node:assert/strict";
import { type InheritedStaging, inheritStaging } from "../../../src/engine/resume/inherited_staging.ts";
import { LEDGER_SETUP, openStaging } from "../../../src/staging/mod.ts";
import { type RunPaths, runPaths } from "../../../src/state/mod.ts";
import { TempDir } from "../../harness/temp_dir.ts";
import { source } from "./fixture.ts";

const BEFORE = "20270301T061500001Z-9f3c";
const NOW = "20270302T061500001Z-9f3c";
const [LOAD] = source("src", {});
const [PARTS] = source("parts", {}, { id: "abc" });

const LEDGERS = [
  ...LEDGER_SETUP,
  "INSERT INTO pz_meta.node_loads VALUES ('abc', 'x', 2)",
  "INSERT INTO pz_meta.partitions_done VALUES ('abc', 'p1', 2)",
  "INSERT INTO pz_meta.partitions_done VALUES ('other', 'p1', 2)",
  "INSERT INTO pz_meta.sink_deliveries VALUES ('w', 1, 1, 'h'), ('v', 1, 1, 'h')",
];

/** Folders of two runs, the older with a staging database in which statements were run. */
async function runs(folder: TempDir, statements: readonly string[]): Promise<{ from: RunPaths; to: RunPaths }> {
  const [from, to] = [runPaths(folder.path, BEFORE), runPaths(folder.path, NOW)];
  for (const { folder } of [from, to]) Deno.mkdirSync(folder, { recursive: true });
  await using staging = await openStaging({
    file: from.staging,
    memoryLimitBytes: 2 ** 28,
    threads: 1,
    tempDirectory: from.spill,
    allowedPaths: { files: [], folders: [] },
    preserveInsertionOrder: false,
  });
  const connection = await staging.connect();
  for (const statement of statements) await connection.run(statement);
  return { from, to };
}

async function inherited(places: { from: RunPaths; to: RunPaths }): Promise<InheritedStaging> {
  const inheritance = await inheritStaging(places);
  if ("why" in inheritance) assert.fail(inheritance.why);
  return inheritance.staging;
}

async function rowsOf({ to }: { to: RunPaths }, sql: string): Promise<readonly (readonly (string | null)[])[]> {
  await using staging = await openStaging({
    file: to.staging,
    memoryLimitBytes: 2 ** 28,
    threads: 1,
    tempDirectory: to.spill,
    allowedPaths: { files: [], folders: [] },
    preserveInsertionOrder: false,
  });
  return await (await staging.connect()).rows(sql);
}

Deno.test("a load is taken over when its table has the rows that were recorded", async () => {
  await using folder = await TempDir.create();
  const places = await runs(folder, [
    "CREATE TABLE staging.src AS SELECT range AS i FROM range(3)",
    "CREATE TABLE staging.parts AS SELECT range AS i FROM range(2)",
    ...LEDGERS,
  ]);
  await using staging = await inherited(places);
  assert.equal(await staging.obstacle(LOAD, 3), undefined);
  assert.equal(await staging.obstacle(LOAD, 4), "3 of its 4 rows are staged");
  assert.equal(await staging.obstacle(source("gone", {})[0], 3), "its rows were not staged");
  assert.equal(await staging.obstacle(PARTS, 2), "its rows were staged only in part");
  assert.equal(await staging.progress(PARTS), 1);
  assert.equal(await staging.progress(LOAD), 0);
});

Deno.test("pruning keeps loads, what is there of unfinished ones, and their accounts", async () => {
  await using folder = await TempDir.create();
  const places = await runs(folder, [
    "CREATE TABLE staging.src AS SELECT 1 AS i",
    "CREATE TABLE staging.parts AS SELECT 1 AS i",
    "CREATE TABLE staging.__pz_part__abc__0 AS SELECT 1 AS i",
    "CREATE TABLE staging.__pz_part__xyz__0 AS SELECT 1 AS i",
    "CREATE TABLE staging.pipe AS SELECT 1 AS i",
    "CREATE VIEW staging.seen AS SELECT * FROM staging.pipe",
    ...LEDGERS,
  ]);
  {
    await using staging = await inherited(places);
    await staging.prune({ loads: [LOAD], unfinished: [PARTS], outputs: ["w"] });
  }
  assert.deepEqual(
    await rowsOf(places, "SELECT table_name FROM information_schema.tables WHERE table_schema = 'staging' ORDER BY 1"),
    [["__pz_part__abc__0"], ["parts"], ["src"]],
  );
  assert.deepEqual(await rowsOf(places, "SELECT node_id FROM pz_meta.partitions_done"), [["abc"]]);
  assert.deepEqual(await rowsOf(places, "SELECT node_id FROM pz_meta.sink_deliveries"), [["w"]]);
});

Deno.test("a fingerprint tells rows, columns and types, and not their order", async () => {
  await using folder = await TempDir.create();
  const places = await runs(folder, [
    "CREATE TABLE staging.a AS SELECT 1 AS i, [NULL, 2.5] AS l UNION ALL SELECT 2, NULL",
    "CREATE TABLE staging.b AS SELECT 2 AS i, NULL::DECIMAL(2, 1)[] AS l UNION ALL SELECT 1, [NULL, 2.5]",
    "CREATE TABLE staging.named AS SELECT i AS j, l FROM staging.a",
    "CREATE TABLE staging.typed AS SELECT i::BIGINT AS i, l FROM staging.a",
    "CREATE TABLE staging.twice AS SELECT * FROM staging.a UNION ALL SELECT * FROM staging.a LIMIT 3",
    "CREATE VIEW staging.seen AS SELECT * FROM staging.a",
    "CREATE VIEW staging.broken AS SELECT 1 / (i - 1)::INTEGER, error('x') FROM staging.a",
  ]);
  await using staging = await inherited(places);
  const a = await staging.fingerprint("a");
  assert.ok(a !== undefined);
  assert.deepEqual(await staging.fingerprint("b"), a);
  assert.deepEqual(await staging.fingerprint("seen"), a);
  for (const other of ["named", "typed", "twice"]) assert.notDeepEqual(await staging.fingerprint(other), a, other);
  for (const none of ["broken", "gone"]) assert.equal(await staging.fingerprint(none), undefined, none);
});

Deno.test("what a killed run had committed is there although its log was never written into the file", async () => {
  await using folder = await TempDir.create();
  const places = await runs(folder, ["CREATE TABLE staging.src AS SELECT 1 AS i"]);
  const program = `
    const { openDuckDb } = await import(${JSON.stringify(new URL("../../../src/duckdb/mod.ts", import.meta.url).href)});
    const database = await openDuckDb({ file: Deno.args[0] });
    const connection = await database.connect();
    await connection.run("CREATE TABLE staging.late AS SELECT range AS i FROM range(5)");
    await connection.run("BEGIN; INSERT INTO staging.late SELECT 9");
    Deno.kill(Deno.pid, "SIGKILL");`;
  const config = new URL("../../../deno.json", import.meta.url).pathname;
  const { signal, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["eval", "--quiet", `--config=${config}`, "--ext=ts", program, places.from.staging],
    stdout: "null",
    stderr: "piped",
  }).output();
  assert.equal(signal, "SIGKILL", new TextDecoder().decode(stderr));
  assert.ok(Deno.statSync(`${places.from.staging}.wal`).size > 0);
  await using staging = await inherited(places);
  assert.equal(await staging.obstacle(source("late", {})[0], 5), undefined);
});

Deno.test("there is nothing to inherit where there is no database, a broken one, or one of another format", async () => {
  await using folder = await TempDir.create();
  const places = await runs(folder, []);
  const why = async () => {
    const inheritance = await inheritStaging(places);
    assert.equal([...Deno.readDirSync(places.to.folder)].length, 0);
    return "why" in inheritance ? inheritance.why : "";
  };
  for (const version of [1, 99]) {
    await Deno.remove(places.from.staging);
    await runs(folder, [`UPDATE pz_meta.format SET version = ${version}`]);
    assert.match(await why(), new RegExp(`^it has format ${version}, and this pz reads format \\d+$`));
  }
  Deno.writeTextFileSync(places.from.staging, "no database");
  assert.match(await why(), /^it can't be read: /);
  await Deno.remove(places.from.staging);
  assert.equal(await why(), "it has been deleted");
});

Deno.test("a staging database that can't be read is named, not its copy, which is deleted", async () => {
  await using folder = await TempDir.create();
  const places = await runs(folder, []);
  Deno.writeTextFileSync(places.from.staging, "no database");

  const inheritance = await inheritStaging(places);

  assert.ok("why" in inheritance);
  assert.ok(inheritance.why.startsWith("it can't be read: "), inheritance.why);
  assert.ok(inheritance.why.includes(places.from.staging), inheritance.why);
  assert.ok(!inheritance.why.includes(places.to.staging), inheritance.why);
});
