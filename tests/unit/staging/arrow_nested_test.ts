import assert from "node:assert/strict";
import fc from "fast-check";
import * as arrow from "../../../src/util/arrow.ts";
import { dataOf } from "./arrow_data.ts";
import { stage, x } from "./harness.ts";

const encoder = new TextEncoder();

/** Texts by hand, so that their bytes need not be UTF-8. */
function utf8(...texts: readonly Uint8Array[]): arrow.Data {
  const offsets = new Int32Array(texts.length + 1);
  const bytes = new Uint8Array(texts.reduce((sum, text) => sum + text.length, 0));
  texts.forEach((text, row) => {
    bytes.set(text, offsets[row]);
    offsets[row + 1] = (offsets[row] ?? 0) + text.length;
  });
  return new arrow.Data(new arrow.Utf8(), 0, texts.length, 0, [offsets, bytes]);
}

Deno.test("texts of any length and script, empty ones and NULLs arrive unchanged over many chunks", async () => {
  const kinds = [
    "",
    "x",
    "exactly12byt",
    "thirteen byte",
    "漢字 ☃ ünïcödé, longer than twelve",
    null,
    "B".repeat(70_000),
  ];
  const values = Array.from({ length: 5000 }, (_, row) => {
    const kind = row % 500 === 0 ? kinds[6] : kinds[row % 6];
    return kind === null || kind === undefined ? null : kind === "" ? "" : kind + row;
  });
  const { texts, type } = await stage(x(new arrow.Utf8()), dataOf(values, new arrow.Utf8()));
  assert.equal(type, "VARCHAR");
  assert.deepEqual(texts, values);
});

Deno.test("any texts, in any slice of any batches, arrive in their order", async () => {
  const texts = fc.array(fc.option(fc.string({ unit: "binary", maxLength: 30 }), { freq: 5 }), { minLength: 1 });
  await fc.assert(
    fc.asyncProperty(fc.array(texts, { minLength: 1, maxLength: 4 }), fc.nat(8), async (parts, skip) => {
      const slices = parts.map((part) => dataOf(part, new arrow.Utf8())).map((data) => {
        const from = Math.min(skip, data.length);
        return data.slice(from, data.length - from);
      });
      const expected = parts.flatMap((part) => part.slice(Math.min(skip, part.length)));
      // DuckDB's texts hold no lone surrogates, which TextEncoder replaces.
      const written = expected.map((text) => text === null ? null : new TextDecoder().decode(encoder.encode(text)));
      const { texts: staged } = await stage(x(new arrow.Utf8()), ...slices);
      assert.deepEqual(staged, written);
    }),
    { numRuns: 25 },
  );
});

for (
  const [title, bytes] of [
    ["longer than an entry", [encoder.encode("a long enough text"), new Uint8Array(20).fill(0xff)]],
    ["short", [new Uint8Array([0x61, 0xff])]],
    ["cut within a letter", [encoder.encode("a long enough text \xc3").slice(0, -1), new Uint8Array([0xa9, 0x61])]],
  ] as const
) {
  Deno.test(`a text that is not UTF-8 (${title}) is refused`, async () => {
    await assert.rejects(stage(x(new arrow.Utf8()), utf8(...bytes)), {
      name: "IngestError",
      message: 'Column "x": A text is not valid UTF-8',
    });
  });
}

Deno.test("text offsets that point outside their bytes are refused", async () => {
  for (const offsets of [[0, 100], [0, -1], [5, 2], [0, 3, 1, 9]]) {
    const data = new arrow.Data(new arrow.Utf8(), 0, offsets.length - 1, 0, [
      Int32Array.from(offsets),
      new Uint8Array(9),
    ]);
    await assert.rejects(stage(x(new arrow.Utf8()), data), { name: "IngestError" });
  }
});

Deno.test("arrays shorter than they say are refused", async () => {
  const short = new arrow.Data(new arrow.Int32(), 0, 100, 0, [undefined, new Int32Array(3)]);
  await assert.rejects(stage(x(new arrow.Int32()), short), { name: "IngestError" });
  const bits = new arrow.Data(new arrow.Int32(), 0, 100, 1, [undefined, new Int32Array(100), new Uint8Array(2)]);
  await assert.rejects(stage(x(new arrow.Int32()), bits), { name: "IngestError" });
  const decimal = new arrow.Decimal(2, 10, 128);
  await assert.rejects(stage(x(decimal), new arrow.Data(decimal, 0, 9, 0, [undefined, new Uint32Array(8)])), {
    name: "IngestError",
  });
});

Deno.test("byte strings keep every byte", async () => {
  const values = [new Uint8Array([0, 255, 1]), null, new Uint8Array(0), new Uint8Array(20).fill(200)];
  const { texts, type } = await stage(x(new arrow.Binary()), dataOf(values, new arrow.Binary()));
  assert.equal(type, "BLOB");
  assert.deepEqual(texts, ["\\x00\\xFF\\x01", null, "", "\\xC8".repeat(20)]);
});

Deno.test("texts with offsets of 64 bits arrive unchanged", async () => {
  const bytes = encoder.encode("oneand a text longer than twelve");
  const offsets = new BigInt64Array([0n, 3n, 3n, BigInt(bytes.length)]);
  const data = new arrow.Data(new arrow.LargeUtf8(), 0, 3, 0, [offsets, bytes]);
  const { texts } = await stage(x(new arrow.LargeUtf8()), data, data.slice(1, 2));
  assert.deepEqual(texts, ["one", "", "and a text longer than twelve", "", "and a text longer than twelve"]);
});

