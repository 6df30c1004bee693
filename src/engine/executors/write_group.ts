import type { AbortSemantics, WriteHandle } from "../../connectors/mod.ts";
import type { RecordBatch } from "../../util/arrow.ts";
import type { BatchChannel } from "../batch_channel.ts";

const WEAKEST_FIRST: readonly AbortSemantics[] = ["none", "best_effort"];

/** One write of an output, or several side by side that share its rows. Exactly one of `commit` and `abort` ends it. */
export class WriteGroup {
  readonly #handles: readonly WriteHandle[];
  readonly #tried = new Set<WriteHandle>();
  #hasCommitted = false;
  #rowsSent = 0;
  #writingMs = 0;

  private constructor(handles: readonly WriteHandle[]) {
    this.#handles = handles;
  }

  /**
   * Begins so many writes.
   *
   * @throws what the first that does not begin throws; those before it are aborted
   */
  static async begin(count: number, begin: () => Promise<WriteHandle>): Promise<WriteGroup> {
    const handles: WriteHandle[] = [];
    try {
      while (handles.length < count) handles.push(await begin());
    } catch (error) {
      await abortEach(handles);
      throw error;
    }
    return new WriteGroup(handles);
  }

  /** How many writes it is. */
  get size(): number {
    return this.#handles.length;
  }

  /** The least that an abort takes back. */
  get abortSemantics(): AbortSemantics {
    const found = new Set(this.#handles.map((handle) => handle.abortSemantics));
    return WEAKEST_FIRST.find((semantics) => found.has(semantics)) ?? "discards_all";
  }

  /** Whether another attempt finds out of each write that it has landed, and then adds nothing. */
  get provesAttempt(): boolean {
    return this.#handles.every(({ provesAttempt }) => provesAttempt);
  }

  /** Rows of the batches that were handed over, also of those that were refused: the most that can have been written. */
  get rowsSent(): number {
    return this.#rowsSent;
  }

  /** Rows that the destination has confirmed for good; of a group of one write. */
  get acknowledgedRows(): bigint {
    return this.#handles[0]?.acknowledgedRows ?? 0n;
  }

  /** Before the first batch, of a group of one write: whether it can go on after so many rows. */
  async resumeFrom(rows: bigint, signal: AbortSignal): Promise<boolean> {
    const [only, ...others] = this.#handles;
    return only !== undefined && others.length === 0 && await only.resumeFrom(rows, signal);
  }

  /** Whether a commit has succeeded. */
  get hasCommitted(): boolean {
    return this.#hasCommitted;
  }

  /** Milliseconds that were spent waiting for batches to be taken, all writes together. */
  get writingMs(): number {
    return this.#writingMs;
  }

  /**
   * Writes batches until there are no more; `onWritten` is called after each. Never throws: what a write fails with is
   * told to `fail`, which is expected to stop the others by the signal. On return every write has come to rest.
   */
  async writeAll(
    channel: BatchChannel<RecordBatch>,
    { signal, fail, onWritten }: {
      readonly signal: AbortSignal;
      readonly fail: (error: unknown) => void;
      readonly onWritten: (batch: RecordBatch) => void;
    },
  ): Promise<void> {
    await Promise.all(this.#handles.map(async (handle) => {
      try {
        for (let taken = await channel.take(); taken !== undefined; taken = await channel.take()) {
          const start = performance.now();
          try {
            this.#rowsSent += taken.batch.numRows;
            await handle.write(taken.batch, signal);
          } finally {
            this.#writingMs += performance.now() - start;
            taken.release();
          }
          onWritten(taken.batch);
        }
      } catch (error) {
        fail(error);
      }
    }));
  }

  /**
   * Commits one write after the other. Returns how many rows they say that they have written. The signal stops what has
   * not begun to commit.
   *
   * @throws what the first failing commit throws; those that were not tried yet are aborted
   */
  async commit(signal: AbortSignal): Promise<bigint> {
    let rows = 0n;
    try {
      for (const handle of this.#handles) {
        this.#tried.add(handle);
        rows += (await handle.commit(signal)).rows;
        this.#hasCommitted = true;
      }
      return rows;
    } catch (error) {
      await this.abort();
      throw error;
    }
  }

  /** Aborts every write whose commit was not tried. Never throws. */
  async abort(): Promise<void> {
    await abortEach(this.#handles.filter((handle) => !this.#tried.has(handle)));
  }
}

/** Why it is aborted says more than that the abort failed too. */
async function abortEach(handles: readonly WriteHandle[]): Promise<void> {
  await Promise.allSettled(handles.map((handle) => handle.abort()));
}
