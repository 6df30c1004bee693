/**
 * Bytes of a file.
 *
 * @throws {Error} where the file ends before
 */
export async function readPart(path: string, start: number, length: number): Promise<Uint8Array<ArrayBuffer>> {
  using file = await Deno.open(path, { read: true });
  await file.seek(start, Deno.SeekMode.Start);
  const bytes = new Uint8Array(length);
  for (let filled = 0; filled < length;) {
    const count = await file.read(bytes.subarray(filled));
    if (count === null) throw new Error(`the file ended ${length - filled} bytes early`);
    filled += count;
  }
  return bytes;
}
