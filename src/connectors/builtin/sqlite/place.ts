import { dirname } from "node:path";
import type { ConfigProblem } from "../../contract/mod.ts";
import { fileKind, specialProblem } from "../localfiles/file_kind.ts";

/** What SQLite keeps beside a database while it is in use. */
const SIDE_FILES: readonly string[] = ["-journal", "-wal", "-shm"];
const MAGIC = "SQLite format 3\0";
/** Where the header says by which means the file is written; 2: through a log beside it. */
const WRITE_VERSION_AT = 18;
const LOGGED = 2;

/** A database and the files that SQLite makes beside it. */
export function withSideFiles(path: string): readonly string[] {
  return [path, ...SIDE_FILES.map((ending) => path + ending)];
}

/** The files that a mere read of a database makes beside it: none, unless it is written through a log. */
export function readSideFiles(path: string): readonly string[] {
  return headerOf(path)?.[WRITE_VERSION_AT] === LOGGED ? [`${path}-wal`, `${path}-shm`] : [];
}

/** Looks at what stands at the path of a database; whatever is none, or nothing where it is needed, is pushed as a problem. */
export function checkFile(
  path: string,
  { mustExist, connection }: { readonly mustExist: boolean; readonly connection: string },
  problems: ConfigProblem[],
): void {
  const kind = fileKind(path);
  const special = specialProblem(path);
  if (special !== undefined) problems.push({ ...special, setting: "path" });
  else if (kind === "folder") {
    problems.push({ code: "PZ0353", message: `"${path}" is a folder, not a SQLite database`, setting: "path" });
  } else if (kind === "nothing" && mustExist) {
    const message = `There is no database "${path}" for connection "${connection}"`;
    problems.push({ code: "PZ0353", message, setting: "path" });
  } else if (kind === "nothing" && fileKind(dirname(path)) !== "folder") {
    const message = `There is no folder "${dirname(path)}" for a new database of connection "${connection}"`;
    problems.push({ code: "PZ0353", message, setting: "path", hint: "make the folder first" });
  }
  const header = kind === "file" ? headerOf(path) : undefined;
  // An empty file is an empty database.
  if (header === undefined || header.length === 0) return;
  if (new TextDecoder().decode(header.subarray(0, MAGIC.length)) !== MAGIC) {
    problems.push({ code: "PZ0353", message: `"${path}" is no SQLite database`, setting: "path" });
  }
}

/** The first bytes of a file; undefined: it can't be read, which its use will tell. */
function headerOf(path: string): Uint8Array | undefined {
  try {
    using file = Deno.openSync(path);
    const header = new Uint8Array(100);
    return header.subarray(0, file.readSync(header) ?? 0);
  } catch {
    return undefined;
  }
}
