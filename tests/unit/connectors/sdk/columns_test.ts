import assert from "node:assert/strict";
import fc from "fast-check";
import {
  arrowSchema,
  arrowType,
  BatchBuilder,
  type CellValue,
  columnReaders,
  ListBuilder,
  MapBuilder,
  StructBuilder,
  TextReader,
} from "../../../../src/connectors/sdk/mod.ts";
import {
  Binary,
  Dictionary,
  Field,
  FixedSizeBinary,
  Int32,
  makeData,
  RecordBatch,
  RecordBatchReader,
  RecordBatchStreamWriter,
  Schema,
  Utf8,
  Vector,
} from "../../../../src/util/arrow.ts";

function throughBytes(batch: RecordBatch): RecordBatch {
  const writer = RecordBatchStreamWriter.writeAll([batch]);
  const [back] = [...RecordBatchReader.from(writer.toUint8Array(true))];
  assert.ok(back !== undefined);
  return back;
}

function build(type: string, values: readonly CellValue[]): RecordBatch {
  const builder = new BatchBuilder(arrowSchema([{ name: "v", type }]));
  for (const value of values) builder.append([value]);
  return builder.finish();
}

function valuesOf(batch: RecordBatch): readonly CellValue[] {
  const [reader] = columnReaders(batch);
  assert.ok(reader !== undefined);
  return Array.from({ length: reader.length }, (_, row) => reader.value(row));
}

const int = (bits: number) => fc.integer({ min: -(2 ** (bits - 1)), max: 2 ** (bits - 1) - 1 });
const uint = (bits: number) => fc.integer({ min: 0, max: 2 ** bits - 1 });
const big = (bits: bigint) => fc.bigInt({ min: -(2n ** (bits - 1n)), max: 2n ** (bits - 1n) - 1n });
const ubig = (bits: bigint) => fc.bigInt({ min: 0n, max: 2n ** bits - 1n });
const text = fc.string({ unit: "binary" }).filter((value) => value.isWellFormed());
const interval = fc.record({ months: int(32), days: int(32), nanos: big(64n) }, { noNullPrototype: true });
const optional = (values: fc.Arbitrary<CellValue>) => fc.option<CellValue>(values, { freq: 4 });

const TYPES: { readonly [type: string]: fc.Arbitrary<CellValue> } = {
  boolean: fc.boolean(),
  tinyint: int(8),
  smallint: int(16),
  integer: int(32),
  bigint: big(64n),
  utinyint: uint(8),
  usmallint: uint(16),
  uinteger: uint(32),
  ubigint: ubig(64n),
  hugeint: big(128n),
  uhugeint: ubig(128n),
  "decimal(38,9)": fc.bigInt({ min: 1n - 10n ** 38n, max: 10n ** 38n - 1n }),
  float: fc.float(),
  double: fc.double(),
  date: int(32),
  time: big(64n),
  time_ns: big(64n),
  timestamp_s: big(64n),
  timestamp_ms: big(64n),
  timestamp: big(64n),
  timestamp_ns: big(64n),
  timestamptz: big(64n),
  interval,
  varchar: text,
  json: text,
  blob: fc.uint8Array({ max: 255 }),
  uuid: fc.uuid(),
  "integer[]": fc.array(optional(int(32)), { maxLength: 5 }),
  "varchar[][]": fc.array(optional(fc.array(optional(text), { maxLength: 3 })), { maxLength: 3 }),
  "bigint[3]": fc.array(optional(big(64n)), { minLength: 3, maxLength: 3 }),
  'struct(a integer, "b c" varchar[])': fc.record({
    a: optional(int(32)),
    "b c": optional(fc.array(optional(text), { maxLength: 3 })),
  }, { noNullPrototype: true }),
  "map(varchar, decimal(10,2))": fc.dictionary(text, optional(big(30n)), { maxKeys: 4 })
    .map((entries) => new Map(Object.entries(entries))),
};

for (const [type, arbitrary] of Object.entries(TYPES)) {
  Deno.test(`values of the type ${type} come back the same, from bytes and from a part of a batch`, () => {
    const values = fc.array(optional(arbitrary), { maxLength: 40 });
    fc.assert(
      fc.property(values, fc.nat(40), fc.nat(40), (all, one, other) => {
        const batch = build(type, all);
        assert.deepEqual(valuesOf(batch), all);
        if (all.length === 0) return;
        assert.deepEqual(valuesOf(throughBytes(batch)), all);
        const [from, to] = [Math.min(one, other), Math.max(one, other)];
        const part = all.slice(from, to);
        if (part.length === 0) return;
        assert.deepEqual(valuesOf(batch.slice(from, to)), part);
        assert.deepEqual(valuesOf(throughBytes(batch.slice(from, to))), part);
      }),
      { numRuns: 40 },
    );
  });
}

