import type { Data, DataType } from "../../../util/arrow.ts";
import type { Cells } from "./cells.ts";
import { Room, Validity } from "./column_buffers.ts";
import type { Put, Target } from "./fixed_values.ts";

/** Collects one column's values out of the server's binary form. */
export interface Column {
  /** @throws {BadValue} for a value that the column's type can't hold */
  add(cells: Cells): void;
  /** The values so far; starts anew. */
  take(): Data;
}

const FIRST_ROWS = 1024;

/** Values of so many bytes each; `view` is Arrow's of the bytes of so many rows. */
export type FixedForm = {
  readonly width: number;
  readonly put: Put;
  readonly view: (buffer: ArrayBuffer, rows: number) => ArrayBufferView;
};

/** Values of one width. */
export class FixedColumn implements Column {
  readonly #type: DataType;
  readonly #form: FixedForm;
  readonly #validity = new Validity();
  readonly #room: Room;
  #target: Target | undefined;

  constructor(type: DataType, form: FixedForm) {
    this.#type = type;
    this.#form = form;
    this.#room = new Room(FIRST_ROWS * form.width);
  }

  add(cells: Cells): void {
    const row = this.#validity.length;
    const bytes = this.#room.reserve((row + cells.rows) * this.#form.width);
    if (this.#target?.bytes !== bytes) {
      const { buffer } = bytes;
      this.#target = { bytes, words: new Uint32Array(buffer), view: new DataView(buffer) };
    }
    this.#form.put(this.#target, row, cells);
    this.#validity.add(cells);
  }

  take(): Data {
    const { width, view } = this.#form;
    const rows = this.#validity.length;
    const values = view(this.#room.take(rows * width).buffer, rows);
    this.#target = undefined;
    return this.#validity.take(this.#type, undefined, values, []);
  }
}

/** Truth values, a bit each. */
export class BoolColumn implements Column {
  readonly #type: DataType;
  readonly #validity = new Validity();
  readonly #room = new Room(FIRST_ROWS >> 3);

  constructor(type: DataType) {
    this.#type = type;
  }

  add(cells: Cells): void {
    const { bytes, places, from, rows } = cells;
    const start = this.#validity.length;
    const bits = this.#room.reserve((start + rows + 7) >> 3);
    for (let index = 0; index < rows; index++) {
      const at = places[from + index] ?? -1;
      if (at < 0 || bytes[at] === 0) continue;
      const byte = (start + index) >> 3;
      bits[byte] = (bits[byte] ?? 0) | (1 << ((start + index) & 7));
    }
    this.#validity.add(cells);
  }

  take(): Data {
    const bits = this.#room.take((this.#validity.length + 7) >> 3);
    return this.#validity.take(this.#type, undefined, bits, []);
  }
}
