import { type DataType, DataType as Types, extensionOf, type Field } from "../util/arrow.ts";
import {
  BoolCollector,
  type Collector,
  FixedCollector,
  type FixedForm,
  type FixedRun,
  TextCollector,
} from "./collect.ts";
import { EnumCollector } from "./collect_enum.ts";
import { ArrayCollector, ListCollector, StructCollector } from "./collect_nested.ts";
import { DrainError } from "./drain_error.ts";

const BYTES = (buffer: ArrayBuffer, length: number) => new Uint8Array(buffer, 0, length);

/** The collector of a field that `drainFields` made. */
export function collectorOf(field: Field): Collector {
  const type: DataType = field.type;
  if (Types.isBool(type)) return new BoolCollector(type);
  const extension = extensionOf(field);
  if (extension?.name === "pz.enum") return new EnumCollector(type, extension.labels);
  if (Types.isUtf8(type) || Types.isBinary(type)) return new TextCollector(type);
  if (Types.isList(type) || Types.isMap(type)) return new ListCollector(type, childOf(field, 0));
  if (Types.isFixedSizeList(type)) return new ArrayCollector(type, childOf(field, 0), type.listSize);
  if (Types.isStruct(type)) {
    return new StructCollector(type, type.children.map((_, index) => childOf(field, index)));
  }
  return new FixedCollector(type, fixedForm(field));
}

function childOf(field: Field, index: number): Collector {
  const child: Field | undefined = field.type.children[index];
  if (child === undefined) throw new TypeError(`"${field.name}" has an incomplete type`);
  return collectorOf(child);
}

function fixedForm(field: Field): FixedForm {
  const type: DataType = field.type;
  if (Types.isInt(type)) return integerForm(type.bitWidth, type.isSigned);
  if (Types.isFloat(type)) {
    return type.precision === 1
      ? { from: 4, to: 4, view: (buffer, rows) => new Float32Array(buffer, 0, rows) }
      : { from: 8, to: 8, view: (buffer, rows) => new Float64Array(buffer, 0, rows) };
  }
  if (Types.isDate(type)) return integerForm(32, true);
  if (Types.isTime(type) || Types.isTimestamp(type)) return integerForm(64, true);
  if (Types.isDecimal(type)) {
    const view = (buffer: ArrayBuffer, rows: number) => new Uint32Array(buffer, 0, rows * 4);
    const { precision } = type;
    if (precision > 18) return { from: 16, to: 16, view };
    if (precision > 9) return { from: 8, to: 16, view, convert: widenWords };
    return precision > 4
      ? {
        from: 4,
        to: 16,
        view,
        convert: (run) => widen(run, new Int32Array(run.source.buffer, run.source.byteOffset)),
      }
      : {
        from: 2,
        to: 16,
        view,
        convert: (run) => widen(run, new Int16Array(run.source.buffer, run.source.byteOffset)),
      };
  }
  if (Types.isInterval(type)) {
    return { from: 16, to: 16, view: (buffer, rows) => new Int32Array(buffer, 0, rows * 4), convert: intervals };
  }
  if (Types.isFixedSizeBinary(type)) {
    const width = type.byteWidth;
    const form = { from: width, to: width, view: (buffer: ArrayBuffer, rows: number) => BYTES(buffer, rows * width) };
    return extensionOf(field)?.name === "arrow.uuid" ? { ...form, convert: uuids } : form;
  }
  throw new TypeError(`"${field.name}" has the type ${type}, which is not collected`);
}

function integerForm(bits: number, isSigned: boolean): FixedForm {
  switch (bits) {
    case 8:
      return { from: 1, to: 1, view: isSigned ? (buffer, rows) => new Int8Array(buffer, 0, rows) : BYTES };
    case 16:
      return {
        from: 2,
        to: 2,
        view: (buffer, rows) => isSigned ? new Int16Array(buffer, 0, rows) : new Uint16Array(buffer, 0, rows),
      };
    case 32:
      return {
        from: 4,
        to: 4,
        view: (buffer, rows) => isSigned ? new Int32Array(buffer, 0, rows) : new Uint32Array(buffer, 0, rows),
      };
    default:
      return {
        from: 8,
        to: 8,
        view: (buffer, rows) => isSigned ? new BigInt64Array(buffer, 0, rows) : new BigUint64Array(buffer, 0, rows),
      };
  }
}

/** Small decimals as four words each. */
function widen({ from, rows, target, at }: FixedRun, values: Int16Array | Int32Array): void {
  const words = new Int32Array(target.buffer, 0, target.byteLength >> 2);
  for (let row = 0, word = at * 4; row < rows; row++, word += 4) {
    const value = values[from + row] ?? 0;
    const sign = value >> 31;
    words[word] = value;
    words[word + 1] = sign;
    words[word + 2] = sign;
    words[word + 3] = sign;
  }
}

/** Decimals of two words as four words each. */
function widenWords({ source, from, rows, target, at }: FixedRun): void {
  const values = new Int32Array(source.buffer, source.byteOffset, source.byteLength >> 2);
  const words = new Int32Array(target.buffer, 0, target.byteLength >> 2);
  for (let row = 0, next = from * 2, word = at * 4; row < rows; row++, next += 2, word += 4) {
    const high = values[next + 1] ?? 0;
    const sign = high >> 31;
    words[word] = values[next] ?? 0;
    words[word + 1] = high;
    words[word + 2] = sign;
    words[word + 3] = sign;
  }
}

/** DuckDB's intervals have microseconds where Arrow's have nanoseconds. */
function intervals({ source, from, rows, target, at, hasValue }: FixedRun): void {
  const parts = new Int32Array(source.buffer, source.byteOffset, source.byteLength >> 2);
  const micros = new BigInt64Array(source.buffer, source.byteOffset, source.byteLength >> 3);
  const words = new Int32Array(target.buffer, 0, target.byteLength >> 2);
  const nanos = new BigInt64Array(target.buffer, 0, target.byteLength >> 3);
  for (let row = 0; row < rows; row++) {
    if (!hasValue(from + row)) continue;
    words[(at + row) * 4] = parts[(from + row) * 4] ?? 0;
    words[(at + row) * 4 + 1] = parts[(from + row) * 4 + 1] ?? 0;
    const value = (micros[(from + row) * 2 + 1] ?? 0n) * 1000n;
    if (value !== BigInt.asIntN(64, value)) {
      throw new DrainError("An interval has more microseconds than Arrow's nanoseconds can hold");
    }
    nanos[(at + row) * 2 + 1] = value;
  }
}

/** DuckDB's UUIDs are 128-bit numbers whose top bit is flipped, Arrow's the bytes of their text. */
function uuids({ source, from, rows, target, at }: FixedRun): void {
  const values = new DataView(source.buffer, source.byteOffset, source.byteLength);
  const out = new DataView(target.buffer);
  for (let row = 0, next = from * 16, byte = at * 16; row < rows; row++, next += 16, byte += 16) {
    out.setUint32(byte, values.getUint32(next + 12, true) ^ 0x80000000);
    out.setUint32(byte + 4, values.getUint32(next + 8, true));
    out.setUint32(byte + 8, values.getUint32(next + 4, true));
    out.setUint32(byte + 12, values.getUint32(next, true));
  }
}
