import assert from "node:assert/strict";
import fc from "fast-check";
import { findMember } from "../../../../src/connectors/builtin/http/find_member.ts";
import { pointerOf } from "../../../../src/connectors/builtin/http/json_pointer.ts";
import { JsonError } from "../../../../src/connectors/builtin/http/json_tokens.ts";
import { PageReader, type PageShape } from "../../../../src/connectors/builtin/http/page_reader.ts";
import { ContractColumns } from "../../../../src/connectors/builtin/http/record_columns.ts";
import { columnReaders } from "../../../../src/connectors/sdk/mod.ts";

const ENCODER = new TextEncoder();
const DECODER = new TextDecoder();

type Page = { readonly records: string[]; readonly captured: readonly (string | undefined)[] };

/** The texts of a page's records, read in pieces of a size. */
function page(text: string, shape: Partial<PageShape> = {}, size = 3): Page {
  const records: string[] = [];
  const reader = new PageReader({ items: undefined, captures: [], many: false, maxRecordBytes: 1 << 20, ...shape }, {
    slotOf: () => -1,
    value: () => {},
    record: (bytes, start, end) => void records.push(DECODER.decode(bytes.subarray(start, end))),
  });
  const bytes = ENCODER.encode(text);
  for (let at = 0; at < bytes.length; at += size) reader.push(bytes.slice(at, at + size));
  reader.finish();
  assert.equal(reader.records, records.length);
  return { records, captured: reader.captured };
}

Deno.test("records are found at their place, whole, with what stands around them left out", () => {
  assert.deepEqual(page('[{"a":1}, {"a": {"b":[2]}}]').records, ['{"a":1}', '{"a": {"b":[2]}}']);
  const text = '{"x":{"data":[{"no":1}]},"data":{"rows":[{"a":1},{"rows":[{"no":1}]}],"n":[[{}]]},"rows":[]}';
  assert.deepEqual(page(text, { items: ["data", "rows"] }).records, ['{"a":1}', '{"rows":[{"no":1}]}']);
  assert.deepEqual(page('[[], [{"a":1}], {}]', { items: ["1"] }).records, ['{"a":1}']);
  assert.deepEqual(page('{"a":1}', { items: [] }).records, ['{"a":1}']);
  assert.deepEqual(page('{"one":{"a":1},"b":{"one":{}}}', { items: ["one"] }).records, ['{"a":1}']);
  assert.deepEqual(page('{"a":1}\n{"b":2}\n', { many: true }).records, ['{"a":1}', '{"b":2}']);
  assert.deepEqual(page("[]").records, []);
  assert.deepEqual(page('{"data":null}', { items: ["data"] }).records, []);
});

Deno.test("captured values are found before and behind the records, and only outside of them", () => {
  const shape = { items: ["data"], captures: [["meta", "next"], ["links", "0"]] };
  assert.deepEqual(
    page('{"meta":{"next":"ab\\n"},"data":[{"meta":{"next":"no"}}],"links":["first",2]}', shape).captured,
    ["ab\n", "first"],
  );
  assert.deepEqual(page('{"data":[],"meta":{"next":9007199254740993}}', shape).captured, [
    "9007199254740993",
    undefined,
  ]);
  for (const nothing of ["null", '""', "false"]) {
    assert.deepEqual(page(`{"data":[],"meta":{"next":${nothing}}}`, shape).captured, [undefined, undefined]);
  }
  assert.throws(() => page('{"data":[],"meta":{"next":{}}}', shape), /"\/meta\/next" is an object, not a single value/);
});

Deno.test("what is no page of records is refused", () => {
  const refused = (text: string, shape: Partial<PageShape>, message: RegExp) =>
    assert.throws(() => page(text, shape), (error) => error instanceof JsonError && message.test(error.message), text);
  refused('{"error":"no"}', {}, /^it is an object, not an array of records$/);
  refused('{"error":"no"}', { items: ["data"] }, /^it holds nothing at "\/data"$/);
  refused('{"data":"no"}', { items: ["data"] }, /^"\/data" is a text, not an array of records$/);
  refused("[{}, 1]", {}, /^record 2 is a number, not an object$/);
  refused("[[]]", {}, /^record 1 is an array, not an object$/);
  refused('{"data":[],"data":[]}', { items: ["data"] }, /^it holds "\/data" twice$/);
  refused("{}\n[]", { many: true }, /^a line holds an array, not an object$/);
  refused('[{"a":1},{"a":', {}, /^it ends in the middle$/);
  refused(`[{"a":"${"x".repeat(2 << 20)}"}]`, {}, /more than 1048576 bytes/);
});

Deno.test("records of any shape, cut anywhere, arrive as they were", () => {
  const record = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 4 });
  fc.assert(
    fc.property(
      fc.array(record),
      fc.jsonValue({ maxDepth: 2 }),
      fc.integer({ min: 1, max: 20 }),
      (records, other, size) => {
        const text = JSON.stringify({ a: other, data: records, z: other });
        const found = page(text, { items: ["data"], captures: [] }, size).records;
        assert.deepEqual(found, records.map((one) => JSON.stringify(one)));
      },
    ),
  );
});

Deno.test("columns get the texts of their members, wherever these stand, and NULL for those that are missing", () => {
  const columns = new ContractColumns(
    [{ name: "id", type: "bigint" }, { name: 'näm"e', type: "varchar" }, { name: "extra", type: "json" }],
    "place",
  );
  const reader = new PageReader({ items: undefined, captures: [], many: false, maxRecordBytes: 1000 }, columns);
  columns.page(7);
  const text = '[{"id":9007199254740993,"n\\u00e4m\\"e":"a\\tb","extra":"s"},' +
    '{"other":1,"extra":{"x": [1.10]},"id":"7"},{},{"id":null,"id":3,"näm\\"e":1.10,"extra":null}]';
  const bytes = ENCODER.encode(text);
  for (let at = 0; at < bytes.length; at += 5) reader.push(bytes.slice(at, at + 5));
  reader.finish();
  const batch = columns.take();
  const readers = columnReaders(batch);
  const rows = Array.from({ length: batch.numRows }, (_, row) => readers.map((one) => one.value(row)));
  const place = (record: bigint) => (7n << 32n) | record;
  assert.deepEqual(rows, [
    ["9007199254740993", "a\tb", '"s"', place(1n)],
    ["7", null, '{"x": [1.10]}', place(2n)],
    [null, null, null, place(3n)],
    ["3", "1.10", null, place(4n)],
  ]);
  assert.deepEqual(columns.unmet, []);
});

Deno.test("a member is found inside a record by its pointer", () => {
  const json = ENCODER.encode('{"a":{"b":[10,{"c/d":"x\\ty"},[1, 2]]},"n":null,"e":1.50}');
  const find = (pointer: string) => findMember(json, pointerOf(pointer) ?? ["?"]);
  assert.equal(find("/a/b/1/c~1d"), "x\ty");
  assert.equal(find("/a/b/2"), "[1, 2]");
  assert.equal(find("/a/b/3"), undefined);
  assert.equal(find("/a/x"), undefined);
  assert.equal(find("/e/x"), undefined);
  assert.equal(find("/n"), undefined);
  assert.equal(find("/e"), "1.50");
  assert.deepEqual(["a", "/a~2", "/a~"].map(pointerOf), [undefined, undefined, undefined]);
  assert.deepEqual(pointerOf("/~01/"), ["~1", ""]);
});
