import type { Data, DataType } from "../../../util/arrow.ts";
import { BadValue } from "./bad_value.ts";
import type { Cells } from "./cells.ts";
import { Room, Validity } from "./column_buffers.ts";
import type { Column } from "./fixed_columns.ts";

const FIRST_ROWS = 1024;
const MAX_COLUMN_BYTES = 0x7fffffff;
/** Copying word by word beats a call of the runtime up to about this length. */
const SHORT_BYTES = 256;

/** Texts and bytes; `skip` bytes at the start of each value are left out. */
export class BytesColumn implements Column {
  readonly #type: DataType;
  readonly #skip: number;
  readonly #validity = new Validity();
  readonly #offsets = new Room((FIRST_ROWS + 1) * 4);
  readonly #values = new Room(FIRST_ROWS * 16);
  #fill = 0;

  constructor(type: DataType, skip: number) {
    this.#type = type;
    this.#skip = skip;
  }

  add(cells: Cells): void {
    const { view, places, from, rows } = cells;
    const skip = this.#skip;
    const row = this.#validity.length;
    const offsets = new Int32Array(this.#offsets.reserve((row + rows + 1) * 4).buffer);
    let end = this.#fill;
    for (let index = 0; index < rows; index++) {
      const at = places[from + index] ?? -1;
      if (at >= 0) end += view.getInt32(at - 4) - skip;
      offsets[row + index + 1] = end;
    }
    if (end > MAX_COLUMN_BYTES) throw new BadValue("there are more than 2 GiB of text in one batch");
    // The last word of a short value may reach over its end.
    copyTexts(this.#values.reserve(end + 3), this.#fill, skip, cells);
    this.#fill = end;
    this.#validity.add(cells);
  }

  take(): Data {
    const rows = this.#validity.length;
    const offsets = new Int32Array(this.#offsets.take((rows + 1) * 4).buffer, 0, rows + 1);
    const values = this.#values.take(this.#fill).subarray(0, this.#fill);
    this.#fill = 0;
    return this.#validity.take(this.#type, offsets, values, []);
  }
}

/** Copies a run of values one behind the other, from `start` of the target on. */
function copyTexts(target: Uint8Array<ArrayBuffer>, start: number, skip: number, cells: Cells): void {
  const { bytes, view, places, from, rows } = cells;
  const words = new DataView(target.buffer);
  /** Where a whole word can still be read. */
  const last = view.byteLength - 4;
  let to = start;
  for (let index = 0; index < rows; index++) {
    const at = places[from + index] ?? -1;
    if (at < 0) continue;
    const size = view.getInt32(at - 4) - skip;
    const source = at + skip;
    if (size <= SHORT_BYTES && source + size <= last) {
      for (let done = 0; done < size; done += 4) words.setUint32(to + done, view.getUint32(source + done));
    } else target.set(bytes.subarray(source, source + size), to);
    to += size;
  }
}
