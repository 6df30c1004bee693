/** Where bytes of one stream go; may be slow, hang or throw. */
export type ByteSink = { write(bytes: Uint8Array): Promise<number> };

export type ConsoleOptions = {
  readonly stdout?: ByteSink;
  readonly stderr?: ByteSink;
  /** Bytes that may wait for a slow reader of one stream; what comes beyond them is dropped. */
  readonly maxQueuedBytes?: number;
};

const DEFAULT_MAX_QUEUED_BYTES = 64 * 1024 * 1024;

/**
 * The only writer to stdout and stderr. Text is queued and written in order, each stream on its own, so that a reader
 * that is slow, hangs, throws or is gone costs its own output and nothing else.
 */
export class Console {
  readonly #stdout: Lane;
  readonly #stderr: Lane;

  constructor(options: ConsoleOptions = {}) {
    const limit = options.maxQueuedBytes ?? DEFAULT_MAX_QUEUED_BYTES;
    this.#stdout = new Lane(options.stdout ?? Deno.stdout, limit);
    this.#stderr = new Lane(options.stderr ?? Deno.stderr, limit);
  }

  /** Queues one line for stdout. */
  out(line: string): void {
    this.#stdout.push(`${line}\n`);
  }

  /** Queues one line for stderr. */
  err(line: string): void {
    this.#stderr.push(`${line}\n`);
  }

  /** Queues text for stdout as it stands. */
  outRaw(text: string): void {
    this.#stdout.push(text);
  }

  /** Queues text for stderr as it stands. */
  errRaw(text: string): void {
    this.#stderr.push(text);
  }

  /** Whether stdout still has to take what was queued. */
  get isStdoutBusy(): boolean {
    return this.#stdout.isBusy;
  }

  /** Why stdout can't be written, told once; undefined while it can, and where its reader just went away. */
  takeStdoutFailure(): unknown {
    const { failure } = this.#stdout;
    this.#stdout.failure = undefined;
    return failure instanceof Deno.errors.BrokenPipe ? undefined : failure;
  }

  /** Waits until all is written; at most `timeoutMs` (Infinity: without limit). False when it gave up. */
  async flush(timeoutMs: number): Promise<boolean> {
    const idle = Promise.all([this.#stdout.idle(), this.#stderr.idle()]).then(() => true);
    if (timeoutMs === Infinity) return await idle;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<boolean>((resolve) => timer = setTimeout(() => resolve(false), timeoutMs));
    try {
      return await Promise.race([idle, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Forgets what still waits for a stream that is behind, and takes no more for it: its reader has had its chance. */
  abandonBusy(): void {
    for (const lane of [this.#stdout, this.#stderr]) if (lane.isBusy) lane.abandon();
  }
}

/** One stream: a queue of text and at most one write at a time. */
class Lane {
  readonly #sink: ByteSink;
  readonly #limit: number;
  readonly #encoder = new TextEncoder();
  #waiting: string[] = [];
  #waitingLength = 0;
  #work: Promise<void> = Promise.resolve();
  #working = false;
  #dead = false;
  failure: unknown;

  constructor(sink: ByteSink, limit: number) {
    this.#sink = sink;
    this.#limit = limit;
  }

  push(text: string): void {
    if (this.#dead || this.#waitingLength + text.length > this.#limit) return;
    this.#waiting.push(text);
    this.#waitingLength += text.length;
    if (!this.#working) {
      this.#working = true;
      this.#work = this.#drain();
    }
  }

  get isBusy(): boolean {
    return this.#working;
  }

  idle(): Promise<void> {
    return this.#work;
  }

  abandon(): void {
    this.#dead = true;
    this.#waiting = [];
    this.#waitingLength = 0;
    this.#work = Promise.resolve();
  }

  async #drain(): Promise<void> {
    // Text that is queued in one turn of the event loop goes out in one write.
    await Promise.resolve();
    while (this.#waiting.length > 0 && !this.#dead) {
      const bytes = this.#encoder.encode(this.#waiting.join(""));
      this.#waiting = [];
      this.#waitingLength = 0;
      try {
        for (let written = 0; written < bytes.length && !this.#dead;) {
          written += await this.#sink.write(bytes.subarray(written));
        }
      } catch (error) {
        this.#dead = true;
        this.failure = error;
      }
    }
    this.#working = false;
  }
}
