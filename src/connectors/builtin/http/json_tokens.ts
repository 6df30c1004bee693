/** What `next` of a reader of tokens found. `more`: the bytes so far end before the next token does. */
export const TOKEN = {
  more: 0,
  end: 1,
  objectStart: 2,
  objectEnd: 3,
  arrayStart: 4,
  arrayEnd: 5,
  key: 6,
  string: 7,
  number: 8,
  true: 9,
  false: 10,
  null: 11,
} as const;

export type Token = typeof TOKEN[keyof typeof TOKEN];

/** Bytes that are no JSON. `isCut`: they would be the beginning of one, and stop too early. */
export class JsonError extends Error {
  override readonly name = "JsonError";
  readonly isCut: boolean;

  constructor(message: string, isCut = false) {
    super(message);
    this.isCut = isCut;
  }
}

const MAX_DEPTH = 512;
const MAX_NUMBER = 4096;
const FIRST_BYTES = 64 * 1024;

/** What may stand at the current place. */
const EXPECT = {
  value: 0,
  firstKey: 1,
  key: 2,
  colon: 3,
  firstItem: 4,
  afterMember: 5,
  afterItem: 6,
  done: 7,
} as const;
type Expect = typeof EXPECT[keyof typeof EXPECT];

/**
 * Takes JSON apart as its bytes come, cut anywhere, and checks all of its grammar but the UTF-8 of texts. Memory is that
 * of the token at hand, or of what `hold` keeps. With `many`, values may follow one another, as in lines of JSON.
 */
export class JsonTokens {
  /** The bytes in which `start` and `end` are places; another array after the next `push`. */
  bytes = new Uint8Array(FIRST_BYTES);
  /** Where the latest token begins and ends. */
  start = 0;
  end = 0;
  /** Of the latest string or key: whether it holds a backslash. */
  isEscaped = false;
  readonly #many: boolean;
  readonly #limit: number;
  #fill = 0;
  #at = 0;
  /** Bytes that were thrown away before those in `bytes`. */
  #gone = 0;
  #held = -1;
  #isOver = false;
  #expect: Expect = EXPECT.value;
  /** Whether each open container is an object. */
  readonly #open: boolean[] = [];
  #hadValue = false;
  /** A string whose end has not come yet: from its first quote, and how far it was looked at. */
  #seen = 0;

  /** @param limit the most bytes that a token, or what `hold` keeps, may have */
  constructor({ limit, many = false }: { readonly limit: number; readonly many?: boolean }) {
    this.#limit = limit;
    this.#many = many;
  }

  /** Containers that are open, the latest token counted. */
  get depth(): number {
    return this.#open.length;
  }

  /** Keeps the bytes from the start of the latest token on, until `release`. */
  hold(): void {
    this.#held = this.start;
  }

  /** Where what is held begins. */
  get held(): number {
    return this.#held;
  }

  release(): void {
    this.#held = -1;
  }

