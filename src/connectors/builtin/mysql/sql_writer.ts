import { STATEMENT_START } from "./commands.ts";

const FIRST_BYTES = 64 * 1024;
const QUOTE = 0x27;
const BACKSLASH = 0x5c;
const ESCAPED_ZERO = 0x30;

/** Collects the bytes of one statement, with room for what stands before it in a packet. */
export class SqlWriter {
  static readonly #encoder = new TextEncoder();
  #bytes = new Uint8Array(FIRST_BYTES);
  #fill = STATEMENT_START;

  /** Bytes of the statement so far. */
  get size(): number {
    return this.#fill - STATEMENT_START;
  }

  /** The statement, or its first bytes; the writer starts anew with what comes after them. */
  take(size = this.size): Uint8Array {
    const end = STATEMENT_START + size;
    const taken = this.#bytes.subarray(0, end);
    const rest = this.#bytes.subarray(end, this.#fill);
    this.#bytes = new Uint8Array(Math.max(FIRST_BYTES, taken.length, rest.length * 2));
    this.#fill = STATEMENT_START;
    this.raw(rest);
    return taken;
  }

  /** Throws the statement away. */
  clear(): void {
    this.#fill = STATEMENT_START;
  }

  /** The bytes of the statement so far, valid until the next call. */
  text(): Uint8Array {
    return this.#bytes.subarray(STATEMENT_START, this.#fill);
  }

  /** SQL as it stands. */
  sql(text: string): void {
    this.#reserve(text.length * 3);
    const { written } = SqlWriter.#encoder.encodeInto(text, this.#bytes.subarray(this.#fill));
    this.#fill += written;
  }

  /** Numbers and other short texts of ASCII. */
  ascii(text: string): void {
    this.#reserve(text.length);
    for (let index = 0; index < text.length; index++) this.#bytes[this.#fill++] = text.charCodeAt(index);
  }

  byte(code: number): void {
    this.#reserve(1);
    this.#bytes[this.#fill++] = code;
  }

  /** Bytes as a literal between quotes; the session takes backslashes as escapes. */
  quoted(source: Uint8Array): void {
    this.#reserve(source.length * 2 + 2);
    const bytes = this.#bytes;
    let at = this.#fill;
    bytes[at++] = QUOTE;
    for (let index = 0; index < source.length; index++) {
      const byte = source[index] ?? 0;
      if (byte === QUOTE || byte === BACKSLASH) {
        bytes[at++] = BACKSLASH;
        bytes[at++] = byte;
      } else if (byte === 0) {
        bytes[at++] = BACKSLASH;
        bytes[at++] = ESCAPED_ZERO;
      } else bytes[at++] = byte;
    }
    bytes[at++] = QUOTE;
    this.#fill = at;
  }

  /** Bytes of SQL as they stand. */
  raw(source: Uint8Array): void {
    this.#reserve(source.length);
    this.#bytes.set(source, this.#fill);
    this.#fill += source.length;
  }

  #reserve(more: number): void {
    const needed = this.#fill + more;
    if (needed <= this.#bytes.length) return;
    const bigger = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
    bigger.set(this.#bytes.subarray(0, this.#fill));
    this.#bytes = bigger;
  }
}
