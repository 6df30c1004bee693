import type { VectorWriter } from "../duckdb/mod.ts";
import type { Data, Vector } from "../util/arrow.ts";
import { type HasValue, rebased } from "./arrow_convert.ts";
import type { Run } from "./arrow_vector.ts";

/** Writes texts or byte strings with offsets of 32 or 64 bits. */
export function writeTexts(writer: VectorWriter, { data, from, rows }: Run, isText: boolean): void {
  const offsets: unknown = data.valueOffsets;
  const bytes = bytesOf(data);
  if (offsets instanceof Int32Array) return writer.texts(offsets, bytes, from, rows, isText);
  if (!(offsets instanceof BigInt64Array)) throw new RangeError("A text array has no offsets");
  const { base, offsets: short } = rebased(offsets, from, rows);
  writer.texts(short, bytes.subarray(base), 0, rows, isText);
}

/** Writes byte strings that all have the same width. */
export function writeFixedBytes(writer: VectorWriter, { data, from, rows }: Run, width: number): void {
  const offsets = Int32Array.from({ length: rows + 1 }, (_, row) => row * width);
  writer.texts(offsets, bytesOf(data).subarray(from * width), 0, rows, false);
}

/** Writes texts that are kept once each in a dictionary. */
export function writeDictionary(writer: VectorWriter, { data, from, rows }: Run, hasValue: HasValue): void {
  const words = wordsOf(data);
  const indices: unknown = data.values;
  if (!isIndices(indices) || from + rows > indices.length) throw new RangeError("A dictionary array has no indices");
  const offsets = new Int32Array(rows + 1);
  const parts: Uint8Array[] = [];
  let length = 0;
  for (let row = 0; row < rows; row++) {
    if (hasValue(row)) {
      const word = words[Number(indices[from + row])];
      if (word === undefined) throw new RangeError(`Index ${indices[from + row]} is not in the dictionary`);
      parts.push(word);
      length += word.length;
    }
    offsets[row + 1] = length;
  }
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  writer.texts(offsets, bytes, 0, rows, true);
}

const dictionaries = new WeakMap<object, readonly Uint8Array[]>();

/** The texts of a dictionary, cut once. */
function wordsOf(data: Data): readonly Uint8Array[] {
  const dictionary: Vector | undefined = data.dictionary;
  if (dictionary === undefined) throw new RangeError("A dictionary array has no dictionary");
  const known = dictionaries.get(dictionary);
  if (known !== undefined) return known;
  const words: Uint8Array[] = [];
  for (const part of dictionary.data) {
    const bytes = bytesOf(part);
    const offsets: unknown = part.valueOffsets;
    if (!(offsets instanceof Int32Array)) throw new RangeError("A dictionary has no offsets");
    for (let row = 0; row < part.length; row++) words.push(bytes.subarray(offsets[row], offsets[row + 1]));
  }
  dictionaries.set(dictionary, words);
  return words;
}

function isIndices(
  values: unknown,
): values is Int8Array | Uint8Array | Int16Array | Uint16Array | Int32Array | Uint32Array | BigInt64Array {
  return ArrayBuffer.isView(values) && !(values instanceof DataView);
}

function bytesOf(data: Data): Uint8Array {
  const values: unknown = data.values;
  if (values instanceof Uint8Array) return values;
  if (data.length === 0 || values === undefined) return new Uint8Array(0);
  throw new RangeError("A text array has no bytes");
}
