import type { SqlPlace } from "./sql_lexer.ts";

/** How a value that a filter has marked is written: as a quoted name, as it stands, or as a name that pz made. */
export type Style = "ident" | "raw" | "relation";

/** A text that is not written as a text literal. Other filters see it as the text that it is written as. */
export class Styled {
  // Private, since templates can read what an object owns.
  readonly #style: Style;
  readonly #text: string;

  constructor(style: Style, text: string) {
    this.#style = style;
    this.#text = text;
  }

  get style(): Style {
    return this.#style;
  }

  get text(): string {
    return this.#text;
  }

  toString(): string {
    return this.style === "ident" ? quoteName(this.text) : this.text;
  }
}

/** Why a value can't be written where it stands, with the next step. */
export class UnwritableValue extends Error {
  override readonly name = "UnwritableValue";
  constructor(message: string, readonly hint: string) {
    super(message);
  }
}

/**
 * The SQL for a value at a place: in code a typed literal, inside quotes the value's text with that quote doubled. Only
 * text marked `raw` can end the literal it stands in.
 *
 * @throws {UnwritableValue} where the value or the place allows none
 */
export function writeValue(value: unknown, place: SqlPlace): string {
  if (value instanceof Styled && value.style === "raw" && !place.endsWith("comment")) return checked(value.text);
  switch (place) {
    case "code":
      return writeLiteral(value);
    case "text":
      return plainText(value, "'").replaceAll("'", "''");
    case "escape text":
      return plainText(value, "'").replaceAll("\\", "\\\\").replaceAll("'", "''");
    case "bit text":
      return bits(plainText(value, "'"));
    case "identifier":
      return plainText(value, '"').replaceAll('"', '""');
    case "unicode text":
    case "unicode identifier":
      throw new UnwritableValue(
        "A value can't stand inside U&'…' or U&\"…\", where its backslashes would be read as escapes",
        "Remove the U&.",
      );
    case "dollar text":
      throw new UnwritableValue(
        "A value can't stand inside $$…$$, which has no way to mark its end",
        "Use '…' in place of the dollar quotes.",
      );
    case "line comment":
    case "block comment":
      throw new UnwritableValue(
        "A value can't stand inside a comment",
        "Move it out, or remove the '-' of '{{-' or '{%-' that joins this line to the comment above.",
      );
    case "unclear":
      throw new UnwritableValue(
        "Whether this place is inside a text can't be told, because a text before it opens like 1E'…'",
        "Put a space before the E.",
      );
  }
}

function writeLiteral(value: unknown): string {
  if (value instanceof Styled) return checked(value.toString());
  if (value === null) return "NULL";
  if (typeof value === "boolean") return value ? "TRUE" : "FALSE";
  if (typeof value === "number" || typeof value === "bigint") return numberText(value);
  if (typeof value === "string") return `'${checked(value).replaceAll("'", "''")}'`;
  if (Array.isArray(value)) {
    if (value.length === 0) {
      throw new UnwritableValue(
        "An empty list can't be written in SQL",
        "Leave the condition out with {% if list.size > 0 %}.",
      );
    }
    return `(${value.map(writeLiteral).join(", ")})`;
  }
  throw unwritable(value);
}

function plainText(value: unknown, quote: string): string {
  if (value instanceof Styled) {
    if (value.style !== "ident") return checked(value.text);
    throw new UnwritableValue(
      "The filter 'ident' writes its own quotes and can't stand inside quotes",
      `Remove the ${quote} around it, or the filter.`,
    );
  }
  if (typeof value === "string") return checked(value);
  if (typeof value === "boolean") return String(value);
  if (typeof value === "number" || typeof value === "bigint") return numberText(value);
  throw new UnwritableValue(
    `Inside ${quote}…${quote} only a text, a number or a boolean can stand, not ${describe(value)}`,
    `Remove the ${quote} around it.`,
  );
}

/** Bit and hex texts know no doubled quote. */
function bits(text: string): string {
  if (!text.includes("'")) return text;
  throw new UnwritableValue("A text with a ' can't stand inside x'…' or b'…'", "Pass digits only.");
}

function numberText(value: number | bigint): string {
  if (typeof value === "bigint") return String(value);
  if (!Number.isFinite(value)) {
    throw new UnwritableValue(`The number ${value} can't be written in SQL`, "Write it as SQL, such as 'inf'::DOUBLE.");
  }
  return String(value === 0 ? 0 : value);
}

function checked(text: string): string {
  if (text.includes("\0")) {
    throw new UnwritableValue("A text with a NUL character can't be written in SQL", "Remove the character.");
  }
  return text;
}

function unwritable(value: unknown): UnwritableValue {
  return new UnwritableValue(
    `${describe(value)} can't be written in SQL`.replace(/^a /, "A "),
    "Pick one of its members.",
  );
}

/** A value's kind in words. */
export function describe(value: unknown): string {
  if (value === null || value === undefined) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "string" || value instanceof Styled) return "a text";
  if (typeof value === "number" || typeof value === "bigint") return "a number";
  if (typeof value === "boolean") return "a boolean";
  return "a map";
}

/** A name as a quoted SQL identifier. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** A relation of the staging schema; quoted where its name is not a plain one. */
export function stagingRelation(name: string): string {
  return `staging.${/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) ? name : quoteName(name)}`;
}
