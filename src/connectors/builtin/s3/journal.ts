/** What a write has noted of one object that it uploads in parts. */
export type UploadNote = {
  readonly bucket: string;
  readonly key: string;
  /** Uploads of the key that were under way before; undefined where the store does not tell. */
  readonly before?: readonly string[];
  /** Ids of the write's own. */
  readonly ids: readonly string[];
};

/**
 * The file in which a write notes each upload before it begins and when its id is known, so that another process can take
 * it back. It is there only while something is noted.
 */
export class UploadJournal {
  readonly #path: string;
  #isWritten = false;

  constructor(path: string) {
    this.#path = path;
  }

  /** Notes that an upload of a key is about to begin. */
  beginning(bucket: string, key: string, before: readonly string[] | undefined): void {
    this.#add({ bucket, key, ...(before === undefined ? {} : { before }) });
  }

  /** Notes the id of an upload. */
  begun(bucket: string, key: string, id: string): void {
    this.#add({ bucket, key, id });
  }

  /** Says that nothing of it is left. */
  remove(): void {
    if (this.#isWritten) removeJournal(this.#path);
  }

  #add(line: object): void {
    using file = Deno.openSync(this.#path, { append: true, create: true });
    this.#isWritten = true;
    const bytes = new TextEncoder().encode(`${JSON.stringify(line)}\n`);
    for (let at = 0; at < bytes.length;) at += file.writeSync(bytes.subarray(at));
  }
}

/** Deletes a journal, which need not be there. */
export function removeJournal(path: string): void {
  try {
    Deno.removeSync(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

/** What a journal holds, one note for each key; lines that were not written to their end are left out. */
export async function readJournal(path: string): Promise<readonly UploadNote[]> {
  const notes = new Map<string, UploadNote>();
  for (const line of (await textOf(path)).split("\n")) {
    const found = parseLine(line);
    if (found === undefined) continue;
    const { bucket, key, before, id } = found;
    const name = JSON.stringify([bucket, key]);
    const known = notes.get(name);
    const earlier = known?.before ?? before;
    const ids = [...known?.ids ?? [], ...(id === undefined ? [] : [id])];
    notes.set(name, { bucket, key, ids, ...(earlier === undefined ? {} : { before: earlier }) });
  }
  return [...notes.values()];
}

type Line = {
  readonly bucket: string;
  readonly key: string;
  readonly before?: readonly string[];
  readonly id?: string;
};

function parseLine(line: string): Line | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (typeof value !== "object" || value === null || !("bucket" in value) || !("key" in value)) return undefined;
  const { bucket, key } = value;
  if (typeof bucket !== "string" || typeof key !== "string") return undefined;
  const before = "before" in value && Array.isArray(value.before) ? { before: value.before.map(String) } : {};
  return { bucket, key, ...before, ...("id" in value && typeof value.id === "string" ? { id: value.id } : {}) };
}

async function textOf(path: string): Promise<string> {
  try {
    return await Deno.readTextFile(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return "";
    throw error;
  }
}
