import assert from "node:assert/strict";
import fc from "fast-check";
import { FIELD, RecordScanner } from "../../../../src/connectors/builtin/localfiles/child/csv_records.ts";
import { writeFiles } from "../../../harness/temp_dir.ts";
import { Bench } from "../bench.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** The records behind the header, empty lines left out; or what stopped the scanner. */
function scanned(text: string): (string | null)[][] | string {
  const bytes = encoder.encode(text);
  const scanner = new RecordScanner(",");
  const records: (string | null)[][] = [];
  for (let at = 0; at < bytes.length; at = scanner.next) {
    const found = scanner.scan(bytes, at, bytes.length, true);
    if (found === "blank") continue;
    if (found !== "record") return found;
    records.push(fieldsOf(scanner, bytes));
  }
  return records.slice(1);
}

function fieldsOf(scanner: RecordScanner, bytes: Uint8Array): (string | null)[] {
  return Array.from({ length: scanner.fields }, (_, index) => {
    const text = decoder.decode(bytes.subarray(scanner.starts[index], scanner.ends[index]));
    if (scanner.kinds[index] === FIELD.plain) return text === "" ? null : text;
    return text.replaceAll('""', '"');
  });
}

Deno.test("fields, quotes and line ends are told apart", () => {
  assert.deepEqual(scanned('a,b\n1,"x, ""y""\n"\r\n\n,""\r"",\n'), [["1", 'x, "y"\n'], [null, ""], ["", null]]);
  assert.deepEqual(scanned('a\nb"c"d\n "quoted"  \n  "plain"\n'), [['b"c"d'], ["quoted"], ['  "plain"']]);
  assert.deepEqual(scanned("a,b\n1,2"), [["1", "2"]]);
  assert.deepEqual(scanned("a,b\n1,"), [["1", null]]);
  assert.equal(scanned('a\n"x'), "open quote");
  assert.equal(scanned('a\n"x"y'), "text behind quote");
});

Deno.test("a record is found whole or not at all, wherever the bytes end", () => {
  const bytes = encoder.encode('1,"a""b"\r\n22,c\r3,"d"');
  const ends = [10, 15, bytes.length];
  for (let to = 0; to <= bytes.length; to++) {
    const scanner = new RecordScanner(",");
    let count = 0;
    for (let at = 0; at < to; at = scanner.next) {
      if (scanner.scan(bytes, at, to, false) === "more") break;
      assert.equal(scanner.next, ends[count++]);
    }
    assert.equal(count, to < 10 ? 0 : to < 16 ? 1 : 2, `of ${to} bytes`);
  }
});

Deno.test("lines are counted within quotes too", () => {
  const bytes = encoder.encode('"a\nb\r\nc\rd",x\nnext\n');
  const scanner = new RecordScanner(",");
  assert.equal(scanner.scan(bytes, 0, bytes.length, true), "record");
  assert.equal(scanner.lines, 4);
  scanner.scan(bytes, scanner.next, bytes.length, true);
  assert.equal(scanner.lines, 1);
});

Deno.test("records are those that DuckDB's reader finds", async () => {
  await using bench = await Bench.open();
  const letter = fc.constantFrom("a", '"', ",", "\n", " ", "é", '"', ",", "\n");
  let compared = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(letter, { minLength: 1, maxLength: 12 }), async (letters) => {
      const text = `x,y\n${letters.join("")}`;
      await writeFiles(bench.dir.path, { "t.csv": text });
      const scan = bench.scan("t", {}, { x: "varchar", y: "varchar" });
      const rows = await bench.connection.rows(`SELECT * FROM ${scan.fragment}`).catch(() => undefined);
      const found = scanned(text);
      // Only text behind a closing quote is refused where DuckDB may read on.
      if (found === "text behind quote") return;
      const isRefused = typeof found === "string" || found.some((record) => !hasTwo(record));
      assert.equal(isRefused, rows === undefined, JSON.stringify(text));
      if (typeof found === "string" || rows === undefined) return;
      compared++;
      assert.deepEqual(found.map((record) => record.slice(0, 2)), rows, JSON.stringify(text));
    }),
    { numRuns: 400 },
  );
  assert.ok(compared > 50, `${compared} files were compared`);
});

/** Two fields, or more that are empty. */
function hasTwo(record: readonly (string | null)[]): boolean {
  return record.length >= 2 && record.slice(2).every((field) => field === null);
}
