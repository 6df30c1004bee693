import { join } from "node:path";
import type { RecordBatch, Schema } from "../../../../util/arrow.ts";
import { type ColumnReader, columnReaders } from "../../../sdk/mod.ts";
import { boundName, hiveFolder, NULL_VALUE } from "../hive.ts";
import { syncFolders } from "./folders.ts";
import type { LineFormat } from "./lines.ts";
import { refused } from "./trouble.ts";
import { textOf } from "./value_text.ts";

/** Characters of lines that may wait for their files. */
const MAX_WAITING = 8 << 20;

/** Files of lines in the making. */
export type TextOutput = {
  write(batch: RecordBatch): Promise<void>;
  /** Brings all onto the disk. */
  finish(): Promise<void>;
  /** Lets go of what is open. */
  close(): void;
};

/** One file. */
export class SingleFile implements TextOutput {
  readonly #format: LineFormat;
  readonly #file: Deno.FsFile;
  readonly #encoder = new TextEncoder();

  private constructor(file: Deno.FsFile, format: LineFormat) {
    this.#file = file;
    this.#format = format;
  }

  static async create(path: string, format: LineFormat): Promise<SingleFile> {
    const output = new SingleFile(await Deno.open(path, { write: true, create: true, truncate: true }), format);
    try {
      await output.#put(format.head);
      return output;
    } catch (error) {
      output.close();
      throw error;
    }
  }

  async write(batch: RecordBatch): Promise<void> {
    const line = this.#format.lines(columnReaders(batch));
    let text = "";
    for (let row = 0; row < batch.numRows; row++) {
      text += line(row);
      if (text.length < MAX_WAITING) continue;
      await this.#put(text);
      text = "";
    }
    await this.#put(text);
  }

  async finish(): Promise<void> {
    await this.#file.sync();
    this.close();
  }

  close(): void {
    this.#file.close();
  }

  async #put(text: string): Promise<void> {
    await writeAll(this.#file, this.#encoder.encode(text));
  }
}

/** A file in each folder `column=value`, which the lines then leave out. */
export class PartitionedFiles implements TextOutput {
  readonly #folder: string;
  readonly #file: string;
  readonly #format: LineFormat;
  /** Places of the columns that name folders, and of those that are written. */
  readonly #keys: readonly number[];
  readonly #rest: readonly number[];
  readonly #lines = new Map<string, string[]>();
  readonly #begun = new Set<string>();
  readonly #encoder = new TextEncoder();
  #waiting = 0;

  private constructor(folder: string, file: string, split: Split, format: LineFormat) {
    this.#folder = folder;
    this.#file = file;
    this.#keys = split.keys;
    this.#rest = split.rest;
    this.#format = format;
  }

  /** @param formatOf the format for columns in these places */
  static create(
    folder: string,
    { columns, file }: { readonly columns: readonly string[]; readonly file: string },
    schema: Schema,
    formatOf: (places: readonly number[]) => LineFormat,
  ): PartitionedFiles {
    const split = splitColumns(schema, columns);
    Deno.mkdirSync(folder);
    return new PartitionedFiles(folder, file, split, formatOf(split.rest));
  }

  async write(batch: RecordBatch): Promise<void> {
    const readers = columnReaders(batch);
    const line = this.#format.lines(this.#rest.flatMap((place) => readers[place] ?? []));
    const keys = this.#keys.flatMap((place) => readers[place] ?? []).map(folderOf);
    for (let row = 0; row < batch.numRows; row++) {
      const path = join(...keys.map((folder) => folder(row)));
      const text = line(row);
      const lines = this.#lines.get(path);
      if (lines === undefined) this.#lines.set(path, [text]);
      else lines.push(text);
      this.#waiting += text.length;
      if (this.#waiting > MAX_WAITING) await this.#flush();
    }
  }

  async finish(): Promise<void> {
    await this.#flush();
    for (const path of this.#begun) {
      using file = await Deno.open(this.#pathOf(path), { read: true, write: true });
      await file.sync();
    }
    await syncFolders(this.#folder);
  }

  close(): void {}

  #pathOf(path: string): string {
    return join(this.#folder, path, this.#file);
  }

  /** Files are open only while they are written to: there may be more of them than a process may have open. */
  async #flush(): Promise<void> {
    for (const [path, lines] of this.#lines) {
      const isNew = !this.#begun.has(path);
      if (isNew) Deno.mkdirSync(join(this.#folder, path), { recursive: true });
      this.#begun.add(path);
      using file = await Deno.open(this.#pathOf(path), { write: true, create: true, append: true });
      await writeAll(file, this.#encoder.encode((isNew ? this.#format.head : "") + lines.join("")));
    }
    this.#lines.clear();
    this.#waiting = 0;
  }
}

type Split = { readonly keys: readonly number[]; readonly rest: readonly number[] };

function splitColumns({ fields }: Schema, columns: readonly string[]): Split {
  const names = fields.map(({ name }) => name);
  const keys = columns.map((column) => {
    const name = boundName(names, column);
    if (name !== undefined) return names.indexOf(name);
    throw refused(
      `"partition_by" names "${column}", which is no column of the output`,
      `it has ${names.map((one) => `"${one}"`).join(", ")}`,
    );
  });
  const rest = names.flatMap((_, index) => keys.includes(index) ? [] : [index]);
  if (rest.length > 0) return { keys, rest };
  throw refused(`"partition_by" names all columns of the output, and none is left to write`);
}

/** What gives the folder of a row for one column. */
function folderOf(reader: ColumnReader): (row: number) => string {
  const text = textOf(reader);
  const { name } = reader.field;
  if (text === undefined) throw refused(`Column "${name}" of "partition_by" holds values of the kind ${reader.kind}`);
  const folders = new Map<string, string>();
  return (row) => {
    if (reader.isNull(row)) return hiveFolder(name, null);
    const value = text(row);
    let folder = folders.get(value);
    if (folder !== undefined) return folder;
    if (value === NULL_VALUE) {
      throw refused(`Column "${name}" of "partition_by" holds "${value}", which stands for NULL`);
    }
    folder = hiveFolder(name, value);
    folders.set(value, folder);
    return folder;
  };
}

async function writeAll(file: Deno.FsFile, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await file.write(bytes.subarray(at));
}
