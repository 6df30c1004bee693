const BLOCK_BYTES = 512;
const REGULAR_FILE = new Set(["0", "\0"]);

/**
 * The regular files of an unpacked tar archive by their path. It reads what npm packs: plain headers with short names.
 *
 * @throws {Error} when the archive ends early or a size can't be read
 */
export function tarFiles(archive: Uint8Array): ReadonlyMap<string, Uint8Array> {
  const files = new Map<string, Uint8Array>();
  for (let at = 0; at + BLOCK_BYTES <= archive.length;) {
    const name = textIn(archive, at, 100);
    if (name === "") break;
    const size = Number.parseInt(textIn(archive, at + 124, 12).trim(), 8);
    const start = at + BLOCK_BYTES;
    if (!Number.isSafeInteger(size) || start + size > archive.length) throw new Error(`'${name}' is cut off`);
    const prefix = textIn(archive, at + 345, 155);
    const kind = String.fromCharCode(archive[at + 156] ?? 0);
    if (REGULAR_FILE.has(kind)) {
      files.set(prefix === "" ? name : `${prefix}/${name}`, archive.subarray(start, start + size));
    }
    at = start + Math.ceil(size / BLOCK_BYTES) * BLOCK_BYTES;
  }
  return files;
}

function textIn(bytes: Uint8Array, start: number, length: number): string {
  const field = bytes.subarray(start, start + length);
  const end = field.indexOf(0);
  return new TextDecoder().decode(end < 0 ? field : field.subarray(0, end));
}