Deno.test("texts kept in a dictionary are written out", async () => {
  const type = new arrow.Dictionary(new arrow.Utf8(), new arrow.Int32());
  const values = ["red", "green", null, "red", "a colour with a long name"];
  const { texts, type: sql } = await stage(x(type), dataOf(values, type), dataOf(["blue"], type));
  assert.equal(sql, "VARCHAR");
  assert.deepEqual(texts, [...values, "blue"]);
});

Deno.test("an index outside its dictionary is refused", async () => {
  const type = new arrow.Dictionary(new arrow.Utf8(), new arrow.Int32());
  const dictionary = new arrow.Vector([dataOf(["a"], new arrow.Utf8())]);
  const data = new arrow.Data(type, 0, 1, 0, [undefined, new Int32Array([7])], [], dictionary);
  await assert.rejects(stage(x(type), data), { name: "IngestError", message: /Index 7 is not in the dictionary/ });
});

const item = (type: arrow.DataType) => new arrow.Field("item", type, true);

Deno.test("lists keep their elements, also empty, NULL, nested and sliced ones", async () => {
  const type = new arrow.List(item(new arrow.List(item(new arrow.Utf8()))));
  const values = Array.from({ length: 3000 }, (_, row) => {
    if (row % 7 === 0) return null;
    return Array.from(
      { length: row % 4 },
      (_, index) => index === 2 ? null : [`${row}.${index}`, null].slice(0, row % 3),
    );
  });
  const text = (value: unknown): string =>
    value === null ? "NULL" : Array.isArray(value) ? `[${value.map(text).join(", ")}]` : String(value);
  const data = dataOf(values, type);
  const { texts, type: sql } = await stage(x(type), data, data.slice(13, 100));
  assert.equal(sql, "VARCHAR[][]");
  const expected = [...values, ...values.slice(13, 113)].map((value) => value === null ? null : text(value));
  assert.deepEqual(texts, expected);
});

Deno.test("lists of one fixed length become arrays", async () => {
  const type = new arrow.FixedSizeList(2, item(new arrow.Int32()));
  const items = new arrow.Data(new arrow.Int32(), 0, 6, 0, [undefined, Int32Array.of(1, 2, 3, 4, 5, 6)]);
  const validity = { [arrow.BufferType.VALIDITY]: new Uint8Array([0b101]) };
  const data = new arrow.Data(type, 0, 3, 1, validity, [items]);
  const { texts, type: sql } = await stage(x(type), data, data.slice(1, 2));
  assert.equal(sql, "INTEGER[2]");
  assert.deepEqual(texts, ["[1, 2]", null, "[5, 6]", null, "[5, 6]"]);
});

Deno.test("a NULL struct is NULL in each of its fields, whatever Arrow holds there", async () => {
  const fields = [new arrow.Field("a", new arrow.Int32(), true), new arrow.Field("b", new arrow.Utf8(), true)];
  const type = new arrow.Struct(fields);
  const children = [
    new arrow.Data(new arrow.Int32(), 0, 3, 0, [undefined, Int32Array.of(1, 2, 3)]),
    utf8(...["x", "y", "z"].map((text) => encoder.encode(text))),
  ];
  const validity = { [arrow.BufferType.VALIDITY]: new Uint8Array([0b101]) };
  const data = new arrow.Data(type, 0, 3, 1, validity, children);
  const { texts, type: sql } = await stage(x(type), data);
  assert.equal(sql, 'STRUCT("a" INTEGER, "b" VARCHAR)');
  assert.deepEqual(texts, ["{'a': 1, 'b': x}", null, "{'a': 3, 'b': z}"]);
});

Deno.test("structs with lists inside keep both, also sliced", async () => {
  const type = new arrow.Struct([
    new arrow.Field("n", new arrow.Int64(), true),
    new arrow.Field("l", new arrow.List(item(new arrow.Float64())), true),
  ]);
  const values = Array.from(
    { length: 100 },
    (_, row) => ({ n: BigInt(row), l: row % 3 === 0 ? null : [row / 2, null] }),
  );
  const data = dataOf(values, type);
  const { texts } = await stage(x(type), data.slice(9, 50));
  const expected = values.slice(9, 59).map(({ n, l }) =>
    `{'n': ${n}, 'l': ${l === null ? "NULL" : `[${Number(n) / 2}${Number(n) % 2 === 0 ? ".0" : ""}, NULL]`}}`
  );
  assert.deepEqual(texts, expected);
});

Deno.test("maps keep their entries in order", async () => {
  const entry = new arrow.Field(
    "entries",
    new arrow.Struct([
      new arrow.Field("key", new arrow.Utf8(), false),
      new arrow.Field("value", new arrow.Int32(), true),
    ]),
    false,
  );
  const type = new arrow.Map_(entry);
  const data = dataOf([[{ key: "b", value: 2 }, { key: "a", value: null }], null, []], type);
  const { texts, type: sql } = await stage(x(type), data);
  assert.equal(sql, "MAP(VARCHAR, INTEGER)");
  assert.deepEqual(texts, ["{b=2, a=NULL}", null, "{}"]);
});
