import { Buffer } from "node:buffer";
import type { PgConnection } from "./driver.ts";

/** The kind of a message that carries rows of a COPY. */
export const COPY_DATA = 0x64;
/** Bytes of a message before its content: the kind, and the length without the kind. */
export const MESSAGE_HEADER_BYTES = 5;

/**
 * Takes the CopyData messages that stand whole in the bytes from `from` on, one behind the other, and returns where they
 * end; the bytes are valid during the call only.
 */
export type TakeCopyData = (bytes: Uint8Array, from: number) => number;

/**
 * Where the message ends that begins at `at`; beyond the view where its header does not stand in it whole.
 *
 * @throws for a length that no message has
 */
export function messageEnd(view: DataView, at: number): number {
  if (at + MESSAGE_HEADER_BYTES > view.byteLength) return Infinity;
  const length = view.getInt32(at + 1);
  if (length < 4) throw new Error("Received an invalid message of the server");
  return at + 1 + length;
}

/**
 * Stands between a connection's socket and the driver's parser, which makes an object and several calls of each row of
 * a COPY. While somebody takes CopyData messages, they go there many at once; the parser gets every other byte as it
 * came.
 */
export class CopyTap {
  #take: TakeCopyData | undefined;
  /** The start of a message that goes on in the next bytes: a part of its header, or of a CopyData message. */
  #begun: Buffer[] = [];
  /** How many bytes it lacks; 0: not known yet. */
  #missing = 0;
  /** How many bytes of a message are still to come for the parser. */
  #left = 0;

  /** To be placed before the connection is opened. */
  constructor(connection: Pick<PgConnection, "attachListeners">) {
    const attach = connection.attachListeners;
    connection.attachListeners = (stream) => {
      attach.call(connection, {
        on: (event, listener) => {
          if (event !== "data") return stream.on(event, listener);
          return stream.on("data", (bytes) => {
            try {
              this.#pass(bytes, listener);
            } catch (error) {
              stream.destroy(error instanceof Error ? error : new Error(String(error)));
            }
          });
        },
        destroy: (error) => stream.destroy(error),
      });
    };
  }

  /** From now on `take`, which must not throw, gets the CopyData messages; undefined: the parser does. */
  divert(take: TakeCopyData | undefined): void {
    this.#take = take;
  }

  #pass(bytes: Buffer, parse: (bytes: Buffer) => void): void {
    if (this.#begun.length === 0) return this.#divide(bytes, parse);
    if (this.#missing > bytes.length) {
      this.#begun.push(Buffer.from(bytes));
      this.#missing -= bytes.length;
      return;
    }
    // Only the message that has begun is put together; what comes behind it is read where it stands.
    const head = this.#missing === 0 ? bytes : bytes.subarray(0, this.#missing);
    const whole = Buffer.concat([...this.#begun, head]);
    this.#begun = [];
    this.#missing = 0;
    this.#divide(whole, parse);
    if (head.length < bytes.length) this.#divide(bytes.subarray(head.length), parse);
  }

  /** Gives every part of the bytes to where it belongs. */
  #divide(bytes: Buffer, parse: (bytes: Buffer) => void): void {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    /** Where the bytes begin that the parser has not got yet. */
    let from = 0;
    let at = Math.min(this.#left, bytes.length);
    this.#left -= at;
    while (at < bytes.length) {
      const take = bytes[at] === COPY_DATA ? this.#take : undefined;
      const end = messageEnd(view, at);
      if (end === Infinity || (take !== undefined && end > bytes.length)) {
        this.#begun = [Buffer.from(bytes.subarray(at))];
        this.#missing = end === Infinity ? 0 : end - bytes.length;
        break;
      }
      if (take !== undefined) {
        if (from < at) parse(bytes.subarray(from, at));
        from = at = take(bytes, at);
        continue;
      }
      this.#left = Math.max(0, end - bytes.length);
      at = Math.min(end, bytes.length);
      // The parser may be told of the end of the COPY here, and of the beginning of another.
      if (this.#take !== undefined) {
        parse(bytes.subarray(from, at));
        from = at;
      }
    }
    if (from < at) parse(bytes.subarray(from, at));
  }
}
