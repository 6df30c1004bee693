import { type Frame, FrameDecoder, FrameError, HEADER_BYTES } from "../protocol/frame.ts";

/**
 * Reads one frame and not a byte more, so that another program can read on. Undefined: the input ended before it.
 *
 * @throws {FrameError} for what is no frame, or an end within
 */
export function readFirstFrame(read: (into: Uint8Array) => number | null): Frame | undefined {
  const header = new Uint8Array(HEADER_BYTES);
  const first = fill(header, read);
  if (first === 0) return undefined;
  const decoder = new FrameDecoder();
  const empty = only(decoder.push(header)); // refuses a length that no frame has
  if (empty !== undefined) return empty;
  const payload = new Uint8Array(new DataView(header.buffer).getUint32(0, true));
  if (fill(payload, read) < payload.length) throw new FrameError("an end within the first frame");
  return only(decoder.push(payload));
}

/** How many bytes came before the end, at most as many as fit. */
function fill(buffer: Uint8Array, read: (into: Uint8Array) => number | null): number {
  let filled = 0;
  while (filled < buffer.length) {
    const count = read(buffer.subarray(filled));
    if (count === null) break;
    filled += count;
  }
  return filled;
}

function only(frames: Iterable<Frame>): Frame | undefined {
  for (const frame of frames) return frame;
  return undefined;
}
