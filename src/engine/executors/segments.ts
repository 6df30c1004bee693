import type { RecordBatch } from "../../util/arrow.ts";
import type { Requests } from "../run_context.ts";

/** How much may be lost of a read that can go on: whichever comes first. */
const SEGMENT_ROWS = 50_000;
const SEGMENT_BYTES = 16 << 20;
const SEGMENT_MS = 2000;
/** A read that waits so long for its next batch has the time to put aside what it has. */
const IDLE_MS = 250;
/** A checkpoint is told right behind its batch; so long it is waited for before the next batch is. */
const GRACE_MS = 20;

type Result = IteratorResult<RecordBatch>;

/**
 * The batches of a read that gives checkpoints, cut into segments of which each but the last ends where the read can go
 * on. One segment at a time is read, to its end.
 */
export class Segments {
  readonly #stream: ReturnType<Requests["read"]>;
  readonly #iterator: AsyncIterator<RecordBatch>;
  readonly #monotonic: () => number;
  readonly #segmentMs: number;
  readonly #idleMs: number;
  /** The batch that comes next, which a later segment may begin with. */
  #next: Promise<Result> | undefined;
  #given = 0;
  #token: string | undefined;
  #fault: { readonly error: unknown } | undefined;
  #isOver = false;

  /** After `segmentMs` milliseconds a segment ends where it can, and after `idleMs` of them without a batch. */
  constructor(
    stream: ReturnType<Requests["read"]>,
    monotonic: () => number,
    { segmentMs = SEGMENT_MS, idleMs = IDLE_MS }: { readonly segmentMs?: number; readonly idleMs?: number } = {},
  ) {
    this.#stream = stream;
    this.#iterator = stream[Symbol.asyncIterator]();
    this.#monotonic = monotonic;
    this.#segmentMs = segmentMs;
    this.#idleMs = idleMs;
  }

  /** Where the read can go on after the segment that was read last; undefined after the last one. */
  get token(): string | undefined {
    return this.#token;
  }

  /** What the read failed with right after the segment. */
  get fault(): { readonly error: unknown } | undefined {
    return this.#fault;
  }

  /**
   * Waits for the first batch or the end.
   *
   * @throws what the read fails with
   */
  async begin(): Promise<void> {
    await this.#ask();
  }

  /**
   * The batches of the next segment.
   *
   * @throws what the read fails with where it can't go on right after the batches before
   */
  async *segment(): AsyncGenerator<RecordBatch> {
    const end = this.#monotonic() + this.#segmentMs;
    let rows = 0;
    let bytes = 0;
    this.#token = undefined;
    for (;;) {
      const next = await this.#ask();
      if (next.done === true) {
        this.#isOver = true;
        return;
      }
      this.#next = undefined;
      rows += next.value.numRows;
      bytes += next.value.data.byteLength;
      this.#given++;
      yield next.value;
      const isFull = rows >= SEGMENT_ROWS || bytes >= SEGMENT_BYTES;
      if (await this.#endsHere(isFull ? 0 : end - this.#monotonic())) return;
    }
  }

  /** Ends the read, as far as it has not ended. */
  async close(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    await this.#iterator.return?.();
  }

  #ask(): Promise<Result> {
    if (this.#next === undefined) {
      this.#next = this.#iterator.next();
      // It may come to nobody: then the segment before has told.
      this.#next.catch(() => {});
    }
    return this.#next;
  }

  /** Whether the segment ends behind the last batch; until it is due the next one is waited for, but not for long. */
  async #endsHere(dueMs: number): Promise<boolean> {
    const next = await this.#soon(Math.max(Math.min(dueMs, this.#idleMs), GRACE_MS));
    if (next !== undefined && "error" in next) {
      this.#token = this.#stream.checkpointAfter?.(this.#given);
      if (this.#token === undefined) throw next.error;
      this.#fault = next;
      return true;
    }
    if ((next !== undefined && dueMs > 0) || next?.result.done === true) return false;
    this.#token = this.#stream.checkpointAfter?.(this.#given);
    return this.#token !== undefined;
  }

  /** What comes next, if it comes in so many milliseconds. */
  async #soon(ms: number): Promise<{ readonly result: Result } | { readonly error: unknown } | undefined> {
    const { promise: late, resolve } = Promise.withResolvers<undefined>();
    const timer = setTimeout(() => resolve(undefined), ms);
    try {
      return await Promise.race([this.#ask().then((result) => ({ result }), (error: unknown) => ({ error })), late]);
    } finally {
      clearTimeout(timer);
    }
  }
}
