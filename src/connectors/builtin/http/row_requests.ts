import type { WriteOptions } from "./write_options.ts";

/** The rows of one request, as JSON, on their way. */
export class RowRequest {
  readonly #format: WriteOptions["format"];
  readonly #rows: string[] = [];
  #length = 0;

  constructor(format: WriteOptions["format"]) {
    this.#format = format;
  }

  get rows(): number {
    return this.#rows.length;
  }

  /** Characters of all rows. */
  get length(): number {
    return this.#length;
  }

  /** @param json one object, without a line's end */
  add(json: string): void {
    this.#rows.push(json);
    this.#length += json.length;
  }

  /** The body of all rows so far; starts anew. */
  take(): { readonly type: string; readonly bytes: Uint8Array<ArrayBuffer> } {
    const rows = this.#rows.splice(0);
    this.#length = 0;
    const text = this.#format === "json_array"
      ? `[${rows.join(",")}]`
      : this.#format === "ndjson"
      ? `${rows.join("\n")}\n`
      : rows.join("");
    const type = this.#format === "ndjson" ? "application/x-ndjson" : "application/json";
    return { type, bytes: new TextEncoder().encode(text) };
  }
}
