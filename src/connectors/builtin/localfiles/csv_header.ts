const FIRST_BYTES = 4096;
const MOST_BYTES = 1 << 20;
const QUOTE = 0x22;
const CR = 0x0d;
const LF = 0x0a;

/**
 * The names in the first record of a CSV file, or undefined where that record is not plain: nothing or only blanks in
 * it, a name that is empty or stands twice (in any case), text that is no UTF-8, a compressed file, or no end of the
 * record within the first MiB. DuckDB's own detection deals with those.
 */
export function readHeader(path: string, delimiter: string): readonly string[] | undefined {
  for (let size = FIRST_BYTES; size <= MOST_BYTES; size *= 16) {
    const bytes = readStart(path, size);
    const end = recordEnd(bytes);
    if (end !== undefined) return namesOf(bytes.subarray(0, end), delimiter);
    if (bytes.length < size) return namesOf(bytes, delimiter);
  }
  return undefined;
}

function readStart(path: string, size: number): Uint8Array {
  const file = Deno.openSync(path);
  try {
    const bytes = new Uint8Array(size);
    let fill = 0;
    while (fill < size) {
      const read = file.readSync(bytes.subarray(fill));
      if (read === null) break;
      fill += read;
    }
    return bytes.subarray(0, fill);
  } finally {
    file.close();
  }
}

function recordEnd(bytes: Uint8Array): number | undefined {
  let quoted = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) quoted = !quoted;
    else if (!quoted && (byte === LF || byte === CR)) return at;
  }
  return undefined;
}

function namesOf(record: Uint8Array, delimiter: string): readonly string[] | undefined {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(record);
  } catch {
    return undefined;
  }
  if (text.includes("\0")) return undefined;
  const names = splitRecord(text, delimiter);
  const distinct = new Set(names?.map((name) => name.toLowerCase()));
  return names === undefined || distinct.size < names.length || distinct.has("") ? undefined : names;
}

/** The fields of one record, or undefined where its quotes are not those of a plain CSV file. */
function splitRecord(text: string, delimiter: string): string[] | undefined {
  const names: string[] = [];
  for (let at = 0; at <= text.length;) {
    if (text.charAt(at) !== '"') {
      const end = text.indexOf(delimiter, at);
      const field = text.slice(at, end < 0 ? text.length : end);
      if (field.includes('"')) return undefined;
      names.push(field.trim());
      at = end < 0 ? text.length + 1 : end + delimiter.length;
      continue;
    }
    let name = "";
    for (at++;;) {
      const close = text.indexOf('"', at);
      if (close < 0) return undefined;
      name += text.slice(at, close);
      at = close + 1;
      if (text.charAt(at) !== '"') break;
      name += '"';
      at++;
    }
    if (at < text.length && !text.startsWith(delimiter, at)) return undefined;
    names.push(name);
    at += delimiter.length;
  }
  return names;
}
