import type { Data, Field } from "../../util/arrow.ts";
import type { CellValue } from "./cell.ts";
import { type ColumnKind, ColumnReader } from "./column_reader.ts";

const DECODER = new TextDecoder("utf-8", { ignoreBOM: true });

/** Texts and blobs. */
export class TextReader extends ColumnReader {
  /** The bytes of all rows; those of a row are from its `start` to its `end`. */
  readonly data: Uint8Array;
  readonly #offsets: { readonly [row: number]: number | bigint };

  constructor(field: Field, data: Data, kind: ColumnKind) {
    super(field, data, kind);
    this.data = data.values;
    this.#offsets = data.valueOffsets;
  }

  start(row: number): number {
    return Number(this.#offsets[row] ?? 0);
  }

  end(row: number): number {
    return Number(this.#offsets[row + 1] ?? 0);
  }

  override bytes(row: number): Uint8Array {
    return this.data.subarray(this.start(row), this.end(row));
  }

  override text(row: number): string {
    return this.kind === "blob" ? super.text(row) : DECODER.decode(this.bytes(row));
  }

  protected override present(row: number): CellValue {
    return this.kind === "blob" ? this.bytes(row) : this.text(row);
  }
}

/** Texts that are numbers of labels. */
export class LabelReader extends ColumnReader {
  readonly #labels: (string | null)[];
  readonly #indices: { readonly [row: number]: number | bigint };

  constructor(field: Field, data: Data) {
    super(field, data, "text");
    this.#indices = data.values;
    this.#labels = [...data.dictionary ?? []];
  }

  override text(row: number): string {
    return this.#labels[Number(this.#indices[row] ?? 0)] ?? "";
  }

  protected override present(row: number): CellValue {
    return this.#labels[Number(this.#indices[row] ?? 0)] ?? null;
  }
}

/** Lists, of any or of one length. */
export class ListReader extends ColumnReader {
  /** The items of all rows; those of a row are from its `start` to its `end`. */
  readonly items: ColumnReader;
  readonly #offsets: Int32Array;
  readonly #size: number | undefined;

  constructor(field: Field, data: Data, items: ColumnReader, size?: number) {
    super(field, data, "list");
    this.items = items;
    this.#offsets = data.valueOffsets;
    this.#size = size;
  }

  start(row: number): number {
    return this.#size === undefined ? this.#offsets[row] ?? 0 : row * this.#size;
  }

  end(row: number): number {
    return this.start(row + 1);
  }

  protected override present(row: number): CellValue {
    const start = this.start(row);
    return Array.from({ length: this.end(row) - start }, (_, index) => this.items.value(start + index));
  }
}

export class StructReader extends ColumnReader {
  /** One for each member, for the same rows. */
  readonly members: readonly ColumnReader[];

  constructor(field: Field, data: Data, members: readonly ColumnReader[]) {
    super(field, data, "struct");
    this.members = members;
  }

  protected override present(row: number): CellValue {
    return Object.fromEntries(this.members.map((member) => [member.field.name, member.value(row)]));
  }
}

export class MapReader extends ColumnReader {
  /** The keys and values of all rows; those of a row are from its `start` to its `end`. */
  readonly keys: ColumnReader;
  readonly values: ColumnReader;
  readonly #offsets: Int32Array;

  constructor(field: Field, data: Data, keys: ColumnReader, values: ColumnReader) {
    super(field, data, "map");
    this.keys = keys;
    this.values = values;
    this.#offsets = data.valueOffsets;
  }

  start(row: number): number {
    return this.#offsets[row] ?? 0;
  }

  end(row: number): number {
    return this.#offsets[row + 1] ?? 0;
  }

  protected override present(row: number): CellValue {
    const map = new Map<CellValue, CellValue>();
    for (let at = this.start(row); at < this.end(row); at++) map.set(this.keys.value(at), this.values.value(at));
    return map;
  }
}
