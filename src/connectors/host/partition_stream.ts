import { FrameError } from "../protocol/frame.ts";
import { type Message, textMember } from "../protocol/messages.ts";

/** More than this are a broken connector, not a large plan. */
const MAX_PARTITIONS = 1_000_000;

export type PartitionRef = {
  readonly id: string;
  /** Present and true where its read gives checkpoints and can be resumed from one. */
  readonly checkpointing?: true;
};

/** The partitions of a plan as they are found; takes the messages and the end of its call. */
export class PartitionStream {
  readonly #ids = new Set<string>();
  #waiting: PartitionRef[] = [];
  #end: "ended" | { readonly reason: unknown } | undefined;
  #wake: (() => void) | undefined;

  /** @throws {FrameError} for a partition that was named before, or for too many */
  readonly message = (message: Message): void => {
    if (message.m !== "Partition") return;
    const id = textMember(message, "id");
    if (this.#ids.has(id)) throw new FrameError("a plan that names a partition twice");
    if (this.#ids.add(id).size > MAX_PARTITIONS) throw new FrameError("a plan without an end");
    this.#waiting.push(message["checkpointing"] === true ? { id, checkpointing: true } : { id });
    this.#wake?.();
  };

  readonly over = (outcome: "ended" | { readonly reason: unknown }): void => {
    this.#end = outcome;
    this.#wake?.();
  };

  /** @throws {FrameError} at the end of a plan without partitions */
  async *partitions(): AsyncGenerator<PartitionRef, undefined> {
    for (;;) {
      const found = this.#waiting;
      this.#waiting = [];
      yield* found;
      if (this.#waiting.length > 0) continue;
      if (this.#end === "ended") break;
      if (this.#end !== undefined) throw this.#end.reason;
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      await promise;
      this.#wake = undefined;
    }
    if (this.#ids.size === 0) throw new FrameError("a plan without partitions");
    return undefined;
  }
}
