import type { ConfigProblem } from "../../contract/mod.ts";
import { type FileKind, fileKind, specialProblem } from "../localfiles/file_kind.ts";
import { realPath } from "../localfiles/place.ts";
import { literal, qualified } from "../../../duckdb/mod.ts";
import { sha256Hex } from "../../../util/mod.ts";

/** What stands for a file's first bytes to be a database: a checksum, the magic word, and three blocks of headers. */
const MAGIC = "DUCK";
const MAGIC_AT = 8;
const HEADER_BYTES = 3 * 4096;

/** What stands at the path of a database; anything but a database or nothing is pushed as a problem. */
export function checkFile(path: string, problems: ConfigProblem[]): FileKind {
  const kind = fileKind(path);
  const special = specialProblem(path);
  if (special !== undefined) problems.push({ ...special, setting: "path" });
  if (kind === "folder") {
    problems.push({ code: "PZ0353", message: `"${path}" is a folder, not a DuckDB database`, setting: "path" });
  }
  const trouble = kind === "file" ? troubleOf(path) : undefined;
  if (trouble !== undefined) {
    problems.push({
      code: "PZ0353",
      message: `"${path}" ${trouble}`,
      setting: "path",
      hint: "put the database back from a copy, or take the file away: a write makes a new one",
    });
  }
  return kind;
}

function troubleOf(path: string): string | undefined {
  let bytes: Uint8Array;
  let size: number;
  try {
    using file = Deno.openSync(path);
    size = file.statSync().size;
    const start = new Uint8Array(MAGIC_AT + MAGIC.length);
    bytes = start.subarray(0, file.readSync(start) ?? 0);
  } catch (error) {
    if (error instanceof Deno.errors.PermissionDenied) return "may not be read by this user";
    throw error;
  }
  if (size === 0) return "is an empty file, not a DuckDB database";
  if (new TextDecoder().decode(bytes.subarray(MAGIC_AT)) !== MAGIC) return "is no DuckDB database";
  return size < HEADER_BYTES ? `is a DuckDB database that was cut off after ${size} bytes` : undefined;
}

/** The name under which a database is attached, one for all connections to it. */
export function aliasOf(path: string): string {
  return `pz_duckdb_${sha256Hex(realPath(path)).slice(0, 16)}`;
}

/** The statement that attaches a database, so that it can be written to or only read. */
export function attachment(path: string, use: "write" | "read" = "write"): string {
  const only = use === "read" ? ", READ_ONLY" : "";
  return `ATTACH IF NOT EXISTS ${literal(path)} AS ${qualified(aliasOf(path))} (TYPE duckdb${only})`;
}

/** A table of a connection's database, `schema` being `main` unless the entity says otherwise. */
export type TableName = { readonly alias: string; readonly schema: string; readonly table: string };

/** The table of a database that an entity names as `table` or `schema.table`; anything else is pushed as a problem. */
export function tableOf(
  path: string | undefined,
  entity: string,
  problems: ConfigProblem[],
): TableName | undefined {
  const parts = entity.split(".");
  const [first, second] = parts;
  if (first === undefined || parts.length > 2 || parts.includes("")) {
    problems.push({
      code: "PZ0353",
      message: `Entity "${entity}" is no table of a DuckDB database: expected "table" or "schema.table"`,
    });
    return undefined;
  }
  const alias = path === undefined ? "" : aliasOf(path);
  return second === undefined ? { alias, schema: "main", table: first } : { alias, schema: first, table: second };
}

/** A table's name as SQL. */
export function tableSql({ alias, schema, table }: TableName): string {
  return qualified(alias, schema, table);
}
