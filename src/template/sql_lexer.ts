/** Where in SQL a place lies. `unclear`: DuckDB might read what stands before in two ways. */
export type SqlPlace =
  | "code"
  | "line comment"
  | "block comment"
  | "text"
  | "escape text"
  | "bit text"
  | "unicode text"
  | "identifier"
  | "unicode identifier"
  | "dollar text"
  | "unclear";

/** Letters that make a `'` right behind them open another kind of text. */
const PREFIXES: { readonly [letter: string]: SqlPlace } = { e: "escape text", x: "bit text", b: "bit text" };

const WORD_REGEXP = /[A-Za-z0-9_]+/y;

/** How near a text such as `E'…'` that ended is: `'` right behind it, or on a later line, goes on with that text. */
type Resume = "no" | "touching" | "same line" | "next line";

/**
 * Follows DuckDB's lexical rules over SQL that comes in pieces, so that the place of the next character is always
 * known: nested block comments, `''`, `""`, `E'\''`, `x'ff'`, `$tag$…$tag$`. It knows nothing of grammar. Before it reads
 * SQL, DuckDB turns some characters outside ASCII into spaces; where that could matter the place is unclear.
 */
export class SqlLexer {
  #place: SqlPlace = "code";
  /** The character before, as far as it can still be the first half of `--`, a comment mark or the like. */
  #last = "";
  /** The run of letters, digits and `$` that ends here. */
  #word = "";
  /** The start of what may become `$tag$`, or the whole of it inside such a text. */
  #dollar = "";
  /** The last characters of a dollar text, as many as its end mark has. */
  #tail = "";
  /** Whether `U&` ends here. */
  #unicode = false;
  #depth = 0;
  #resume: Resume = "no";
  #ended: SqlPlace = "code";

  get place(): SqlPlace {
    return this.#place;
  }

  get inComment(): boolean {
    return this.#place === "line comment" || this.#place === "block comment";
  }

  /** Whether a value written next, in code, would run into what stands before it: `x`, `5`, `$`, `-`, `'`, `U&`. */
  get touches(): boolean {
    return this.#word !== "" || this.#dollar !== "" || (this.#last !== "" && `-'"&`.includes(this.#last));
  }

  /** Whether the next character is taken for the second half of an escape. */
  get afterBackslash(): boolean {
    return this.#place === "escape text" && this.#last === "\\";
  }

  /** Whether a `'` written next, perhaps on a later line, could go on with an `E'…'` text that ended. */
  get resumesText(): boolean {
    return this.#place === "code" && this.#resume !== "no";
  }

  copy(): SqlLexer {
    const other = new SqlLexer();
    other.#place = this.#place;
    other.#last = this.#last;
    other.#word = this.#word;
    other.#dollar = this.#dollar;
    other.#tail = this.#tail;
    other.#unicode = this.#unicode;
    other.#depth = this.#depth;
    other.#resume = this.#resume;
    other.#ended = this.#ended;
    return other;
  }

  feed(sql: string): void {
    for (let index = 0; index < sql.length;) {
      const jump = this.#jump(sql, index);
      if (jump > index) index = jump;
      else {
        this.#step(sql.charAt(index));
        index++;
      }
    }
  }