  /**
   * Adds bytes; to be called when there is no next token.
   *
   * @throws {JsonError} when a token grows too long
   */
  push(chunk: Uint8Array): void {
    const keep = this.#held >= 0 ? this.#held : this.#seen > 0 ? this.start : this.#at;
    const kept = this.#fill - keep;
    if (kept > this.#limit) throw new JsonError(`one object or value has more than ${this.#limit} bytes`);
    if (kept + chunk.length > this.bytes.length) {
      const larger = new Uint8Array(Math.max(kept + chunk.length, this.bytes.length * 2));
      larger.set(this.bytes.subarray(keep, this.#fill));
      this.bytes = larger;
    } else if (keep > 0) {
      this.bytes.copyWithin(0, keep, this.#fill);
    }
    this.bytes.set(chunk, kept);
    this.#fill = kept + chunk.length;
    this.#at -= keep;
    this.start -= keep;
    this.end -= keep;
    this.#gone += keep;
    if (this.#seen > 0) this.#seen -= keep;
    if (this.#held >= 0) this.#held = 0;
  }

  /** No more bytes come. */
  finish(): void {
    this.#isOver = true;
  }

  /**
   * The next token.
   *
   * @throws {JsonError} where the bytes are no JSON, or end in its middle
   */
  next(): Token {
    if (this.#seen > 0) return this.#string();
    const bytes = this.bytes;
    for (;;) {
      let at = this.#at;
      const fill = this.#fill;
      while (at < fill) {
        const byte = bytes[at];
        if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) break;
        at++;
      }
      this.#at = at;
      if (at >= fill) return this.#outOfBytes();
      const byte = bytes[at] ?? 0;
      switch (this.#expect) {
        case EXPECT.colon:
          if (byte !== 0x3a) throw this.#unexpected(byte, "a colon");
          this.#at++;
          this.#expect = EXPECT.value;
          continue;
        case EXPECT.afterMember:
          if (byte === 0x7d) return this.#close(true);
          if (byte !== 0x2c) throw this.#unexpected(byte, "a comma or the end of the object");
          this.#at++;
          this.#expect = EXPECT.key;
          continue;
        case EXPECT.afterItem:
          if (byte === 0x5d) return this.#close(false);
          if (byte !== 0x2c) throw this.#unexpected(byte, "a comma or the end of the array");
          this.#at++;
          this.#expect = EXPECT.value;
          continue;
        case EXPECT.firstKey:
          if (byte === 0x7d) return this.#close(true);
          break;
        case EXPECT.firstItem:
          if (byte === 0x5d) return this.#close(false);
          break;
        case EXPECT.done:
          if (!this.#many) throw this.#unexpected(byte, "nothing behind the value");
          this.#expect = EXPECT.value;
          break;
      }
      return this.#token(byte);
    }
  }

  #token(byte: number): Token {
    this.start = this.#at;
    if (this.#expect === EXPECT.firstKey || this.#expect === EXPECT.key) {
      if (byte !== 0x22) throw this.#unexpected(byte, "a name in quotes");
      return this.#beginString();
    }
    switch (byte) {
      case 0x22:
        return this.#beginString();
      case 0x7b:
        return this.#openUp(true);
      case 0x5b:
        return this.#openUp(false);
      case 0x74:
        return this.#word("true", TOKEN.true);
      case 0x66:
        return this.#word("false", TOKEN.false);
      case 0x6e:
        return this.#word("null", TOKEN.null);
    }
    if (byte === 0x2d || (byte >= 0x30 && byte <= 0x39)) return this.#number();
    throw this.#unexpected(byte, "a value");
  }

  #openUp(isObject: boolean): Token {
    if (this.#open.length >= MAX_DEPTH) throw new JsonError(`values stand in more than ${MAX_DEPTH} others`);
    this.#open.push(isObject);
    this.#at++;
    this.end = this.#at;
    this.#expect = isObject ? EXPECT.firstKey : EXPECT.firstItem;
    return isObject ? TOKEN.objectStart : TOKEN.arrayStart;
  }

  #close(isObject: boolean): Token {
    this.start = this.#at++;
    this.end = this.#at;
    this.#open.pop();
    this.#afterValue();
    return isObject ? TOKEN.objectEnd : TOKEN.arrayEnd;
  }

  #afterValue(): void {
    const parent = this.#open.at(-1);
    this.#expect = parent === undefined ? EXPECT.done : parent ? EXPECT.afterMember : EXPECT.afterItem;
    if (parent === undefined) this.#hadValue = true;
  }

  #beginString(): Token {
    this.isEscaped = false;
    this.#seen = this.#at + 1;
    return this.#string();
  }

  /** Goes on in a string from where it was left. */
  #string(): Token {
    const bytes = this.bytes;
    const fill = this.#fill;
    let at = this.#seen;
    for (; at < fill; at++) {
      const byte = bytes[at] ?? 0;
      if (byte === 0x22) {
        this.#at = at + 1;
        this.end = this.#at;
        this.#seen = 0;
        if (this.#expect === EXPECT.firstKey || this.#expect === EXPECT.key) {
          this.#expect = EXPECT.colon;
          return TOKEN.key;
        }
        this.#afterValue();
        return TOKEN.string;
      }
      if (byte === 0x5c) {
        this.isEscaped = true;
        const size = this.#escape(at);
        if (size === 0) break;
        at += size - 1;
      } else if (byte < 0x20) throw this.#bad(at, "a text holds a control character that is not escaped");
    }
    this.#seen = at;
    return this.#outOfBytes();
  }

  /** How many bytes an escape takes; 0 while not all of them are there. */
  #escape(at: number): number {
    if (at + 1 >= this.#fill) return 0;
    const letter = this.bytes[at + 1] ?? 0;
    if (letter !== 0x75) {
      if ('"\\/bfnrt'.includes(String.fromCharCode(letter))) return 2;
      throw this.#bad(at, "a text holds a backslash that escapes nothing");
    }
    if (at + 5 >= this.#fill) return 0;
    for (let digit = at + 2; digit < at + 6; digit++) {
      const byte = (this.bytes[digit] ?? 0) | 0x20;
      if (!((byte >= 0x30 && byte <= 0x39) || (byte >= 0x61 && byte <= 0x66))) {
        throw this.#bad(at, "a text holds \\u without four digits");
      }
    }
    return 6;
  }

  #word(word: string, token: Token): Token {
    const end = this.#at + word.length;
    for (let at = this.#at; at < Math.min(end, this.#fill); at++) {
      if (this.bytes[at] !== word.charCodeAt(at - this.#at)) throw this.#unexpected(this.bytes[at] ?? 0, word);
    }
    if (end > this.#fill) return this.#outOfBytes();
    this.#at = end;
    this.end = end;
    this.#afterValue();
    return token;
  }

  #number(): Token {
    const bytes = this.bytes;
    let at = this.#at;
    while (at < this.#fill && isOfNumber(bytes[at] ?? 0)) at++;
    if (at - this.#at > MAX_NUMBER) throw this.#bad(this.#at, `a number has more than ${MAX_NUMBER} digits`);
    // Only what follows tells that a number has ended.
    if (at === this.#fill && !this.#isOver) return TOKEN.more;
    if (!isNumber(bytes, this.#at, at)) throw this.#bad(this.#at, "a number has a form that JSON does not know");
    this.#at = at;
    this.end = at;
    this.#afterValue();
    return TOKEN.number;
  }

  #outOfBytes(): Token {
    if (!this.#isOver) return TOKEN.more;
    const isEnd = this.#seen === 0 && this.#at === this.#fill && this.#open.length === 0 &&
      (this.#expect === EXPECT.done || (this.#many && this.#expect === EXPECT.value));
    if (isEnd) return TOKEN.end;
    throw new JsonError(this.#hadValue || this.#gone + this.#fill > 0 ? "it ends in the middle" : "it is empty", true);
  }

  #unexpected(byte: number, expected: string): JsonError {
    const what = byte > 0x20 && byte < 0x7f ? `'${String.fromCharCode(byte)}'` : `the byte ${byte}`;
    return this.#bad(this.#at, `${what} stands where ${expected} should`);
  }

  #bad(at: number, what: string): JsonError {
    return new JsonError(`${what}, at byte ${this.#gone + at + 1}`);
  }
}

function isOfNumber(byte: number): boolean {
  return (byte >= 0x30 && byte <= 0x39) || byte === 0x2e || byte === 0x2d || byte === 0x2b || (byte | 0x20) === 0x65;
}

/** Whether these bytes are a number by JSON's grammar. */
function isNumber(bytes: Uint8Array, start: number, end: number): boolean {
  let at = start;
  const digits = () => {
    const from = at;
    while (at < end && (bytes[at] ?? 0) >= 0x30 && (bytes[at] ?? 0) <= 0x39) at++;
    return at > from;
  };
  if (bytes[at] === 0x2d) at++;
  if (bytes[at] === 0x30 && at < end) at++;
  else if (!digits()) return false;
  if (at < end && bytes[at] === 0x2e) {
    at++;
    if (!digits()) return false;
  }
  if (at < end && ((bytes[at] ?? 0) | 0x20) === 0x65) {
    at++;
    if (at < end && (bytes[at] === 0x2b || bytes[at] === 0x2d)) at++;
    if (!digits()) return false;
  }
  return at === end;
}
