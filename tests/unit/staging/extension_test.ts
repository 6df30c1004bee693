import assert from "node:assert/strict";
import { ingestArrow } from "../../../src/staging/mod.ts";
import * as arrow from "../../../src/util/arrow.ts";
import { dataOf } from "./arrow_data.ts";
import { batchOf, each, stage, withStaging, x } from "./harness.ts";

const opaque = (type: string, vendor = "DuckDB") =>
  new Map([
    ["ARROW:extension:name", "arrow.opaque"],
    ["ARROW:extension:metadata", JSON.stringify({ type_name: type, vendor_name: vendor })],
  ]);

function fixed(width: number, ...bytes: readonly number[]): arrow.Data {
  const type = new arrow.FixedSizeBinary(width);
  return new arrow.Data(type, 0, bytes.length / width, 0, [undefined, Uint8Array.from(bytes)]);
}

Deno.test("opaque bytes of DuckDB's hugeints become hugeints, in little-endian order", async () => {
  const bytes = [1, ...Array<number>(14).fill(0), 0x80];
  const signed = await stage(x(new arrow.FixedSizeBinary(16), opaque("hugeint")), fixed(16, ...bytes));
  assert.deepEqual(signed, { texts: ["-170141183460469231731687303715884105727"], type: "HUGEINT" });
  const unsigned = await stage(x(new arrow.FixedSizeBinary(16), opaque("uhugeint")), fixed(16, ...bytes));
  assert.deepEqual(unsigned, { texts: ["170141183460469231731687303715884105729"], type: "UHUGEINT" });
});

for (
  const [title, metadata] of [
    ["of a type that is unknown", opaque("geometry")],
    ["of another vendor", opaque("hugeint", "Other")],
    ["of a type of another width", opaque("time_tz")],
    ["without a description", new Map([["ARROW:extension:name", "arrow.opaque"]])],
  ] as const
) {
  Deno.test(`opaque bytes ${title} stay bytes`, async () => {
    const { type } = await stage(x(new arrow.FixedSizeBinary(16), metadata), fixed(16, ...Array<number>(16).fill(1)));
    assert.equal(type, "BLOB");
  });
}

Deno.test("opaque bytes that are no value of their type are refused", async () => {
  const zoned = x(new arrow.FixedSizeBinary(8), opaque("time_tz"));
  await assert.rejects(stage(zoned, fixed(8, ...Array<number>(8).fill(255))), {
    name: "IngestError",
    message: 'Column "x": A value is no time of day with an offset',
  });
  const bits = x(new arrow.Binary(), opaque("bit"));
  for (const bytes of [[], [0], [8, 1], [3, 0b01000001]]) {
    await assert.rejects(stage(bits, dataOf([Uint8Array.from(bytes)], new arrow.Binary())), {
      name: "IngestError",
      message: 'Column "x": A value is no bit string',
    });
  }
  assert.deepEqual(await stage(bits, dataOf([Uint8Array.of(3, 0b11100001)], new arrow.Binary())), {
    texts: ["00001"],
    type: "BIT",
  });
});

Deno.test("texts marked as labels become an ENUM, and one that is no label is refused", async () => {
  const labels = new Map([["ARROW:extension:name", "pz.enum"], ["ARROW:extension:metadata", '["b", "a"]']]);
  const field = x(new arrow.Utf8(), labels);
  assert.deepEqual(await stage(field, dataOf(["a", null, "b"], new arrow.Utf8())), {
    texts: ["a", null, "b"],
    type: "ENUM('b', 'a')",
  });
  await assert.rejects(stage(field, dataOf(["c"], new arrow.Utf8())), { name: "DuckDbError", kind: "Conversion" });
  for (const metadata of ["[]", "[1]", "nonsense", '["a\\u0000"]']) {
    const odd = new Map([...labels, ["ARROW:extension:metadata", metadata]] as [string, string][]);
    assert.equal((await stage(x(new arrow.Utf8(), odd), dataOf(["a"], new arrow.Utf8()))).type, "VARCHAR");
  }
});

Deno.test("batches that were read from a stream fit a schema that was made by hand", async () => {
  await withStaging(async (_, connection) => {
    const item = new arrow.Field("item", new arrow.Int16(), true);
    const fields = [x(new arrow.Int32()), new arrow.Field("l", new arrow.List(item), true)];
    const batch = batchOf(fields, [dataOf([1, 2], new arrow.Int32()), dataOf([null, []], new arrow.List(item))]);
    const writer = new arrow.RecordBatchStreamWriter();
    writer.write(batch);
    writer.finish();
    const read = [...arrow.RecordBatchReader.from(writer.toUint8Array(true))];
    await ingestArrow(connection, "t", new arrow.Schema(fields), each(...read), {});
    assert.deepEqual(await connection.rows("FROM staging.t"), [["1", null], ["2", "[]"]]);
  });
});
