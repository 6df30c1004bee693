import type { RecordBatch, Schema } from "../../util/arrow.ts";
import { ConnectorError } from "../contract/mod.ts";
import { ArrowFrames } from "../protocol/arrow_frames.ts";
import { Credits } from "../protocol/credits.ts";
import { FrameError } from "../protocol/frame.ts";
import { DATA_CREDITS, type Message } from "../protocol/messages.ts";
import type { Answer, Operation } from "./operation.ts";

/** What an ordinary request can do: send data, and notice that the host wants it to stop. */
export type RequestContext = {
  readonly signal: AbortSignal;
  message(message: Message): void;
  /** Sends data frames as far as credits allow. */
  frames(frames: readonly Uint8Array<ArrayBuffer>[]): Promise<void>;
};

/** A request that gets nothing from the host but credits, and that ends when its work does. */
export class Request implements Operation {
  readonly #answer: Answer;
  readonly #work: (context: RequestContext) => Promise<void>;
  readonly #controller = new AbortController();
  readonly #credits = new Credits(DATA_CREDITS);

  constructor(answer: Answer, work: (context: RequestContext) => Promise<void>) {
    this.#answer = answer;
    this.#work = work;
  }

  async run(): Promise<number> {
    const { signal } = this.#controller;
    let sent = 0;
    const frames = async (list: readonly Uint8Array<ArrayBuffer>[]) => {
      for (const frame of list) {
        await this.#credits.take(signal);
        this.#answer.frame(frame);
        sent++;
      }
    };
    try {
      await this.#work({ signal, frames, message: (message) => this.#answer.message(message) });
      signal.throwIfAborted();
    } catch (error) {
      throw signal.aborted ? signal.reason : error;
    }
    return sent;
  }

  cancel(): void {
    this.#controller.abort(cancelled());
  }

  message(message: Message): void {
    throw new FrameError(`the message ${message.m} to a request that takes none`);
  }

  credit(count: number): void {
    this.#credits.add(count);
  }

  data(): void {
    throw new FrameError("data from the host, which nothing waits for");
  }
}

/** The reason of an operation that the host does not want any more. */
export function cancelled(): ConnectorError {
  return new ConnectorError("The host cancelled the operation", { transient: true });
}

/** Sends batches as one Arrow stream; `after` runs behind each, with the number of those sent so far. */
export async function sendBatches(
  stream: number,
  schema: Schema,
  batches: AsyncIterable<RecordBatch>,
  context: RequestContext,
  after: (batches: number) => void,
): Promise<void> {
  const encoder = new ArrowFrames(stream, schema);
  await context.frames(encoder.start());
  let count = 0;
  for await (const batch of batches) {
    if (batch.numRows > 0) {
      await context.frames(encoder.batch(batch));
      count++;
    }
    after(count);
  }
  await context.frames(encoder.finish());
}
