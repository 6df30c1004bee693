import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import fc from "fast-check";
import { encodeFrame, FRAME, type Frame } from "../../../../src/connectors/protocol/frame.ts";
import { readFrames } from "../../../../src/connectors/protocol/frame_reader.ts";

/** A stream of bytes that gives as much at a time as it is told, at most what is asked for. */
function streamOf(bytes: Uint8Array, sizes: readonly number[]): ReadableStream<Uint8Array<ArrayBuffer>> {
  let at = 0;
  let turn = 0;
  return new ReadableStream({
    type: "bytes",
    pull(controller) {
      const view = controller.byobRequest?.view;
      if (view === null || view === undefined) throw new Error("nobody asks for bytes");
      const target = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
      const part = bytes.subarray(at, at + Math.min(target.length, sizes[turn++ % sizes.length] ?? 1));
      target.set(part);
      at += part.length;
      if (part.length === 0) controller.close();
      controller.byobRequest?.respond(part.length);
    },
  });
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

function numbered(length: number, from: number): Uint8Array {
  return Uint8Array.from({ length }, (_, index) => from + index * 7);
}

Deno.test("frames come out as they were sent, however their bytes are cut, each in memory of its own", async () => {
  const lengths = fc.array(fc.oneof(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 15_000, max: 90_000 })), {
    maxLength: 6,
  });
  const sizes = fc.array(fc.oneof(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 1000, max: 70_000 })), {
    minLength: 1,
    maxLength: 5,
  });
  await fc.assert(
    fc.asyncProperty(lengths, sizes, async (lengths, sizes) => {
      const payloads = lengths.map((length, index) => numbered(length, index));
      const bytes = joined(payloads.map((payload, index) => encodeFrame(FRAME.data, index + 1, payload)));
      const frames: Frame[] = await Array.fromAsync(readFrames(streamOf(bytes, sizes)));
      assert.deepEqual(frames.map(({ stream }) => stream), lengths.map((_, index) => index + 1));
      for (const [index, { payload }] of frames.entries()) {
        assert.equal(payload.byteLength, payload.buffer.byteLength);
        assert.ok(payloads[index] !== undefined && Buffer.compare(payload, payloads[index]) === 0);
      }
    }),
    { numRuns: 60 },
  );
});

Deno.test("what is not wanted any more is read to its end and dropped, even if it is no frame", async () => {
  let wanted = true;
  const garbage = new Uint8Array(200_000).fill(255);
  const bytes = joined([encodeFrame(FRAME.data, 1, numbered(10, 0)), garbage]);
  const seen: number[] = [];
  for await (const { stream } of readFrames(streamOf(bytes, [19, 50_000]), () => wanted)) {
    seen.push(stream);
    wanted = false;
  }
  assert.deepEqual(seen, [1]);
});

Deno.test("bytes that are no frame fail, and an end within a frame is just an end", async () => {
  const garbage = new Uint8Array(100).fill(255);
  await assert.rejects(Array.fromAsync(readFrames(streamOf(garbage, [100]))), { name: "FrameError" });
  const torn = encodeFrame(FRAME.data, 1, numbered(50_000, 0)).subarray(0, 40_000);
  assert.deepEqual(await Array.fromAsync(readFrames(streamOf(torn, [30_000]))), []);
});
