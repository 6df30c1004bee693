import type { Message } from "../protocol/messages.ts";

/** One running request in a connector's process; what comes for its stream is handed to it. */
export type Operation = {
  /** Does all of it and returns how many data frames it sent; what it throws is answered as its failure. */
  run(): Promise<number>;
  /** The host wants it to stop; the reason is what `run` then throws. */
  cancel(): void;
  /** @throws {FrameError} for a message that does not belong here */
  message(message: Message): void;
  /** The host takes so many data frames more. */
  credit(count: number): void;
  /** @throws {FrameError} for data that does not belong here, or that no credit allows */
  data(payload: Uint8Array<ArrayBuffer>): void;
};

/** What an operation answers with, on its stream. */
export type Answer = {
  readonly stream: number;
  message(message: Message): void;
  frame(bytes: Uint8Array<ArrayBuffer>): void;
};
