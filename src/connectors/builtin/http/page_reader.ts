import { rawText, stringOf } from "./json_text.ts";
import { JsonError, JsonTokens, TOKEN, type Token } from "./json_tokens.ts";

/** Where the records of an answer stand, and what else of it is of interest. */
export type PageShape = {
  /** The steps to the array of records, or to the one record. Undefined: the whole answer is the array. */
  readonly items: readonly string[] | undefined;
  /** The steps to single values besides. */
  readonly captures: readonly (readonly string[])[];
  /** Whether the answer is lines of records. */
  readonly many: boolean;
  /** The most bytes of one record. */
  readonly maxRecordBytes: number;
};

/**
 * What gets the records. All places are counted from the record's first byte; a value's last byte is before its `end`.
 */
export type RecordTarget = {
  /** What `value` is to get for this name of a member, in quotes as it stands there; negative: nothing. */
  slotOf(position: number, bytes: Uint8Array, start: number, end: number, isEscaped: boolean): number;
  value(slot: number, kind: ValueKind, start: number, end: number): void;
  /** The whole record; `bytes` are valid during the call. */
  record(bytes: Uint8Array, start: number, end: number): void;
};

/** `escaped`: a string with a backslash. `nested`: an object or an array. */
export type ValueKind = "null" | "string" | "escaped" | "plain" | "nested";

/** Reads one answer as its bytes come: hands over each record when it is complete, and keeps the captured values. */
export class PageReader {
  readonly #shape: PageShape;
  readonly #target: RecordTarget;
  readonly #tokens: JsonTokens;
  readonly #captured: (string | undefined)[];
  #hasCapture = false;
  readonly #paths: readonly (readonly string[])[];
  /** Of each open container outside of records: the paths that still lead into it. */
  readonly #frames: Frame[] = [];
  #leading: number;
  #hasItems = false;
  #records = 0;
  /** The depth of the array of records while it is open. */
  #itemsDepth = -1;
  /** The depth of the record at hand. */
  #recordDepth = -1;
  #position = 0;
  #slot = -1;
  /** The depth and place of a nested value of the record at hand. */
  #nestedDepth = -1;
  #nestedStart = 0;

  constructor(shape: PageShape, target: RecordTarget) {
    this.#shape = shape;
    this.#target = target;
    this.#tokens = new JsonTokens({ limit: shape.maxRecordBytes, many: shape.many });
    this.#paths = [shape.items ?? [], ...shape.captures];
    this.#captured = shape.captures.map(() => undefined);
    this.#leading = (1 << this.#paths.length) - 1;
  }

  /** Records so far. */
  get records(): number {
    return this.#records;
  }

  /** The text of each captured value; undefined where it is missing, null, false or empty. */
  get captured(): readonly (string | undefined)[] {
    return this.#captured;
  }

  /** Whether the answer holds a value to capture, be it null. */
  get hasCapture(): boolean {
    return this.#hasCapture;
  }

  /** @throws {JsonError} where the answer is not what it should be */
  push(chunk: Uint8Array): void {
    this.#tokens.push(chunk);
    this.#run();
  }