Deno.test("a builder starts anew after a batch", () => {
  const builder = new BatchBuilder(arrowSchema([{ name: "v", type: "varchar[]" }]));
  builder.append([["a", null]]);
  assert.deepEqual(valuesOf(builder.finish()), [["a", null]]);
  builder.append([null]);
  builder.append([["b"]]);
  assert.deepEqual(valuesOf(builder.finish()), [null, ["b"]]);
});

Deno.test("columns take values in the forms that a driver has them in", () => {
  const types = ["int", "bigint", "decimal(10,2)", "double", "boolean", "varchar", "uuid", "interval", "timestamp"];
  const builder = new BatchBuilder(arrowSchema(types.map((type) => ({ name: type, type }))));
  const [int, long, decimal, double, bool, text, uuid, interval, timestamp] = builder.columns;
  const bytes = new TextEncoder().encode("0123456789abcdefghijklmnopqrstuvwxyz");
  for (let row = 0; row < 3000; row++) {
    int?.appendI32(-row);
    long?.appendI64Parts(row, -1);
    decimal?.appendI128(-1n);
    double?.appendF64(row / 2);
    bool?.appendBool(row % 2 === 0);
    text?.appendBytes(bytes, row % 10, row % 10 + row % 27);
    uuid?.appendBytes(bytes, 1, 17);
    interval?.appendInterval(1, -2, -3n);
    if (row % 3 === 0) timestamp?.appendNull();
    else timestamp?.appendI64(-1n);
    builder.endRow();
  }
  const columns = columnReaders(throughBytes(builder.finish()));
  const row = (at: number) => columns.map((column) => column.value(at));
  const same = [{ months: 1, days: -2, nanos: -3n }];
  assert.deepEqual(row(0).slice(0, 6), [-0 + 0, -(1n << 32n), -1n, 0, true, ""]);
  assert.deepEqual(row(2999).slice(0, 6), [-2999, -(1n << 32n) + 2999n, -1n, 1499.5, false, "9a"]);
  assert.equal(row(26)[5], "6789abcdefghijklmnopqrstuvwxyz".slice(0, 26));
  assert.deepEqual(row(9).slice(6), ["31323334-3536-3738-3961-626364656667", ...same, null]);
  assert.deepEqual(row(10).slice(7), [...same, -1n]);
});

Deno.test("nested columns take their parts one by one", () => {
  const types = ["int[]", "struct(a int, b varchar)", "map(varchar, int)"];
  const builder = new BatchBuilder(arrowSchema(types.map((type) => ({ name: type, type }))));
  const [list, struct, map] = builder.columns;
  assert.ok(list instanceof ListBuilder && struct instanceof StructBuilder && map instanceof MapBuilder);
  list.items.appendI32(1);
  list.items.appendNull();
  list.endList();
  struct.members[0]?.appendI32(2);
  struct.members[1]?.appendNull();
  struct.endStruct();
  map.keys.append("k");
  map.values.appendI32(3);
  map.endMap();
  builder.endRow();
  const values = columnReaders(throughBytes(builder.finish())).map((column) => column.value(0));
  assert.deepEqual(values, [[1, null], { a: 2, b: null }, new Map([["k", 3]])]);
});

Deno.test("a batch whose columns have not as many values as it has rows is refused", () => {
  const builder = new BatchBuilder(arrowSchema([{ name: "a", type: "int" }, { name: "b", type: "int" }]));
  builder.columns[0]?.appendI32(1);
  builder.endRow();
  assert.throws(() => builder.finish(), /Column "b" has got 0 values for 1 rows/);
});

Deno.test("values that do not fit a column are refused", () => {
  for (
    const [type, value] of [
      ["tinyint", 128],
      ["int", 1.5],
      ["int", 2 ** 31],
      ["bigint", 2n ** 63n],
      ["bigint", 1.5],
      ["hugeint", 2n ** 127n],
      ["uhugeint", -1n],
      ["varchar", 1],
      ["uuid", "no uuid"],
      ["uuid", new Uint8Array(15)],
      ["interval", "1 day"],
      ["interval", { months: 2 ** 31, days: 0, nanos: 0n }],
      ["int[]", 1],
      ["int[2]", [1]],
      ["struct(a int)", { b: 1 }],
      ["map(int, int)", [1]],
    ] as const
  ) {
    assert.throws(() => build(type, [value]), /^TypeError: Column "[^"]*": an? .* does not fit /, `${type} ${value}`);
  }
});

