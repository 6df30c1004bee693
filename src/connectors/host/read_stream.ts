import type { RecordBatch } from "../../util/arrow.ts";
import { FrameError } from "../protocol/frame.ts";
import { countMember, flagMember, type Message, textMember } from "../protocol/messages.ts";

/** More checkpoints than this ahead of the batches are a broken connector. */
const MAX_AHEAD = 10_000;

/** A token, and how many batches come before it. */
type Checkpoint = { readonly batches: number; readonly token: string };

/** The batches of one partition: ends normally only when the connector said that it had sent everything. */
export class ReadStream implements AsyncIterableIterator<RecordBatch, undefined> {
  readonly #batches: AsyncGenerator<RecordBatch, undefined>;
  readonly #checkpoints: Checkpoint[] = [];
  #given = 0;
  #checkpoint: Checkpoint | undefined;
  #earlier: Checkpoint | undefined;
  #resumed: boolean | undefined;

  /** @param read gives the batches, and tells its messages to `hear` */
  constructor(read: (hear: (message: Message) => void) => AsyncGenerator<RecordBatch, undefined>) {
    this.#batches = read((message) => this.#hear(message));
  }

  /** A token from which the read can go on after the batches given so far, or after a first part of them. */
  get checkpoint(): string | undefined {
    this.#advance();
    return this.#checkpoint?.token;
  }

  /**
   * A token from which the read can go on after exactly so many batches, the last one given or the one before it. It is
   * known for sure once something came after them: a batch, the end, or a failure.
   */
  checkpointAfter(batches: number): string | undefined {
    this.#advance();
    return [this.#checkpoint, this.#earlier].find((checkpoint) => checkpoint?.batches === batches)?.token;
  }

  /**
   * Of a read with `resumeFrom`, from its first batch or its end on: whether it goes on from there. False: it starts
   * anew, with all rows.
   */
  get resumed(): boolean | undefined {
    return this.#resumed;
  }

  async next(): Promise<IteratorResult<RecordBatch, undefined>> {
    const result = await this.#batches.next();
    if (result.done !== true) this.#given++;
    this.#advance();
    return result;
  }

  return(_value?: unknown): Promise<IteratorResult<RecordBatch, undefined>> {
    return this.#batches.return(undefined);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #hear(message: Message): void {
    if (message.m === "Resumed") this.#resumed = flagMember(message, "accepted");
    if (message.m !== "Checkpoint") return;
    if (this.#checkpoints.length >= MAX_AHEAD) throw new FrameError("checkpoints without their batches");
    this.#checkpoints.push({ batches: countMember(message, "batches"), token: textMember(message, "token") });
  }

  #advance(): void {
    while (this.#checkpoints[0] !== undefined && this.#checkpoints[0].batches <= this.#given) {
      this.#earlier = this.#checkpoint;
      this.#checkpoint = this.#checkpoints.shift();
    }
  }
}
