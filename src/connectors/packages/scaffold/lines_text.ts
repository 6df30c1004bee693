/** How a new connector speaks to its system. */
export const LINES_TEXT = `import { createReadStream } from "node:fs";
import { appendFile, copyFile, readdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type CellValue, type ColumnReader, ConnectorError } from "./sdk.js";

/** What a line holds. */
export type Line = { readonly [name: string]: unknown };
export type Column = { readonly name: string; readonly type: "VARCHAR" | "DOUBLE" | "BOOLEAN" };

/** A folder whose files hold one JSON object a line. */
export class FolderOfLines {
  constructor(private readonly path: string) {}

  async check(): Promise<void> {
    try {
      await readdir(this.path);
    } catch (error) {
      throw notThere("The folder " + this.path + " can't be read", error);
    }
  }

  /** The objects of a file, one after the other. */
  async *records(entity: string): AsyncGenerator<Line> {
    const input = createReadStream(this.#file(entity), "utf8");
    let number = 0;
    try {
      for await (const text of createInterface({ input, crlfDelay: Infinity })) {
        number++;
        if (text.trim() !== "") yield parse(text, entity, number);
      }
    } catch (error) {
      if (error instanceof ConnectorError) throw error;
      throw notThere("There is nothing to read at " + this.#file(entity), error);
    } finally {
      input.destroy();
    }
  }

  /** Makes a file that nobody reads yet; its path. */
  async begin(entity: string, attempt: string, withFormer: boolean): Promise<string> {
    const draft = join(this.path, "." + entityName(entity) + "." + attempt + ".tmp");
    try {
      if (withFormer) await copyFile(this.#file(entity), draft);
      else await writeFile(draft, "");
    } catch (error) {
      if (!withFormer || !isMissing(error)) throw error;
      await writeFile(draft, "");
    }
    return draft;
  }

  async add(draft: string, lines: readonly string[]): Promise<void> {
    await appendFile(draft, lines.join(""));
  }

  /** Gives the file its name, in one step. */
  async publish(draft: string, entity: string): Promise<void> {
    await rename(draft, this.#file(entity));
  }

  async discard(draft: string): Promise<void> {
    await rm(draft, { force: true });
  }

  #file(entity: string): string {
    return join(this.path, entityName(entity) + ".jsonl");
  }
}

/** A name becomes part of a path, so that it must not lead elsewhere. */
function entityName(entity: string): string {
  if (/^[A-Za-z0-9_-]+$/.test(entity)) return entity;
  throw new ConnectorError("The name " + JSON.stringify(entity) + " has more than letters, digits, _ and -", {
    transient: false,
    code: "PZ0301",
  });
}

function parse(text: string, entity: string, number: number): Line {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  throw new ConnectorError(entity + ".jsonl, line " + number + ", holds no JSON object", { transient: false });
}

/** The names that the lines have, in the order of their first use, each with a type that fits all its values. */
export async function columnsOf(records: AsyncIterable<Line>): Promise<readonly Column[]> {
  const types = new Map<string, Column["type"] | undefined>();
  for await (const record of records) {
    for (const [name, value] of Object.entries(record)) {
      const type = typeOf(value);
      const known = types.get(name);
      types.set(name, known === undefined || type === undefined || known === type ? known ?? type : "VARCHAR");
    }
  }
  return [...types].map(([name, type]) => ({ name, type: type ?? "VARCHAR" }));
}

function typeOf(value: unknown): Column["type"] | undefined {
  if (value === null || value === undefined) return undefined;
  return typeof value === "number" ? "DOUBLE" : typeof value === "boolean" ? "BOOLEAN" : "VARCHAR";
}

/** A value as a column of its type takes it. */
export function valueOf(record: Line, { name, type }: Column): CellValue {
  const value = record[name];
  if (value === null || value === undefined) return null;
  if (type === "DOUBLE" && typeof value === "number") return value;
  if (type === "BOOLEAN" && typeof value === "boolean") return value;
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** A row as a line of JSON. */
export function lineOf(readers: readonly ColumnReader[], row: number): string {
  const members = readers.map((reader) => JSON.stringify(reader.field.name) + ":" + jsonOf(reader, row));
  return "{" + members.join(",") + "}\\n";
}

function jsonOf(reader: ColumnReader, row: number): string {
  const value = reader.value(row);
  if (value === null) return "null";
  switch (reader.kind) {
    case "bool":
    case "float":
      return JSON.stringify(value);
    case "int":
    case "long":
    case "decimal":
    case "hugeint":
      return reader.text(row); // exact, however many digits
    case "text":
    case "uuid":
      return JSON.stringify(reader.text(row));
    case "json":
      return reader.text(row);
  }
  throw new ConnectorError(
    "Column " + JSON.stringify(reader.field.name) + " has the type " + reader.field.type + ", which a line can't hold",
    { transient: false, hint: "CAST it to VARCHAR in the pipeline" },
  );
}

function notThere(message: string, cause: unknown): ConnectorError {
  return new ConnectorError(message + ": " + (cause instanceof Error ? cause.message : String(cause)), {
    transient: false,
    hint: "see the option path of the connection",
    cause,
  });
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}
`;
