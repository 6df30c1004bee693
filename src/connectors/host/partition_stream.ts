import { ConnectorError } from "../contract/mod.ts";
import { FrameError } from "../protocol/frame.ts";
import type { Message } from "../protocol/messages.ts";

/** More than this are a broken connector, not a large plan. */
const MAX_PARTITIONS = 1_000_000;

const HINT = "report this to the connector's author";

export type PartitionRef = {
  readonly id: string;
  /** Present and true where its read gives checkpoints and can be resumed from one. */
  readonly checkpointing?: true;
};

/** The partitions of a plan as they are found; takes the messages and the end of its call. */
export class PartitionStream {
  /** The ordinal of each id, from 1. */
  readonly #ids = new Map<string, number>();
  #waiting: PartitionRef[] = [];
  #end: "ended" | { readonly reason: unknown } | undefined;
  #wake: (() => void) | undefined;

  /** @throws {FrameError} for too many */
  readonly message = (message: Message): void => {
    if (message.m !== "Partition" || this.#end !== undefined) return;
    const { id } = message;
    const trouble = this.#troubleOf(id);
    if (typeof id !== "string" || trouble !== undefined) {
      this.over({ reason: new ConnectorError(trouble ?? "", { transient: false, code: "PZ0319", hint: HINT }) });
      return;
    }
    if (this.#ids.set(id, this.#ids.size + 1).size > MAX_PARTITIONS) throw new FrameError("a plan without an end");
    this.#waiting.push(message["checkpointing"] === true ? { id, checkpointing: true } : { id });
    this.#wake?.();
  };

  readonly over = (outcome: "ended" | { readonly reason: unknown }): void => {
    this.#end ??= outcome;
    this.#wake?.();
  };

  /** What is wrong with an id, which is never told itself. */
  #troubleOf(id: unknown): string | undefined {
    const ordinal = this.#ids.size + 1;
    if (typeof id !== "string" || id === "") return `Partition ${ordinal} of the plan has no id`;
    const other = this.#ids.get(id);
    return other === undefined ? undefined : `Partitions ${other} and ${ordinal} of the plan have one id`;
  }

  /**
   * @throws {ConnectorError} PZ0319 at a partition without an id of its own
   * @throws {FrameError} at the end of a plan without partitions
   */
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
