import { join } from "node:path";
import { imageEnd } from "../src/duckdb/native_carried.ts";
import type { PackedNative } from "./build_native.ts";

/** Bytes at the very end of an executable that deno compile has made for Linux, the last 8 of them a length. */
const TRAILER_BYTES = 16;

/**
 * Puts the packed native library between the runtime's image and what deno compile has put behind it. The runtime reads
 * the latter into memory at every start, twice, and finds it from the end of the file.
 *
 * @returns false when the executable has another shape, and is left as it is
 */
export async function carryNative(executable: string, native: PackedNative, folder: string): Promise<boolean> {
  const bytes = await Deno.readFile(executable);
  const end = imageEnd(bytes);
  if (end === undefined || end !== attachedAt(bytes)) return false;
  const { mode } = await Deno.stat(executable);
  const whole = `${executable}.new`;
  using file = await Deno.open(whole, { write: true, create: true, truncate: true, mode: mode ?? 0o755 });
  const out = file.writable.getWriter();
  await out.write(bytes.subarray(0, end));
  for (const { asset } of native.files) await out.write(await Deno.readFile(join(folder, asset)));
  await out.write(bytes.subarray(end));
  await out.close();
  await Deno.rename(whole, executable);
  return true;
}

/** Where what is attached begins, by the length that stands at the end. */
function attachedAt(bytes: Uint8Array): number | undefined {
  if (bytes.length < TRAILER_BYTES) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset + bytes.length - 8, 8);
  return bytes.length - Number(view.getBigUint64(0, true));
}
