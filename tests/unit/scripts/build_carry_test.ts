import assert from "node:assert/strict";
import { carryNative } from "../../../scripts/build_carry.ts";
import { imageEnd, readCarried } from "../../../src/duckdb/native_carried.ts";
import { TempDir } from "../../harness/temp_dir.ts";

const SECTIONS = { size: 64, count: 3 };
const NATIVE = {
  id: "1",
  files: ["one", "two"].map((name) => ({
    name,
    asset: `${name}.gz`,
    size: 0,
    packedSize: name.length * 2,
    sha256: "",
  })),
};

/** An image of 64 bytes of header, some of content and a table of sections at its end. */
function image(content: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(64 + content + SECTIONS.size * SECTIONS.count).fill(7);
  bytes.set([0x7f, 0x45, 0x4c, 0x46, 2, 1]);
  const view = new DataView(bytes.buffer);
  view.setBigUint64(0x28, BigInt(64 + content), true);
  view.setUint16(0x3a, SECTIONS.size, true);
  view.setUint16(0x3c, SECTIONS.count, true);
  return bytes;
}

/** What stands behind the image: a text, and its own length with that of the trailer. */
function attached(text: string, length = text.length + 16): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(text.length + 16);
  new TextEncoder().encodeInto(text, bytes);
  new DataView(bytes.buffer).setBigUint64(text.length + 8, BigInt(length), true);
  return bytes;
}

async function writeExecutable(folder: TempDir, parts: readonly Uint8Array[]): Promise<string> {
  for (const { asset, name } of NATIVE.files) await Deno.writeTextFile(folder.join(asset), name.repeat(2));
  const path = folder.join("pz");
  await Deno.writeFile(path, new Uint8Array(await new Blob(parts.map((part) => part.slice())).arrayBuffer()), {
    mode: 0o755,
  });
  return path;
}

Deno.test("an executable carries the native library between its image and what the runtime reads at every start", async () => {
  await using folder = await TempDir.create();
  const path = await writeExecutable(folder, [image(100), attached("the program")]);
  assert.equal(await carryNative(path, NATIVE, folder.path), true);
  const decoder = new TextDecoder();
  assert.equal(decoder.decode(readCarried(path, 0, 6)), "oneone");
  assert.equal(decoder.decode(readCarried(path, 6, 6)), "twotwo");
  const bytes = await Deno.readFile(path);
  assert.deepEqual(bytes.subarray(0, 64 + 100 + 192), image(100));
  assert.deepEqual(bytes.subarray(-27), attached("the program"));
  if (Deno.build.os !== "windows") assert.equal(((await Deno.stat(path)).mode ?? 0) & 0o777, 0o755);
});

Deno.test("an executable of another shape is left as it is", async () => {
  const others = [
    [image(100), new Uint8Array(3), attached("the program")],
    [image(100), attached("the program", 5)],
    [new TextEncoder().encode("MZ"), attached("the program")],
    [image(100)],
  ];
  for (const parts of others) {
    await using folder = await TempDir.create();
    const path = await writeExecutable(folder, parts);
    const before = await Deno.readFile(path);
    assert.equal(await carryNative(path, NATIVE, folder.path), false);
    assert.deepEqual(await Deno.readFile(path), before);
  }
});

Deno.test("only a 64-bit little-endian ELF image that has a table of sections has an end", () => {
  assert.equal(imageEnd(image(10)), 64 + 10 + 192);
  assert.equal(imageEnd(image(10).subarray(0, 63)), undefined);
  assert.equal(imageEnd(new Uint8Array(64)), undefined);
  const bigEndian = image(10);
  bigEndian[5] = 2;
  assert.equal(imageEnd(bigEndian), undefined);
  const stripped = image(10);
  new DataView(stripped.buffer).setBigUint64(0x28, 0n, true);
  assert.equal(imageEnd(stripped), undefined);
});

Deno.test("a file that is no executable of pz, or a shorter one, is told", async () => {
  await using folder = await TempDir.create();
  const path = folder.join("pz");
  await Deno.writeFile(path, new Uint8Array(100));
  assert.throws(() => readCarried(path, 0, 1), /is not the executable that pz was started from/);
  await Deno.writeFile(path, image(10));
  assert.throws(() => readCarried(path, 0, 1), /is shorter than it was built/);
});
