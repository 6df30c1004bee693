import assert from "node:assert/strict";
import { findConnector, type OutputSpec } from "../../../../src/connectors/mod.ts";
import { TempDir, writeFiles } from "../../../harness/temp_dir.ts";
import { texts } from "../bench.ts";

const localfiles = findConnector("localfiles");
assert.ok(localfiles !== undefined && localfiles !== "planned");
const { universalRead, universalWrite, nativeCopy } = localfiles;
assert.ok(universalRead !== undefined && universalWrite !== undefined);

function dataset(options: { [name: string]: string | bigint }, config: { root?: string } = {}) {
  return { connection: "raw", entity: "x", config, options, columns: [{ name: "a", type: "int" }] };
}

function output(options: { [name: string]: string }, config: { root?: string } = {}): OutputSpec {
  return {
    connection: "lake",
    entity: "x",
    config,
    options,
    mode: "append",
    schemaPolicy: "fail_on_change",
    keys: [],
    attempt: { node: "0123456789abcdef", run: "run1", ordinal: 2 },
  };
}

Deno.test("a process writes by the names that DuckDB's own write has, so that leftovers of both are found", async () => {
  await using dir = await TempDir.create();
  for (const options of [{ format: "csv" }, { format: "csv", partition_by: "k" }, { format: "tsv", path: "a/b.TSV" }]) {
    const native = nativeCopy(output(options), { projectRoot: dir.path });
    const written = universalWrite(output(options), { projectRoot: dir.path });
    assert.ok(native?.ok === true && written.ok);
    assert.deepEqual(written.value.moves, native.value.moves);
    assert.deepEqual(written.value.target, native.value.target);
  }
});

Deno.test("what lies beside the root is granted by name, links and folders to be made among it", async () => {
  await using dir = await TempDir.create();
  await using far = await TempDir.create();
  await writeFiles(far.path, { "x.csv": "a\n1\n", "sub/1.csv": "a\n1\n" });
  await Deno.mkdir(dir.join("root"));
  await Deno.symlink(far.join("x.csv"), dir.join("linked.csv"));
  const context = { projectRoot: dir.path };
  const reads = (path: string) => {
    const read = universalRead(dataset({ path }), context);
    assert.ok(read.ok, JSON.stringify(read));
    return read.value.grant.read;
  };
  assert.deepEqual(reads("linked.csv"), [far.join("x.csv")]);
  assert.deepEqual(reads(far.join("x.csv")), [far.join("x.csv")]);
  assert.deepEqual(reads(far.join("sub/*.csv")), [far.join("sub"), far.join("sub/1.csv")]);
  const writes = (path: string, root?: string) => {
    const written = universalWrite(output({ format: "csv", path }, root === undefined ? {} : { root }), context);
    assert.ok(written.ok, JSON.stringify(written));
    return written.value.grant;
  };
  assert.deepEqual(writes("in/root"), { read: [], write: [] });
  assert.deepEqual(writes("o.csv", "not/there"), { read: [dir.join("not")], write: [dir.join("not")] });
  const made = [far.join("new/deep"), far.join("new")];
  assert.deepEqual(writes(far.join("new/deep")), { read: made, write: made });
});

Deno.test("files that only DuckDB reads are refused with the reason", async () => {
  await using dir = await TempDir.create();
  await writeFiles(dir.path, { "x.csv": "a,a\n1,2\n", "x.csv.gz": "x", "y.csv": "b\n1\n" });
  const problems = (options: { [name: string]: string }) => {
    const read = universalRead(dataset(options), { projectRoot: dir.path });
    return read.ok ? [] : texts(read.problems);
  };
  for (const path of ["x.csv", "x.csv.gz"]) {
    assert.deepEqual(problems({ path }), [
      `PZ0353 "${
        dir.join(path)
      }" can only be read by DuckDB itself: it is compressed, or its first line is no plain list of ` +
      "names (remove engine.force_universal, or correct the file)",
    ]);
  }
  assert.match(problems({ path: "y.csv" }).join(), /^PZ0353 Column "a" is not in the header/);
  assert.match(problems({ path: "none.csv" }).join(), /^PZ0353 There is no file/);
});

Deno.test("files are shared out as asked, else to 16 partitions at most", async () => {
  await using dir = await TempDir.create();
  for (let n = 0; n < 40; n++) await Deno.writeTextFile(dir.join(`${n}.csv`), "a\n1\n");
  const partitions = (options: { [name: string]: bigint }) => {
    const read = universalRead(dataset({ path: "*.csv", ...options }), { projectRoot: dir.path });
    return read.ok ? [read.value.partitions, read.value.options["files_per_partition"]] : read.problems;
  };
  assert.deepEqual(partitions({}), [14, 3]);
  assert.deepEqual(partitions({ files_per_partition: 7n }), [6, 7]);
});
