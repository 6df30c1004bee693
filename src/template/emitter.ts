import type { Emitter } from "liquidjs";
import type { SourcePosition } from "../project/mod.ts";
import { Styled, UnwritableValue, writeValue } from "./literal.ts";
import { lastAtOrBefore } from "./positions.ts";
import type { SegmentMap } from "./rendered.ts";
import { SqlLexer, type SqlPlace } from "./sql_lexer.ts";
import { type Replacements, replaceTexts } from "./values.ts";

/** Characters of SQL that one pipeline may render to. */
const MAX_LENGTH = 16_777_216;

const PLACES: { readonly [place in Exclude<SqlPlace, "code">]: string } = {
  "line comment": "in a comment",
  "block comment": "in a comment",
  "text": "inside '…'",
  "escape text": "inside E'…'",
  "bit text": "inside x'…'",
  "unicode text": "inside U&'…'",
  "unicode identifier": 'inside U&"…"',
  "identifier": 'inside "…"',
  "dollar text": "inside $$…$$",
  "unclear": "behind a text like 1E'…', whose end is unclear",
};

/** Raised when a template writes more than a pipeline may. */
export class OutputTooLong extends Error {
  override readonly name = "OutputTooLong";
}

/**
 * Collects the SQL that a template renders to. It follows the SQL's own quotes and comments as they come out, so that a
 * value is always written for the place where it really lands, whatever branches and trims led there.
 */
export class SqlEmitter implements Emitter {
  /** The SQL so far. */
  buffer = "";
  /** The SQL as it is hashed, and as artifacts show it. */
  identity = "";
  shown = "";
  #lexer = new SqlLexer();
  readonly #outputs: number[] = [];
  readonly #inputs: { readonly offset: number; readonly verbatim: boolean }[] = [];

  constructor(readonly identityTexts: Replacements, readonly shownTexts: Replacements) {}

  /** Called for tags that render to text, of which a pipeline has none. */
  write(html: unknown): void {
    if (html !== "" && html !== undefined) throw new TypeError("Cannot write text that has no place in the template");
  }

  /**
   * Copies a piece of the template. `masked` is the piece with the braces of comments masked.
   *
   * @returns the offset in the piece of a brace that was taken for a comment's and is none, or undefined
   */
  copy(piece: string, masked: string, offset: number): number | undefined {
    this.#mark(offset, true);
    this.#append(piece);
    let fed = 0;
    for (let index = 0; piece !== masked && index < piece.length; index++) {
      if (piece[index] === masked[index]) continue;
      this.#lexer.feed(piece.slice(fed, index));
      fed = index;
      if (!this.#lexer.inComment) return index;
    }
    this.#lexer.feed(fed === 0 ? piece : piece.slice(fed));
    return undefined;
  }

  /** Ends a line comment whose line break was trimmed away, since the code behind it would become part of it. */
  endLine(offset: number): void {
    if (this.#lexer.place === "line comment") this.copy("\n", "\n", offset);
  }

  /**
   * Writes a value for the place where it lands.
   *
   * @throws {UnwritableValue} where the value or the place allows none
   */
  value(value: unknown, offset: number): void {
    const place = this.#lexer.place;
    const sql = writeValue(value, place);
    const space = this.#separator();
    const after = this.#lexer.copy();
    after.feed(space + sql);
    const raw = value instanceof Styled && value.style === "raw";
    if (!raw && (this.#lexer.afterBackslash || after.place !== place)) {
      throw new UnwritableValue(
        "A value can't follow a backslash here, which would make an escape of its first character",
        "Write the backslash twice, or put the value first.",
      );
    }
    this.#mark(offset, false);
    this.#append(
      space + sql,
      space + writeValue(replaceTexts(value, this.identityTexts), place),
      space + writeValue(replaceTexts(value, this.shownTexts), place),
    );
    this.#lexer = after;
  }

  /**
   * Writes a name or a literal that pz made; it only stands in code.
   *
   * @throws {UnwritableValue} elsewhere
   */
  made(sql: string, offset: number, what: string): void {
    this.#requireCode(what);
    const spaced = this.#separator() + sql;
    this.#mark(offset, false);
    this.#append(spaced);
    this.#lexer.feed(spaced);
  }

  /**
   * Writes a mark that is cut out again before DuckDB sees the SQL; it only stands in code.
   *
   * @throws {UnwritableValue} elsewhere
   */
  marker(text: string, offset: number, what: string): void {
    this.#requireCode(what);
    this.#mark(offset, false);
    this.#append(text);
    this.#lexer.passOver();
  }

  /** The map from what was written back to the template. */
  segments(positionAt: (offset: number) => SourcePosition): SegmentMap {
    const outputs = this.#outputs;
    const inputs = this.#inputs;
    return {
      positionAt(offset) {
        const index = lastAtOrBefore(outputs, offset);
        const input = inputs[index];
        if (input === undefined) return positionAt(0);
        return positionAt(input.verbatim ? input.offset + Math.max(0, offset - (outputs[index] ?? 0)) : input.offset);
      },
    };
  }

  /** What must stand between the SQL so far and a value, so that the two don't run into one another. */
  #separator(): string {
    if (this.#lexer.place !== "code") return "";
    if (this.#lexer.resumesText) {
      throw new UnwritableValue(
        "A value can't follow an E'…' text directly, since SQL would join the two",
        "Put an operator such as || between them.",
      );
    }
    return this.#lexer.touches ? " " : "";
  }

  #requireCode(what: string): void {
    const place = this.#lexer.place;
    if (place === "code") return;
    const hint = PLACES[place].startsWith("inside")
      ? "Close the quote that opens before it, or move it out."
      : "Move it out.";
    throw new UnwritableValue(`${what} can't stand ${PLACES[place]}`, hint);
  }

  #mark(offset: number, verbatim: boolean): void {
    this.#outputs.push(this.buffer.length);
    this.#inputs.push({ offset, verbatim });
  }

  #append(sql: string, identity: string = sql, shown: string = sql): void {
    if (this.buffer.length + sql.length > MAX_LENGTH) throw new OutputTooLong();
    this.buffer += sql;
    this.identity += identity;
    this.shown += shown;
  }
}
