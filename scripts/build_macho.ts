import type { Target } from "./build_targets.ts";

const FAT_MAGIC = 0xcafebabe;
const FAT_ENTRY_BYTES = 20;
const CPU_TYPES: { readonly [cpu: string]: number } = { x64: 0x01000007, arm64: 0x0100000c };

/** A target's slice of a macOS library for several processors, signature included; any other file as it is. */
export function thinMachO(bytes: Uint8Array, target: Target): Uint8Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (target.os !== "darwin" || view.getUint32(0) !== FAT_MAGIC) return bytes;
  const count = view.getUint32(4);
  for (let index = 0; index < count; index++) {
    const entry = 8 + index * FAT_ENTRY_BYTES;
    if (view.getUint32(entry) !== CPU_TYPES[target.cpu]) continue;
    const offset = view.getUint32(entry + 8);
    return bytes.subarray(offset, offset + view.getUint32(entry + 12));
  }
  throw new Error(`the library has no slice for ${target.name}`);
}
