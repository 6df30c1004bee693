import * as arrow from "../../../src/util/arrow.ts";

const encoder = new TextEncoder();

/**
 * An Arrow array of JavaScript values. Arrow's own builders are no way to one: they generate code, which pz forbids.
 * Values are null, boolean, number, bigint, string, Uint8Array, lists, records, and lists of pairs for maps.
 */
export function dataOf(values: readonly unknown[], type: arrow.DataType): arrow.Data {
  const bits = packBits(values.map((value) => value !== null));
  const nullCount = values.filter((value) => value === null).length;
  const length = values.length;
  const make = (buffers: object, children: arrow.Data[] = [], dictionary?: arrow.Vector): arrow.Data =>
    new arrow.Data(type, 0, length, nullCount, { ...buffers, [arrow.BufferType.VALIDITY]: bits }, children, dictionary);
  const { DATA, OFFSET } = arrow.BufferType;

  if (arrow.DataType.isBool(type)) return make({ [DATA]: packBits(values.map((value) => value === true)) });
  if (arrow.DataType.isUtf8(type) || arrow.DataType.isBinary(type)) {
    const parts = values.map((value) =>
      typeof value === "string" ? encoder.encode(value) : value instanceof Uint8Array ? value : new Uint8Array(0)
    );
    const offsets = offsetsOf(parts.map((part) => part.length));
    const bytes = new Uint8Array(offsets[length] ?? 0);
    parts.forEach((part, row) => bytes.set(part, offsets[row]));
    return make({ [OFFSET]: offsets, [DATA]: bytes });
  }
  if (arrow.DataType.isInt(type) && type.bitWidth === 64) {
    return make({ [DATA]: BigInt64Array.from(values, (value) => typeof value === "bigint" ? value : 0n) });
  }
  if (arrow.DataType.isInt(type)) return make({ [DATA]: Int32Array.from(values, Number) });
  if (arrow.DataType.isFloat(type)) return make({ [DATA]: Float64Array.from(values, Number) });
  if (arrow.DataType.isList(type) || arrow.DataType.isMap(type)) {
    const lists = values.map((value) => Array.isArray(value) ? value : []);
    const items: unknown[] = lists.flat();
    const itemType: arrow.DataType | undefined = type.children[0]?.type;
    if (itemType === undefined) throw new TypeError("A list without a type");
    return make({ [OFFSET]: offsetsOf(lists.map((list) => list.length)) }, [dataOf(items, itemType)]);
  }
  if (arrow.DataType.isStruct(type)) {
    const children = type.children.map((field) => {
      const members = values.map((value) => typeof value === "object" && value !== null ? value : {});
      return dataOf(
        members.map((member) => Object.entries(member).find(([key]) => key === field.name)?.[1] ?? null),
        field.type,
      );
    });
    return make({}, children);
  }
  if (arrow.DataType.isDictionary(type)) {
    const words: unknown[] = [...new Set(values.filter((value) => value !== null))];
    const indices = Int32Array.from(values, (value) => words.indexOf(value));
    return make({ [DATA]: indices }, [], new arrow.Vector([dataOf(words, type.dictionary)]));
  }
  throw new TypeError(`No test data of type ${type}`);
}

function packBits(flags: readonly boolean[]): Uint8Array {
  const bits = new Uint8Array((flags.length + 7) >> 3);
  flags.forEach((flag, row) => {
    if (flag) bits[row >> 3] = (bits[row >> 3] ?? 0) | (1 << (row & 7));
  });
  return bits;
}

function offsetsOf(lengths: readonly number[]): Int32Array {
  const offsets = new Int32Array(lengths.length + 1);
  lengths.forEach((length, row) => offsets[row + 1] = (offsets[row] ?? 0) + length);
  return offsets;
}
