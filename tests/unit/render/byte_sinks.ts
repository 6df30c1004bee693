import type { ByteSink } from "../../../src/render/mod.ts";

/** Keeps everything as text. */
export class CollectingSink implements ByteSink {
  text = "";
  writes = 0;
  readonly #decoder = new TextDecoder();
  readonly #most: number;

  /** @param most bytes that one write takes */
  constructor(most = Infinity) {
    this.#most = most;
  }

  write(bytes: Uint8Array): Promise<number> {
    const taken = bytes.subarray(0, this.#most);
    this.text += this.#decoder.decode(taken, { stream: true });
    this.writes++;
    return Promise.resolve(taken.length);
  }
}

/** Never takes anything, until it is released. */
export class HungSink implements ByteSink {
  readonly #released = Promise.withResolvers<number>();
  writes = 0;

  write(bytes: Uint8Array): Promise<number> {
    this.writes++;
    return this.#released.promise.then(() => bytes.length);
  }

  release(): void {
    this.#released.resolve(0);
  }
}

/** Fails every write, as a pipe does whose reader is gone. */
export class ThrowingSink implements ByteSink {
  writes = 0;

  write(): Promise<number> {
    this.writes++;
    throw new Deno.errors.BrokenPipe("Broken pipe");
  }
}
