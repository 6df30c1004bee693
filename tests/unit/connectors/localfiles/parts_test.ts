import assert from "node:assert/strict";
import fc from "fast-check";
import { readHeader } from "../../../../src/connectors/builtin/localfiles/csv_header.ts";
import { lineOfRecord } from "../../../../src/connectors/builtin/localfiles/csv_lines.ts";
import { expandGlob, findGlob } from "../../../../src/connectors/builtin/localfiles/glob.ts";
import { TempDir, writeFiles } from "../../../harness/temp_dir.ts";

Deno.test("a header is read as any CSV writer quotes it", async () => {
  await using dir = await TempDir.create();
  const path = dir.join("x.csv");
  const name = fc.string({ minLength: 1, maxLength: 12 }).filter((text) =>
    text.trim() === text && !text.includes("\0")
  );
  const names = fc.uniqueArray(name, { minLength: 1, maxLength: 6, selector: (text) => text.toLowerCase() });
  await fc.assert(fc.asyncProperty(names, fc.constantFrom("\n", "\r\n", "\r"), async (header, end) => {
    const line = header.map((text) => `"${text.replaceAll('"', '""')}"`).join(",");
    await Deno.writeTextFile(path, `${line}${end}1${end}`);
    assert.deepEqual(readHeader(path, ","), header);
  }));
});

Deno.test("a header that is not plain is left alone", async () => {
  await using dir = await TempDir.create();
  const path = dir.join("x.csv");
  const odd: (string | Uint8Array)[] = [
    "",
    "\n1\n",
    "a,,b\n",
    "a,A\n",
    'a"b,c\n',
    '"a"b,c\n',
    new Uint8Array([0xff, 0xfe, 10]),
  ];
  for (const content of odd) {
    await writeFiles(dir.path, { "x.csv": content });
    assert.equal(readHeader(path, ","), undefined, JSON.stringify(content));
  }
});

Deno.test("a long header is read to its end", async () => {
  await using dir = await TempDir.create();
  const names = Array.from({ length: 5000 }, (_, index) => `column_${index}`);
  await writeFiles(dir.path, { "x.csv": `${names.join(";")}\n` });
  assert.deepEqual(readHeader(dir.join("x.csv"), ";"), names);
});

Deno.test("a record's line counts quoted breaks and blank lines, whatever ends a line", async () => {
  await using dir = await TempDir.create();
  const path = dir.join("x.csv");
  for (const end of ["\n", "\r\n", "\r"]) {
    await Deno.writeTextFile(path, ["a,b", '1,"x', 'y"', "", "2,z", "3,w"].join(end));
    const lines = await Promise.all([0n, 1n, 2n, 3n, 4n].map((record) => lineOfRecord(path, record, false)));
    assert.deepEqual(lines, [1, 2, 5, 6, undefined]);
  }
  await Deno.writeTextFile(path, "a\n\n2\n");
  assert.deepEqual(await lineOfRecord(path, 2n, true), 3);
});

Deno.test("a pattern matches within folders, and ** any number of them, without hidden names", async () => {
  await using dir = await TempDir.create();
  await writeFiles(dir.path, {
    "a.csv": "",
    "b.csv": "",
    ".hidden.csv": "",
    "c.txt": "",
    "d/a.csv": "",
    "d/e/a.csv": "",
    ".tmp/a.csv": "",
    "d.csv/x": "",
  });
  const expand = (pattern: string) => {
    const glob = findGlob(pattern, dir.path);
    return glob === undefined ? undefined : expandGlob(glob).map((path) => path.slice(dir.path.length + 1));
  };
  assert.deepEqual(expand("*.csv"), ["a.csv", "b.csv"]);
  assert.deepEqual(expand("?.csv"), ["a.csv", "b.csv"]);
  assert.deepEqual(expand("[a].csv"), ["a.csv"]);
  assert.deepEqual(expand("[!a].csv"), ["b.csv"]);
  assert.deepEqual(expand("*/a.csv"), ["d/a.csv"]);
  assert.deepEqual(expand("**/a.csv"), ["a.csv", "d/a.csv", "d/e/a.csv"]);
  assert.deepEqual(expand("d/**"), ["d/a.csv", "d/e/a.csv"]);
  assert.deepEqual(expand(".*.csv"), [".hidden.csv"]);
  assert.deepEqual(expand("nothing/*.csv"), []);
});