  /** Passes at once over characters that change nothing; gives the offset of the next one that may. */
  #jump(sql: string, from: number): number {
    switch (this.#place) {
      case "code":
        return this.#dollar === "" && this.#resume === "no" ? this.#jumpWord(sql, from) : from;
      case "text":
      case "bit text":
      case "unicode text":
        return offsetOf("'", sql, from);
      case "identifier":
      case "unicode identifier":
        return offsetOf('"', sql, from);
      case "line comment":
        return Math.min(offsetOf("\n", sql, from), offsetOf("\r", sql, from));
      case "unclear":
        return sql.length;
      default:
        return from;
    }
  }

  #jumpWord(sql: string, from: number): number {
    WORD_REGEXP.lastIndex = from;
    const word = WORD_REGEXP.exec(sql)?.[0] ?? "";
    if (word !== "") {
      this.#word += word;
      this.#unicode = false;
      this.#last = word.charAt(word.length - 1);
    }
    return from + word.length;
  }

  /** Passes over something whose text doesn't matter and that begins and ends at the same place. */
  passOver(): void {
    if (this.#place !== "code") return;
    this.#last = "";
    this.#word = "";
    this.#dollar = "";
    this.#unicode = false;
    this.#resume = "no";
  }

  #step(c: string): void {
    switch (this.#place) {
      case "code":
        return this.#stepCode(c);
      case "line comment":
        if (c === "\n" || c === "\r") {
          this.#enterCode(c);
          if (this.#resume !== "no") this.#resume = "next line";
        }
        return;
      case "block comment":
        return this.#stepBlockComment(c);
      case "text":
        if (c === "'") this.#enterCode(c);
        return;
      case "identifier":
        if (c === '"') this.#enterCode(c);
        return;
      case "bit text":
      case "unicode text":
        if (c === "'") this.#end(c);
        return;
      case "unicode identifier":
        if (c === '"') this.#end(c);
        return;
      case "escape text":
        if (this.#last === "\\") this.#last = "";
        else if (c === "'") this.#end(c);
        else this.#last = c;
        return;
      case "dollar text":
        this.#tail = (this.#tail + c).slice(-this.#dollar.length);
        if (this.#tail === this.#dollar) this.#enterCode("");
        return;
      case "unclear":
        return;
    }
  }

  /** Ends a text of a kind that what follows may go on with. */
  #end(quote: string): void {
    this.#ended = this.#place;
    this.#enterCode(quote);
    this.#resume = "touching";
  }

  #enterCode(last: string): void {
    this.#place = "code";
    this.#last = last;
    this.#word = "";
    this.#dollar = "";
  }

  #enter(place: SqlPlace): void {
    this.#place = place;
    this.#last = "";
    this.#word = "";
    this.#unicode = false;
  }

  #stepBlockComment(c: string): void {
    if (this.#last === "*" && c === "/") {
      this.#depth--;
      if (this.#depth === 0) this.#enterCode("");
      else this.#last = "";
    } else if (this.#last === "/" && c === "*") {
      this.#depth++;
      this.#last = "";
    } else this.#last = c;
  }

  #stepCode(c: string): void {
    if (this.#dollar !== "" && this.#stepDollar(c)) return;
    if (c === "-" && this.#last === "-") return this.#enter("line comment");
    if (c === "*" && this.#last === "/") {
      this.#depth = 1;
      this.#resume = "no";
      return this.#enter("block comment");
    }
    if (c === "'") return this.#openText();
    if (c === '"') return this.#openIdentifier();
    this.#noteResume(c);
    if (this.#place !== "code") return;
    this.#unicode = c === "&" && /u$/i.test(this.#word);
    if (c === "$" && !startsWithLetter(this.#word)) {
      if (this.#word === "") this.#dollar = c;
      else this.#enter("unclear");
    } else this.#word = isWordCharacter(c) || c === "$" ? this.#word + c : "";
    this.#last = c;
  }

  /** One more character of what may become `$tag$`; false: it isn't one, and `c` is still to be read. */
  #stepDollar(c: string): boolean {
    if (c === "$") {
      this.#dollar += c;
      this.#tail = "";
      this.#enter("dollar text");
      return true;
    }
    if (isWordCharacter(c) && !(this.#dollar === "$" && isDigit(c))) {
      this.#dollar += c;
      if (!isAscii(c)) this.#enter("unclear");
      return true;
    }
    this.#word = this.#dollar;
    this.#dollar = "";
    return false;
  }

  #openText(): void {
    const goesOn = this.#resume === "next line" || (this.#resume === "touching" && this.#ended !== "bit text");
    if (goesOn && this.#ended !== "unicode identifier") this.#enter(this.#ended);
    else this.#enter(this.#unicode ? "unicode text" : textAfter(this.#word));
    this.#resume = "no";
  }

  #openIdentifier(): void {
    const goesOn = this.#resume === "touching" && this.#ended === "unicode identifier";
    this.#enter(goesOn || this.#unicode ? "unicode identifier" : "identifier");
    this.#resume = "no";
  }

  #noteResume(c: string): void {
    if (this.#resume === "no" || (c === "-" && this.#last !== "-")) return;
    if (!isAscii(c)) return this.#enter("unclear");
    if (this.#last === "-" || !" \t\f\v\n\r".includes(c)) this.#resume = "no";
    else if (c === "\n" || c === "\r") this.#resume = "next line";
    else if (this.#resume === "touching") this.#resume = "same line";
  }
}

/** What a `'` opens right after a word: `E'`, `x'` and `b'` are texts of their own, and `1E'` leaves doubt. */
function textAfter(word: string): SqlPlace {
  const kind = PREFIXES[word.slice(-1).toLowerCase()];
  if (kind === undefined || word.length === 1) return kind ?? "text";
  const ascii = /[\w$]*$/.exec(word)?.[0] ?? "";
  return startsWithLetter(ascii) && ascii.length > 1 ? "text" : "unclear";
}

function offsetOf(character: string, sql: string, from: number): number {
  const offset = sql.indexOf(character, from);
  return offset === -1 ? sql.length : offset;
}

function startsWithLetter(word: string): boolean {
  return /^[A-Za-z_]/.test(word);
}

function isAscii(c: string): boolean {
  return c < "\x80";
}

function isDigit(c: string): boolean {
  return c >= "0" && c <= "9";
}

function isWordCharacter(c: string): boolean {
  return (c >= "a" && c <= "z") || (c >= "A" && c <= "Z") || isDigit(c) || c === "_" || !isAscii(c);
}
