/** Bytes of a 64-bit ELF header. */
const HEADER_BYTES = 64;
const ELF_64_LITTLE = [0x7f, 0x45, 0x4c, 0x46, 2, 1];

/**
 * Where an ELF image ends: behind the table of its sections, which linkers put last. What stands behind it is nothing to
 * the system that runs it. Undefined for bytes that are not the beginning of a 64-bit little-endian image.
 */
export function imageEnd(start: Uint8Array): number | undefined {
  if (start.length < HEADER_BYTES || ELF_64_LITTLE.some((byte, index) => start[index] !== byte)) return undefined;
  const view = new DataView(start.buffer, start.byteOffset, HEADER_BYTES);
  const table = view.getBigUint64(0x28, true);
  const end = table + BigInt(view.getUint16(0x3a, true) * view.getUint16(0x3c, true));
  return table === 0n || end > BigInt(Number.MAX_SAFE_INTEGER) ? undefined : Number(end);
}

/**
 * Reads what the build has put behind the image of an executable: `length` bytes, `at` bytes behind its end.
 *
 * @throws {Error} when the file can't be read or is no such executable
 */
export function readCarried(executable: string, at: number, length: number): Uint8Array<ArrayBuffer> {
  using file = Deno.openSync(executable);
  const header = new Uint8Array(HEADER_BYTES);
  readAll(file, header, executable);
  const end = imageEnd(header);
  if (end === undefined) throw new Error(`'${executable}' is not the executable that pz was started from`);
  file.seekSync(end + at, Deno.SeekMode.Start);
  const bytes = new Uint8Array(length);
  readAll(file, bytes, executable);
  return bytes;
}

function readAll(file: Deno.FsFile, bytes: Uint8Array, executable: string): void {
  for (let read = 0; read < bytes.length;) {
    const count = file.readSync(bytes.subarray(read));
    if (count === null) throw new Error(`'${executable}' is shorter than it was built`);
    read += count;
  }
}
