const QUOTE = 0x22;
const SPACE = 0x20;
const CR = 0x0d;
const LF = 0x0a;

/** How a field stands in its record. */
export const FIELD = {
  plain: 0,
  quoted: 1,
  /** With quotes inside, which are written twice. */
  doubled: 2,
} as const;

/** What was found: a whole record, an empty line, or why there is none. */
export type Found = "record" | "blank" | "more" | "open quote" | "text behind quote";

/**
 * Cuts bytes of a CSV file into records and those into fields, without a copy and as DuckDB's reader does: one blank
 * before quotes and any behind them count for nothing, a quote within an unquoted text is one. After "record" the fields stand in `starts`, `ends`
 * and `kinds`.
 */
export class RecordScanner {
  readonly #delimiter: number;
  #isDoubled = false;
  starts = new Int32Array(64);
  ends = new Int32Array(64);
  kinds = new Uint8Array(64);
  /** How many fields the record has. */
  fields = 0;
  /** Where the next record begins. */
  next = 0;
  /** How many lines the record takes. */
  lines = 0;

  constructor(delimiter: string) {
    this.#delimiter = delimiter.charCodeAt(0);
  }

  /** Looks at `bytes` from `from` to `to`; `isLast`: no byte follows those. "more" asks for the same with more bytes. */
  scan(bytes: Uint8Array, from: number, to: number, isLast: boolean): Found {
    const delimiter = this.#delimiter;
    let at = from;
    let byte: number | undefined;
    this.fields = 0;
    this.lines = 1;
    for (;;) {
      let start = at;
      let kind: number = FIELD.plain;
      let end: number;
      if (bytes[at] === SPACE && at + 1 < to && bytes[at + 1] === QUOTE) at++;
      if (at < to && bytes[at] === QUOTE) {
        start = at + 1;
        end = this.#closingQuote(bytes, start, to);
        if (end < 0) return isLast ? "open quote" : "more";
        kind = this.#isDoubled ? FIELD.doubled : FIELD.quoted;
        at = end + 1;
        while (at < to && bytes[at] === SPACE) at++;
      } else {
        while (at < to && (byte = bytes[at]) !== delimiter && byte !== LF && byte !== CR) at++;
        end = at;
      }
      if (at >= to && !isLast) return "more";
      this.#add(start, end, kind);
      byte = at < to ? bytes[at] : LF;
      if (byte === delimiter) {
        at++;
        continue;
      }
      if (byte === CR) {
        if (at + 1 >= to && !isLast) return "more";
        this.next = at + 1 < to && bytes[at + 1] === LF ? at + 2 : at + 1;
      } else if (byte === LF) this.next = Math.min(at + 1, to);
      else return "text behind quote";
      return this.fields === 1 && kind === FIELD.plain && start === end ? "blank" : "record";
    }
  }

  /** The place of the quote that ends a quoted field, or -1. A quote is the last of its field unless another follows. */
  #closingQuote(bytes: Uint8Array, from: number, to: number): number {
    this.#isDoubled = false;
    let at = from;
    for (;;) {
      let byte: number | undefined;
      while (at < to && (byte = bytes[at]) !== QUOTE) {
        at++;
        if (byte === LF || (byte === CR && bytes[at] !== LF)) this.lines++;
      }
      if (at >= to) return -1;
      if (at + 1 >= to || bytes[at + 1] !== QUOTE) return at;
      this.#isDoubled = true;
      at += 2;
    }
  }

  #add(start: number, end: number, kind: number): void {
    const index = this.fields++;
    if (index >= this.starts.length) {
      this.starts = grown(this.starts, new Int32Array(index * 2));
      this.ends = grown(this.ends, new Int32Array(index * 2));
      this.kinds = grown(this.kinds, new Uint8Array(index * 2));
    }
    this.starts[index] = start;
    this.ends[index] = end;
    this.kinds[index] = kind;
  }
}

function grown<T extends { set(values: T): void }>(smaller: T, larger: T): T {
  larger.set(smaller);
  return larger;
}
