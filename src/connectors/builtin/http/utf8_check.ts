import { isUtf8 } from "node:buffer";

/** Checks a text in UTF-8 that comes in pieces, cut anywhere, and leaves out a byte order mark at its beginning. */
export class Utf8Check {
  #rest = new Uint8Array(0);
  #isFirst = true;

  /** The complete characters so far that were not given before; undefined where the bytes are not UTF-8. */
  push(chunk: Uint8Array): Uint8Array | undefined {
    let bytes = chunk;
    if (this.#rest.length > 0) {
      bytes = new Uint8Array(this.#rest.length + chunk.length);
      bytes.set(this.#rest);
      bytes.set(chunk, this.#rest.length);
    }
    const cut = bytes.length - openTail(bytes);
    this.#rest = bytes.slice(cut);
    let complete = bytes.subarray(0, cut);
    if (!isUtf8(complete)) return undefined;
    if (this.#isFirst && complete.length > 0) {
      this.#isFirst = false;
      if (complete[0] === 0xef && complete[1] === 0xbb && complete[2] === 0xbf) complete = complete.subarray(3);
    }
    return complete;
  }

  /** Whether the text ended between two characters. */
  get isComplete(): boolean {
    return this.#rest.length === 0;
  }
}

/** How many bytes at the end are the beginning of a character. */
function openTail(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) {
      const size = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      return size > back ? back : 0;
    }
  }
  return 0;
}
