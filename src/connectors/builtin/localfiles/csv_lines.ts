const CHUNK = 1 << 20;
const QUOTE = 0x22;
const CR = 0x0d;
const LF = 0x0a;

/**
 * The line, counted from 1, on which a record of a CSV file starts; records count from 0 and the header is the first.
 * Blank lines are records only where a record is a single field. Undefined when the file has fewer records.
 */
export async function lineOfRecord(path: string, record: bigint, singleField: boolean): Promise<number | undefined> {
  const position = { line: 1, record: 0n, startLine: 1, empty: true, quoted: false, afterCr: false };
  using file = await Deno.open(path);
  const bytes = new Uint8Array(CHUNK);
  for (let read = await file.read(bytes); read !== null; read = await file.read(bytes)) {
    for (let at = 0; at < read; at++) {
      const byte = bytes[at];
      if (byte === LF && position.afterCr) {
        position.afterCr = false;
        continue;
      }
      position.afterCr = byte === CR;
      if (byte !== LF && byte !== CR) {
        if (byte === QUOTE) position.quoted = !position.quoted;
        position.empty = false;
        continue;
      }
      position.line++;
      if (position.quoted) continue;
      if (!position.empty || singleField) {
        if (position.record === record) return position.startLine;
        position.record++;
      }
      position.startLine = position.line;
      position.empty = true;
    }
  }
  return !position.empty && position.record === record ? position.startLine : undefined;
}
