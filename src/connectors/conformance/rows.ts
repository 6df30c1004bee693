import { Field, Int64, type RecordBatch, Schema, Utf8 } from "../../util/arrow.ts";
import { sha256Hex } from "../../util/mod.ts";
import { BatchBuilder, type CellValue, columnReaders } from "../sdk/mod.ts";

/** The rows of a read as texts, and how they came. */
export type Rows = {
  readonly schema: Schema;
  /** Each row, its values as texts in one form, whatever types they have. */
  readonly rows: readonly string[][];
  readonly batches: number;
};

/** More rows than this are counted and not compared. */
const MAX_ROWS = 200_000;

/** The rows of a batch as texts. */
export function textsOf(batch: RecordBatch): string[][] {
  const readers = columnReaders(batch);
  return Array.from({ length: batch.numRows }, (_, row) => readers.map((reader) => textOf(reader.value(row))));
}

/** One text for each value: whole numbers have one form, be they integers or floating. */
export function textOf(value: CellValue): string {
  if (value === null) return "NULL";
  if (typeof value === "bigint" || typeof value === "number" || typeof value === "boolean") return String(value);
  if (typeof value === "string") return `"${value}"`;
  if (value instanceof Uint8Array) return sha256Hex(value);
  if (value instanceof Map) return `{${[...value].map(([key, inner]) => `${textOf(key)}:${textOf(inner)}`).join(",")}}`;
  if (Array.isArray(value)) return `[${value.map(textOf).join(",")}]`;
  return `{${Object.entries(value).map(([key, inner]) => `${key}:${textOf(inner)}`).join(",")}}`;
}

/** A number that is the same for the same rows in any order. */
export function digestOf(rows: readonly (readonly string[])[]): string {
  const sum = rows.reduce((total, row) => total + BigInt(`0x${sha256Hex(JSON.stringify(row)).slice(0, 24)}`), 0n);
  return `${rows.length}:${sum}`;
}

/** All rows of some streams of batches. */
export async function collectRows(schema: Schema, streams: readonly AsyncIterable<RecordBatch>[]): Promise<Rows> {
  const rows: string[][] = [];
  let batches = 0;
  for (const stream of streams) {
    for await (const batch of stream) {
      batches++;
      const problem = sameFields(schema, batch.schema);
      if (problem !== undefined) throw new Error(`batch ${batches} is of another schema: ${problem}`);
      if (rows.length < MAX_ROWS) rows.push(...textsOf(batch));
    }
  }
  return { schema, rows, batches };
}

/** In what a schema differs from the one that was told; undefined: in nothing. */
export function sameFields(told: Schema, found: Schema): string | undefined {
  if (told.fields.length !== found.fields.length) {
    return `${found.fields.length} fields in place of ${told.fields.length}`;
  }
  for (const [index, field] of told.fields.entries()) {
    const other = found.fields[index];
    if (other?.name !== field.name) return `field ${index + 1} is "${other?.name}" in place of "${field.name}"`;
    if (String(other.type) !== String(field.type)) return `"${field.name}" is ${other.type} in place of ${field.type}`;
  }
  return undefined;
}

/** The schema of the rows that are written: an id that is never NULL, and a name. */
export function factSchema(): Schema {
  return new Schema([new Field("id", new Int64(), false), new Field("name", new Utf8(), false)]);
}

/** Rows with these ids, named after them. */
export function factBatch(ids: readonly number[], prefix = "name"): RecordBatch {
  const builder = new BatchBuilder(factSchema());
  for (const id of ids) builder.append([BigInt(id), `${prefix} ${id}`]);
  return builder.finish();
}

/** The whole numbers from one to before another. */
export function numbers(from: number, before: number): readonly number[] {
  return Array.from({ length: before - from }, (_, index) => from + index);
}
