import { type Frame, FrameDecoder } from "./frame.ts";

/** What a read gets at most where it does not fill a payload. */
const SPARE_BYTES = 64 * 1024;
/** Payloads of which so much is missing are read to where they stay. */
const DIRECT_BYTES = 16 * 1024;

/**
 * The frames that come by a stream of bytes, up to its end; what is left of a frame then is dropped. Whoever stops early
 * closes the stream.
 *
 * @param isWanted once it says no, what still comes is read and dropped
 * @throws {FrameError} as `FrameDecoder`
 */
export async function* readFrames(
  input: ReadableStream<Uint8Array<ArrayBuffer>>,
  isWanted: () => boolean = () => true,
): AsyncGenerator<Frame, undefined> {
  const reader = input.getReader({ mode: "byob" });
  const decoder = new FrameDecoder();
  let spare = new Uint8Array(SPARE_BYTES);
  try {
    while (true) {
      // Every read takes the memory of its view away and gives it back in another.
      const room = isWanted() ? decoder.room(DIRECT_BYTES) : undefined;
      const { value, done } = await reader.read(room ?? spare);
      if (done) return undefined;
      if (room === undefined) spare = new Uint8Array(value.buffer);
      if (!isWanted()) continue;
      yield* room === undefined ? decoder.push(value) : decoder.filled(value);
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}
