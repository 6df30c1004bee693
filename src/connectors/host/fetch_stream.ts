import type { FetchedFile } from "../contract/mod.ts";
import { FrameError } from "../protocol/frame.ts";
import { countMember, type Message, textMember } from "../protocol/messages.ts";

/** More than this are a broken connector, not a large dataset. */
const MAX_FILES = 1_000_000;
/** Parts of a path below the folder: no way out of it. */
const PATH = /^(?!.*(?:^|\/)\.{0,2}(?:\/|$))[^\0\\]+$/s;

/** The files of a dataset as they land; takes the messages and the end of its call. */
export class FetchStream {
  readonly #onBytes: (bytes: number) => void;
  #count = 0;
  #waiting: FetchedFile[] = [];
  #end: "ended" | { readonly reason: unknown } | undefined;
  #wake: (() => void) | undefined;

  /** @param onBytes told bytes that have arrived since it was told last */
  constructor(onBytes: (bytes: number) => void) {
    this.#onBytes = onBytes;
  }

  /** @throws {FrameError} for too many files, or one that lies outside of the folder */
  readonly message = (message: Message): void => {
    if (message.m === "Progress") this.#onBytes(countMember(message, "bytes"));
    if (message.m !== "File") return;
    const path = textMember(message, "path");
    if (!PATH.test(path)) throw new FrameError("a file outside of its folder");
    if (++this.#count > MAX_FILES) throw new FrameError("files without an end");
    this.#waiting.push({ path, name: textMember(message, "name"), bytes: countMember(message, "bytes") });
    this.#wake?.();
  };

  readonly over = (outcome: "ended" | { readonly reason: unknown }): void => {
    this.#end = outcome;
    this.#wake?.();
  };

  /** Each file in its order; who stops waiting for more misses nothing of the others. */
  async *files(): AsyncGenerator<FetchedFile, undefined> {
    for (;;) {
      const landed = this.#waiting;
      this.#waiting = [];
      yield* landed;
      if (this.#waiting.length > 0) continue;
      if (this.#end === "ended") return undefined;
      if (this.#end !== undefined) throw this.#end.reason;
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      await promise;
      this.#wake = undefined;
    }
  }
}
