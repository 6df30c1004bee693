import type { Data } from "../../../util/arrow.ts";
import type { CopyWriter } from "./copy_writer.ts";

/** Writes the value of a row, with its length before it. */
export type Put = (row: number, out: CopyWriter) => void;

export function bitAt(bits: Uint8Array, index: number): boolean {
  return (((bits[index >> 3] ?? 0) >> (index & 7)) & 1) !== 0;
}

/** An array's values as bytes, whatever view of them there is. */
export function bytesOf(data: Data): Uint8Array {
  const values: unknown = data.values;
  if (values instanceof Uint8Array) return values;
  if (ArrayBuffer.isView(values)) return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  throw new TypeError("an array without values");
}

/** An array's values as words of 32 bits, lowest first. */
export function wordsOf(data: Data): Uint32Array {
  const values: unknown = data.values;
  if (values instanceof Uint32Array) return values;
  if (!ArrayBuffer.isView(values)) throw new TypeError("an array without values");
  if (values.byteOffset % 4 === 0) return new Uint32Array(values.buffer, values.byteOffset, values.byteLength >> 2);
  const copy = new Uint8Array(values.byteLength);
  copy.set(new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
  return new Uint32Array(copy.buffer, 0, copy.length >> 2);
}

/** A signed number of so many words. */
export function bigOf(words: Uint32Array, at: number, count: number): bigint {
  let value = 0n;
  for (let word = count - 1; word >= 0; word--) value = (value << 32n) | BigInt(words[at + word] ?? 0);
  return BigInt.asIntN(count * 32, value);
}
