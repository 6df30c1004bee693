/** Keeps the end of a stream of text, up to a number of bytes. */
export class Tail {
  readonly #limit: number;
  #bytes = new Uint8Array(0);

  constructor(limit: number) {
    this.#limit = limit;
  }

  push(bytes: Uint8Array): void {
    const joined = new Uint8Array(this.#bytes.length + bytes.length);
    joined.set(this.#bytes);
    joined.set(bytes, this.#bytes.length);
    this.#bytes = joined.slice(-this.#limit);
  }

  /** The text, on one line, without control characters. */
  text(): string {
    return printable(new TextDecoder().decode(this.#bytes));
  }
}

const COLOURS = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*[A-Za-z]`, "g");

/** A foreign text made fit for one line of a message: colours go, control characters become blanks. */
export function printable(text: string): string {
  return text.replaceAll(COLOURS, "").replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ").trim();
}