  /** @throws {JsonError} where the answer is incomplete, or has no records at their place */
  finish(): void {
    this.#tokens.finish();
    this.#run();
    if (!this.#hasItems && !this.#shape.many) throw new JsonError(`it holds nothing at "${this.#itemsText()}"`);
  }

  #run(): void {
    const tokens = this.#tokens;
    for (;;) {
      const token = tokens.next();
      if (token <= TOKEN.end) return;
      if (this.#recordDepth >= 0) this.#inRecord(token);
      else if (this.#itemsDepth >= 0) this.#inItems(token);
      else this.#outside(token);
    }
  }

  #inRecord(token: Token): void {
    const tokens = this.#tokens;
    const { depth } = tokens;
    if (this.#nestedDepth >= 0) {
      if (depth >= this.#nestedDepth) return;
      this.#nestedDepth = -1;
      if (this.#slot >= 0) this.#target.value(this.#slot, "nested", this.#nestedStart, tokens.end - tokens.held);
      return;
    }
    switch (token) {
      case TOKEN.key: {
        const { bytes, start, end, isEscaped } = tokens;
        this.#slot = this.#target.slotOf(this.#position++, bytes, start, end, isEscaped);
        return;
      }
      case TOKEN.objectEnd:
        this.#target.record(tokens.bytes, tokens.held, tokens.end);
        this.#records++;
        this.#recordDepth = -1;
        tokens.release();
        if (this.#itemsDepth < 0) this.#afterValue();
        return;
      case TOKEN.objectStart:
      case TOKEN.arrayStart:
        this.#nestedDepth = depth;
        this.#nestedStart = tokens.start - tokens.held;
        return;
    }
    if (this.#slot < 0) return;
    const kind = token === TOKEN.string
      ? (tokens.isEscaped ? "escaped" : "string")
      : token === TOKEN.null
      ? "null"
      : "plain";
    this.#target.value(this.#slot, kind, tokens.start - tokens.held, tokens.end - tokens.held);
  }

  #inItems(token: Token): void {
    if (token === TOKEN.objectStart) this.#beginRecord();
    else if (token === TOKEN.arrayEnd) this.#itemsDepth = -1;
    else throw new JsonError(`record ${this.#records + 1} is ${nameOf(token)}, not an object`);
    if (token === TOKEN.arrayEnd) this.#afterValue();
  }

  #beginRecord(): void {
    this.#tokens.hold();
    this.#recordDepth = this.#tokens.depth;
    this.#position = 0;
  }

  #outside(token: Token): void {
    const { depth } = this.#tokens;
    if (token === TOKEN.key) {
      const { bytes, start, end, isEscaped } = this.#tokens;
      this.#leading = this.#led(stringOf(bytes, start, end, isEscaped));
      return;
    }
    if (token === TOKEN.objectEnd || token === TOKEN.arrayEnd) {
      this.#frames.pop();
      this.#afterValue();
      return;
    }
    const isContainer = token === TOKEN.objectStart || token === TOKEN.arrayStart;
    const at = isContainer ? depth - 1 : depth;
    if (this.#isMet(0, at) && this.#beginItems(token)) return;
    for (let index = 1; index < this.#paths.length; index++) {
      if (this.#isMet(index, at)) this.#capture(index - 1, token);
    }
    if (isContainer) {
      const frame = { leading: this.#leading, item: token === TOKEN.arrayStart ? 0 : -1 };
      this.#frames.push(frame);
      if (frame.item === 0) this.#leading = this.#led("0");
    } else this.#afterValue();
  }

  /** Whether the value at hand, so deep inside the answer, is what a path leads to. */
  #isMet(path: number, depth: number): boolean {
    return (this.#leading & (1 << path)) !== 0 && this.#paths[path]?.length === depth;
  }

  /** Which paths of the innermost container go on with a step. */
  #led(step: string): number {
    const frame = this.#frames.at(-1);
    if (frame === undefined) return 0;
    let leading = 0;
    for (let path = 0; path < this.#paths.length; path++) {
      const bit = 1 << path;
      if ((frame.leading & bit) !== 0 && this.#paths[path]?.[this.#frames.length - 1] === step) leading |= bit;
    }
    return leading;
  }

  #afterValue(): void {
    const frame = this.#frames.at(-1);
    if (frame === undefined) this.#leading = this.#shape.many ? 1 : 0;
    else if (frame.item >= 0) this.#leading = this.#led(String(++frame.item));
  }

  /** Whether what follows are records. */
  #beginItems(token: Token): boolean {
    const { many, items } = this.#shape;
    if (this.#hasItems && !many) throw new JsonError(`it holds "${this.#itemsText()}" twice`);
    this.#hasItems = true;
    if (token === TOKEN.objectStart && (many || items !== undefined)) {
      this.#beginRecord();
      return true;
    }
    if (token === TOKEN.arrayStart && !many) {
      this.#itemsDepth = this.#tokens.depth;
      return true;
    }
    if (token === TOKEN.null && !many) return false;
    throw new JsonError(
      many
        ? `a line holds ${nameOf(token)}, not an object`
        : items === undefined
        ? `it is ${nameOf(token)}, not an array of records`
        : `"${this.#itemsText()}" is ${nameOf(token)}, not an array of records`,
    );
  }

  #capture(index: number, token: Token): void {
    const { bytes, start, end, isEscaped } = this.#tokens;
    this.#hasCapture = true;
    switch (token) {
      case TOKEN.string: {
        const text = stringOf(bytes, start, end, isEscaped);
        this.#captured[index] = text === "" ? undefined : text;
        return;
      }
      case TOKEN.number:
      case TOKEN.true:
        this.#captured[index] = rawText(bytes, start, end);
        return;
      case TOKEN.null:
      case TOKEN.false:
        this.#captured[index] = undefined;
        return;
    }
    throw new JsonError(`"/${this.#shape.captures[index]?.join("/")}" is ${nameOf(token)}, not a single value`);
  }

  #itemsText(): string {
    return (this.#shape.items ?? []).map((step) => `/${step}`).join("");
  }
}

/** An open container outside of records; `item` is the number of the array's item at hand, negative in an object. */
type Frame = { readonly leading: number; item: number };

function nameOf(token: Token): string {
  switch (token) {
    case TOKEN.objectStart:
      return "an object";
    case TOKEN.arrayStart:
      return "an array";
    case TOKEN.string:
      return "a text";
    case TOKEN.number:
      return "a number";
    case TOKEN.null:
      return "null";
    default:
      return "true or false";
  }
}
