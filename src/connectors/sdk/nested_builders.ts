import type { Data, DataType } from "../../util/arrow.ts";
import { type CellValue, isStruct, type StructValue } from "./cell.ts";
import { ColumnBuilder, grown } from "./column_builder.ts";

const FIRST_ROWS = 1024;

/** Lists: either whole with `append`, or item by item into `items` and then `endList`. */
export class ListBuilder extends ColumnBuilder {
  readonly items: ColumnBuilder;
  #offsets = new Int32Array(FIRST_ROWS + 1);

  constructor(type: DataType, items: ColumnBuilder) {
    super(type);
    this.items = items;
  }

  get bytes(): number {
    return this.items.bytes + this.length * 4;
  }

  /** Ends the list that holds what `items` got since the last one. */
  endList(): void {
    this.added();
    const row = this.length;
    if (row >= this.#offsets.length) this.#offsets = grown(this.#offsets, new Int32Array(this.#offsets.length * 2));
    this.#offsets[row] = this.items.length;
  }

  protected override appendValue(value: CellValue): void {
    if (!Array.isArray(value)) throw this.misfit(value);
    for (const item of value) this.items.append(item);
    this.endList();
  }

  protected override appendNothing(): void {
    this.endList();
  }

  override finish(): Data {
    const offsets = this.#offsets.subarray(0, this.length + 1);
    this.#offsets = new Int32Array(FIRST_ROWS + 1);
    return this.take(offsets, undefined, [this.items.finish()]);
  }
}

/** Lists of one length. */
export class FixedListBuilder extends ColumnBuilder {
  readonly items: ColumnBuilder;
  readonly #size: number;

  constructor(type: DataType, items: ColumnBuilder, size: number) {
    super(type);
    this.items = items;
    this.#size = size;
  }

  get bytes(): number {
    return this.items.bytes;
  }

  protected override appendValue(value: CellValue): void {
    if (!Array.isArray(value) || value.length !== this.#size) throw this.misfit(value);
    for (const item of value) this.items.append(item);
    this.added();
  }

  protected override appendNothing(): void {
    for (let index = 0; index < this.#size; index++) this.items.appendNull();
    this.added();
  }

  override finish(): Data {
    return this.take(undefined, undefined, [this.items.finish()]);
  }
}

/** Structs: either whole with `append`, or one value into each of `members` and then `endStruct`. */
export class StructBuilder extends ColumnBuilder {
  readonly members: readonly ColumnBuilder[];
  readonly #names: readonly string[];

  constructor(type: DataType, names: readonly string[], members: readonly ColumnBuilder[]) {
    super(type);
    this.#names = names;
    this.members = members;
  }

  get bytes(): number {
    return this.members.reduce((sum, member) => sum + member.bytes, 0);
  }

  endStruct(): void {
    this.added();
  }

  protected override appendValue(value: CellValue): void {
    if (!isStruct(value)) throw this.misfit(value);
    const struct: StructValue = value;
    const unknown = Object.keys(struct).find((name) => !this.#names.includes(name));
    if (unknown !== undefined) throw this.unfit("an object with a member that the type lacks");
    this.members.forEach((member, index) => {
      const name = this.#names[index] ?? "";
      member.append(Object.hasOwn(struct, name) ? struct[name] ?? null : null);
    });
    this.endStruct();
  }

  protected override appendNothing(): void {
    for (const member of this.members) member.appendNull();
    this.added();
  }

  override finish(): Data {
    return this.take(undefined, undefined, this.members.map((member) => member.finish()));
  }
}

/** Maps: either whole with `append`, or entry by entry into `keys` and `values` and then `endMap`. */
export class MapBuilder extends ColumnBuilder {
  readonly keys: ColumnBuilder;
  readonly values: ColumnBuilder;
  readonly #entryType: DataType;
  #offsets = new Int32Array(FIRST_ROWS + 1);

  constructor(type: DataType, entryType: DataType, keys: ColumnBuilder, values: ColumnBuilder) {
    super(type);
    this.#entryType = entryType;
    this.keys = keys;
    this.values = values;
  }

  get bytes(): number {
    return this.keys.bytes + this.values.bytes + this.length * 4;
  }

  endMap(): void {
    this.added();
    const row = this.length;
    if (row >= this.#offsets.length) this.#offsets = grown(this.#offsets, new Int32Array(this.#offsets.length * 2));
    this.#offsets[row] = this.keys.length;
  }

  protected override appendValue(value: CellValue): void {
    if (!(value instanceof Map)) throw this.misfit(value);
    for (const [key, member] of value) {
      this.keys.append(key);
      this.values.append(member);
    }
    this.endMap();
  }

  protected override appendNothing(): void {
    this.endMap();
  }

  override finish(): Data {
    const offsets = this.#offsets.subarray(0, this.length + 1);
    this.#offsets = new Int32Array(FIRST_ROWS + 1);
    const entries = new StructBuilder(this.#entryType, ["key", "value"], [this.keys, this.values]);
    for (let at = this.keys.length; at > 0; at--) entries.endStruct();
    return this.take(offsets, undefined, [entries.finish()]);
  }
}
