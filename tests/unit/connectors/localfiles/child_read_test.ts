import { testHost } from "../../../harness/connector_host.ts";
import assert from "node:assert/strict";
import { connector } from "../../../../src/connectors/builtin/localfiles/child/connector.ts";
import type { ConfigMap, DatasetSpec } from "../../../../src/connectors/mod.ts";
import { columnReaders, type Source } from "../../../../src/connectors/sdk/mod.ts";
import { TempDir, writeFiles } from "../../../harness/temp_dir.ts";

const NEVER = new AbortController().signal;
const SOURCE: Source = sourceOf();

function sourceOf(): Source {
  const { source } = connector.open({}, testHost());
  assert.ok(source !== undefined);
  return source;
}

function dataset(options: ConfigMap, ...columns: string[]): DatasetSpec {
  return {
    connection: "raw",
    entity: "e",
    config: {},
    options: { base: "/", delimiter: ",", files_per_partition: 1, ...options },
    columns: columns.map((name) => ({ name, type: "varchar" })),
  };
}

/** All rows of all partitions, and how many batches they came in. */
async function readAll(spec: DatasetSpec, batchBytes = 1 << 20): Promise<{ rows: unknown[][]; batches: number }> {
  const rows: unknown[][] = [];
  let batches = 0;
  const partitions = await SOURCE.plan(spec, NEVER);
  assert.ok(Array.isArray(partitions));
  for (const partition of partitions) {
    for await (const batch of SOURCE.read(spec, partition, { batchBytes, signal: NEVER })) {
      batches++;
      const readers = columnReaders(batch);
      for (let row = 0; row < batch.numRows; row++) rows.push(readers.map((reader) => reader.value(row)));
    }
  }
  return { rows, batches };
}

Deno.test("records are read whole where blocks of the file end, in batches of about the size asked for", async () => {
  await using dir = await TempDir.create();
  const long = "x".repeat(3 << 20);
  const lines = Array.from({ length: 40_000 }, (_, n) => `${n},"text ""${n}"""\r\n`);
  lines.splice(20_000, 0, `long,"${long}"\r\n`);
  await writeFiles(dir.path, { "a.csv": `id,v\r\n${lines.join("")}` });
  const { rows, batches } = await readAll(dataset({ files: [dir.join("a.csv")], place: "line" }, "v", "id"), 100_000);
  assert.equal(rows.length, 40_001);
  assert.ok(batches >= 6, `${batches} batches`);
  rows.forEach(([v, id, line], index) => {
    assert.equal(line, BigInt(index + 2));
    const n = index < 20_000 ? index : index - 1;
    if (index === 20_000) assert.ok(id === "long" && v === long);
    else assert.deepEqual([v, id], [`text "${n}"`, String(n)]);
  });
});

Deno.test("the place of a row is the number of its file and its line", async () => {
  await using dir = await TempDir.create();
  await writeFiles(dir.path, { "a.csv": 'a\n\n"1\n2"\n3\n', "b.csv": "a\n4\n" });
  const spec = dataset({ files: [dir.join("a.csv"), dir.join("b.csv")], place: "at" }, "a");
  assert.deepEqual((await readAll(spec)).rows, [
    [null, 2n],
    ["1\n2", 3n],
    ["3", 5n],
    ["4", (1n << 32n) + 2n],
  ]);
});

Deno.test("files are shared out to partitions, so many to each", async () => {
  await using dir = await TempDir.create();
  const files = ["1", "2", "3", "4", "5"].map((name) => dir.join(`${name}.csv`));
  for (const [index, file] of files.entries()) await Deno.writeTextFile(file, `a\n${index}\n`);
  const spec = dataset({ files, files_per_partition: 2 }, "a");
  assert.deepEqual(await SOURCE.plan(spec, NEVER), [{ id: "0" }, { id: "2" }, { id: "4" }]);
  const { rows, batches } = await readAll(spec);
  assert.deepEqual([rows.flat(), batches], [["0", "1", "2", "3", "4"], 3]);
});

Deno.test("columns come from folders where the header lacks them, and are NULL where neither has them", async () => {
  await using dir = await TempDir.create();
  await writeFiles(dir.path, { "k=a%2Cb%zz/l=__HIVE_DEFAULT_PARTITION__/x.csv": "V\n1\n" });
  const file = dir.join("k=a%2Cb%zz/l=__HIVE_DEFAULT_PARTITION__/x.csv");
  const { rows } = await readAll(dataset({ files: [file], base: dir.path }, "v", "K", "l", "none"));
  assert.deepEqual(rows, [["1", "a,b%zz", null, null]]);
});

Deno.test("a file that changed, went or never was text is told with its place", async () => {
  await using dir = await TempDir.create();
  await writeFiles(dir.path, {
    "dup.csv": "a,a\n1,2\n",
    "latin.csv": new Uint8Array([0x61, 0x0a, 0x62, 0x0a, 0x0a, 0xe9, 0x0a]),
  });
  const failing = (name: string) => readAll(dataset({ files: [dir.join(name)] }, "a"));
  await assert.rejects(failing("gone.csv"), {
    name: "ConnectorError",
    transient: false,
    message: /Reading ".*gone\.csv" failed/,
  });
  await assert.rejects(failing("dup.csv"), { message: /"(.*)dup\.csv" has no header of distinct names any more/ });
  await assert.rejects(failing("latin.csv"), { message: /This is no text in UTF-8 \(.*latin\.csv:4\)/ });
});

Deno.test("a read that is aborted stops", async () => {
  await using dir = await TempDir.create();
  await writeFiles(dir.path, { "a.csv": `a\n${"1\n".repeat(2_000_000)}` });
  const stop = new AbortController();
  const spec = dataset({ files: [dir.join("a.csv")] }, "a");
  const read = async () => {
    for await (const _ of SOURCE.read(spec, { id: "0" }, { batchBytes: 1000, signal: stop.signal })) {
      stop.abort(new Error("enough"));
    }
  };
  await assert.rejects(read());
});

Deno.test("what no plan asks is refused", async () => {
  for (const options of [{ files: "x" }, { files: ["x"], delimiter: 1 }, { files: ["x"], files_per_partition: 0 }]) {
    await assert.rejects(async () => await SOURCE.schema(dataset(options, "a"), NEVER), { code: "PZ0301" });
  }
});