Deno.test("a value that does not fit is told by its kind, its column and the column's type, never by itself", () => {
  for (
    const [type, value, message] of [
      ["bigint", "hunter2", "a text does not fit BIGINT (Int64)"],
      ["bigint", 1.5, "a number with a fraction does not fit BIGINT (Int64)"],
      ["bigint", 2n ** 63n, "a whole number out of its range does not fit BIGINT (Int64)"],
      ["tinyint", 300, "a number out of its range does not fit TINYINT (Int8)"],
      ["varchar", 7, "a number does not fit VARCHAR (Utf8)"],
      ["varchar", 7n, "a bigint does not fit VARCHAR (Utf8)"],
      ["json", true, "a boolean does not fit JSON (Utf8)"],
      ["boolean", [1], "a list does not fit BOOLEAN (Bool)"],
      ["double", new Uint8Array(2), "a run of bytes does not fit DOUBLE (Float64)"],
      ["decimal(9,2)", "1.50", "a text does not fit DECIMAL(9,2) (Decimal[9e+2])"],
      ["timestamptz", { hunter2: 1 }, "an object does not fit TIMESTAMPTZ (Timestamp<MICROSECOND, UTC>)"],
      ["struct(a int)", { hunter2: 1 }, "an object with a member that the type lacks does not fit Struct<{a:Int32}>"],
      ["bigint[]", ["hunter2"], "a text does not fit List<Int64>"],
    ] as const
  ) {
    assert.throws(() => build(type, [value]), {
      name: "TypeError",
      message: new RegExp(`^Column "[a-z]+": ${escaped(message)}$`),
    });
  }
});

function escaped(text: string): string {
  return text.replaceAll(/[[\](){}+.<>^$*?|]/g, "\\$&");
}

Deno.test("readers give texts of numbers, with all digits of a decimal's scale", () => {
  const text = (type: string, value: CellValue) => columnReaders(build(type, [value]))[0]?.text(0);
  assert.equal(text("decimal(10,3)", -5n), "-0.005");
  assert.equal(text("decimal(38,0)", 10n ** 37n), `1${"0".repeat(37)}`);
  assert.equal(text("decimal(4,2)", 1234n), "12.34");
  assert.equal(text("bigint", -9223372036854775808n), "-9223372036854775808");
  assert.equal(text("uhugeint", 2n ** 128n - 1n), "340282366920938463463374607431768211455");
  assert.equal(text("uuid", "00000000-0000-0000-0000-00000000000A"), "00000000-0000-0000-0000-00000000000a");
});

Deno.test("texts can be read as runs of bytes without an object for each", () => {
  const [reader] = columnReaders(throughBytes(build("varchar", ["ab", null, "cdé"])));
  assert.ok(reader instanceof TextReader);
  assert.deepEqual([0, 1, 2].map((row) => reader.end(row) - reader.start(row)), [2, 0, 4]);
  assert.deepEqual([...reader.data.subarray(reader.start(2), reader.start(2) + 2)], [
    ...new TextEncoder().encode("cd"),
  ]);
});

Deno.test("types that nobody knows, and unbalanced ones, are refused", () => {
  for (
    const type of ["", "nonsense", "nonsense[]", "struct(a)", "struct(a int", "map(int)", "map(int,int,int)", "[]"]
  ) {
    assert.throws(() => arrowType(type), /Cannot send values of the type/, type);
  }
});

Deno.test("texts that are kept once and numbered read like others", () => {
  const labels = new Vector([makeData({
    type: new Utf8(),
    data: new TextEncoder().encode("redgreen"),
    valueOffsets: new Int32Array([0, 3, 8]),
    length: 2,
  })]);
  const type = new Dictionary(new Utf8(), new Int32());
  const column = makeData({
    type,
    data: new Int32Array([1, 0, 1, 0]),
    length: 4,
    nullCount: 1,
    nullBitmap: new Uint8Array([0b0111]),
    dictionary: labels,
  });
  const batch = new RecordBatch({ colour: column });
  assert.deepEqual(valuesOf(throughBytes(batch)), ["green", "red", "green", null]);
  assert.deepEqual(valuesOf(throughBytes(batch.slice(1, 3))), ["red", "green"]);
});

Deno.test("a column in bytes of DuckDB's own is refused by its type", () => {
  for (const [type, name] of [[new Binary(), "bit"], [new FixedSizeBinary(8), "time_tz"]] as const) {
    const metadata = new Map([
      ["ARROW:extension:name", "arrow.opaque"],
      ["ARROW:extension:metadata", JSON.stringify({ type_name: name, vendor_name: "DuckDB" })],
    ]);
    const builder = new BatchBuilder(new Schema([new Field("v", type, true)]));
    builder.append([null]);
    const { data } = builder.finish();
    const batch = new RecordBatch(new Schema([new Field("v", type, true, metadata)]), data);
    assert.throws(
      () => columnReaders(batch),
      new RegExp(`Column "v" has the type "${name}", whose bytes only DuckDB knows`),
    );
  }
});
