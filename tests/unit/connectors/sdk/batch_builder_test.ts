import assert from "node:assert/strict";
import fc from "fast-check";
import { arrowSchema, BatchBuilder, type CellValue } from "../../../../src/connectors/sdk/mod.ts";
import { type RecordBatch, RecordBatchReader, RecordBatchStreamWriter } from "../../../../src/util/arrow.ts";

/** The batch as whoever reads its bytes sees it. */
function throughBytes(batch: RecordBatch): RecordBatch {
  const writer = RecordBatchStreamWriter.writeAll([batch]);
  const [back] = [...RecordBatchReader.from(writer.toUint8Array(true))];
  assert.ok(back !== undefined);
  return back;
}

function build(type: string, values: readonly CellValue[]): RecordBatch {
  const builder = new BatchBuilder(arrowSchema([{ name: "v", type }]));
  for (const value of values) builder.append([value]);
  return throughBytes(builder.finish());
}

const NULLABLE = { freq: 4 };

for (
  const [type, arbitrary] of [
    ["int", fc.integer()],
    ["bigint", fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })],
    ["ubigint", fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })],
    ["double", fc.double()],
    ["varchar", fc.string({ unit: "binary" }).filter((text) => text.isWellFormed())],
    ["boolean", fc.boolean()],
  ] as const
) {
  Deno.test(`${type} values and NULLs come back the same`, () => {
    fc.assert(fc.property(fc.array(fc.option<CellValue>(arbitrary, NULLABLE), { maxLength: 70 }), (values) => {
      const column = build(type, values).getChild("v");
      assert.deepEqual(values.map((_, row) => column?.get(row)), values);
    }));
  });
}

Deno.test("decimals keep all 128 bits of their unscaled value", () => {
  const values = [0n, 1n, -1n, 10n ** 37n, -(10n ** 37n), 123456789012345678901234567890n];
  const column = build("decimal(38,9)", values).getChild("v");
  const read = values.map((_, row) => {
    const words = column?.get(row);
    assert.ok(words instanceof Uint32Array);
    const bits = words.reduceRight((sum, word) => (sum << 32n) | BigInt(word), 0n);
    return BigInt.asIntN(128, bits);
  });
  assert.deepEqual(read, values);
});

Deno.test("the storage of days, times and timestamps is what was given", () => {
  const builder = new BatchBuilder(arrowSchema([
    { name: "d", type: "date" },
    { name: "t", type: "time" },
    { name: "ts", type: "timestamp" },
    { name: "tz", type: "timestamptz" },
  ]));
  builder.append([19_723, 1n, -5n, 1_704_067_200_000_001n]);
  const batch = throughBytes(builder.finish());
  const stored = batch.data.children.map(({ values }) => values[0]);
  assert.deepEqual(stored, [19_723, 1n, -5n, 1_704_067_200_000_001n]);
});

Deno.test("a builder starts anew after each batch and tells its size", () => {
  const builder = new BatchBuilder(arrowSchema([{ name: "a", type: "varchar" }]));
  for (let index = 0; index < 3000; index++) builder.append([`row ${index}`]);
  assert.equal(builder.rows, 3000);
  assert.ok(builder.bytes > 3000 * 8 && builder.bytes < 3000 * 24, String(builder.bytes));
  assert.equal(builder.finish().numRows, 3000);
  assert.deepEqual([builder.rows, builder.bytes], [0, 0]);
  builder.append(["x"]);
  assert.equal(throughBytes(builder.finish()).getChild("a")?.get(0), "x");
});

Deno.test("a value that does not fit its column is refused", () => {
  for (
    const [type, value] of [
      ["int", 2 ** 31],
      ["int", 1.5],
      ["int", "1"],
      ["bigint", 2n ** 63n],
      ["ubigint", -1n],
      ["decimal", 1.5],
      ["varchar", 1],
      ["boolean", 1],
      ["utinyint", 256],
    ] as const
  ) {
    assert.throws(() => build(type, [value]), TypeError, `${type} ${value}`);
  }
});
