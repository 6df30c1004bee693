import assert from "node:assert/strict";
import { readFirstFrame } from "../../../../src/connectors/child/first_frame.ts";
import { mappedFiles } from "../../../../src/connectors/child/program_places.ts";
import { FRAME, FrameError } from "../../../../src/connectors/protocol/frame.ts";
import { encodeMessage } from "../../../../src/connectors/protocol/messages.ts";

/** An input that gives at most so many bytes at once, and how many are left of it. */
function input(bytes: Uint8Array, atOnce: number) {
  let at = 0;
  return {
    read: (into: Uint8Array): number | null => {
      if (at >= bytes.length) return null;
      const part = bytes.subarray(at, at + Math.min(atOnce, into.length));
      into.set(part);
      at += part.length;
      return part.length;
    },
    left: () => bytes.length - at,
  };
}

const START = encodeMessage(0, { m: "Start", connector: "c", grant: {} });

Deno.test("the first frame is read in pieces of any size, and not a byte behind it", () => {
  const both = new Uint8Array([...START, ...encodeMessage(1, { m: "Handshake" })]);
  for (const atOnce of [1, 2, 7, 4096]) {
    const { read, left } = input(both, atOnce);
    const frame = readFirstFrame(read);
    assert.equal(frame?.kind, FRAME.control);
    assert.match(new TextDecoder().decode(frame?.payload), /"m":"Start"/);
    assert.equal(left(), both.length - START.length);
  }
});

Deno.test("an input that ends before the first frame is no mistake, one that ends within it is", () => {
  assert.equal(readFirstFrame(input(new Uint8Array(0), 10).read), undefined);
  assert.throws(() => readFirstFrame(input(START.subarray(0, START.length - 1), 10).read), FrameError);
  assert.throws(() => readFirstFrame(input(START.subarray(0, 5), 10).read), FrameError);
});

Deno.test("what is no frame is refused before its length is believed", () => {
  assert.throws(() => readFirstFrame(input(new Uint8Array(64).fill(255), 64).read), FrameError);
});

Deno.test("the files that a process has mapped are found, each once", () => {
  const maps = [
    "55d0a1c00000-55d0a1c02000 r--p 00000000 fe:00 123456                     /opt/a folder/pz",
    "55d0a1c02000-55d0a1c04000 r-xp 00002000 fe:00 123456                     /opt/a folder/pz",
    "7f0000000000-7f0000021000 rw-p 00000000 00:00 0 ",
    "7f1234000000-7f1234028000 r--p 00000000 fe:00 99                         /usr/lib/x/libc.so.6",
    "7ffc00000000-7ffc00021000 rw-p 00000000 00:00 0                          [stack]",
    "",
  ].join("\n");
  assert.deepEqual(mappedFiles(maps), ["/opt/a folder/pz", "/usr/lib/x/libc.so.6"]);
});
