import { refused, tooSlow, toTrouble } from "./trouble.ts";
import { Utf8Check } from "./utf8_check.ts";

/** What limits a body. */
export type BodyLimits = {
  readonly maxBytes: number;
  readonly timeoutMs: number;
  /** Names the request in messages. */
  readonly doing: string;
  /** Called when nothing more is read, once or more often. */
  readonly onOver: () => void;
};

/** Bytes that a body must bring for each second beyond the time limit that it makes wait. */
const LEAST_BYTES_PER_MS = 1;

/**
 * The body of an answer as UTF-8, decompressed, within its limits: it may be as large as the connection says when it is
 * decompressed, and must neither pause longer than its time limit nor trickle. What was not read must be closed.
 */
export class Body {
  readonly #limits: BodyLimits;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  readonly #toUtf8: ((bytes: Uint8Array | undefined) => Uint8Array) | undefined;
  readonly #check = new Utf8Check();
  readonly #waiting: Uint8Array[] = [];
  #bytes = 0;
  #waitedMs = 0;
  #isOver = false;

  private constructor(
    stream: ReadableStream<Uint8Array> | null,
    charset: string | undefined,
    limits: BodyLimits,
  ) {
    this.#limits = limits;
    this.#reader = stream?.getReader();
    this.#toUtf8 = charset === undefined ? undefined : transcoder(charset, limits.doing);
  }

  /**
   * The body of an answer.
   *
   * @throws {ConnectorError} for an encoding that can't be read
   */
  static async of(response: Response, limits: BodyLimits): Promise<Body> {
    // The runtime has undone gzip and br already, and may or may not say so.
    const encoding = (response.headers.get("content-encoding") ?? "").trim().toLowerCase();
    if (!["", "identity", "gzip", "x-gzip", "br", "deflate"].includes(encoding)) {
      throw refused(`${limits.doing} answered in the encoding "${encoding.slice(0, 40)}", which pz did not ask for`);
    }
    const stream = encoding === "deflate" && response.body !== null ? await inflated(response.body) : response.body;
    return new Body(stream, charsetOf(response.headers), limits);
  }

  /** Reads up to so many bytes ahead; true: that was all. */
  async buffer(bytes: number): Promise<boolean> {
    let buffered = 0;
    while (!this.#isOver && buffered <= bytes) {
      const chunk = await this.#pull();
      if (chunk === undefined) break;
      buffered += chunk.length;
      this.#waiting.push(chunk);
    }
    return this.#isOver;
  }

  /**
   * The next bytes; undefined at the end.
   *
   * @throws {ConnectorError} where a limit is passed, or the body is lost or no text
   */
  async next(): Promise<Uint8Array | undefined> {
    return this.#waiting.shift() ?? (this.#isOver ? undefined : await this.#pull());
  }

  /** Lets go of what was not read. */
  async close(): Promise<void> {
    this.#waiting.length = 0;
    this.#end();
    await this.#reader?.cancel().catch(() => {});
  }

  #end(): void {
    this.#isOver = true;
    this.#limits.onOver();
  }

  async #pull(): Promise<Uint8Array | undefined> {
    const { doing, maxBytes } = this.#limits;
    const { done, value } = await this.#read();
    const text = this.#toUtf8 === undefined ? value : this.#toUtf8(value);
    if (text !== undefined) this.#bytes += text.length;
    if (this.#bytes > maxBytes) {
      throw refused(
        `${doing} answered with more than ${maxBytes / 1024 / 1024} MiB`,
        "ask for smaller pages, or raise max_response_mb of the connection",
      );
    }
    const complete = text === undefined ? new Uint8Array(0) : this.#check.push(text);
    if (complete === undefined || (done && !this.#check.isComplete)) {
      throw refused(`${doing} answered with bytes that are no text in UTF-8`);
    }
    if (done) this.#end();
    return done && complete.length === 0 ? undefined : complete;
  }

  async #read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }> {
    if (this.#reader === undefined) return { done: true };
    const { doing, timeoutMs } = this.#limits;
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(
      () => late.reject(tooSlow(doing, timeoutMs / 1000, "no more of the answer came")),
      timeoutMs,
    );
    const start = performance.now();
    try {
      const read = await Promise.race([this.#reader.read(), late.promise]);
      this.#waitedMs += performance.now() - start;
      if (this.#waitedMs <= timeoutMs + this.#bytes / LEAST_BYTES_PER_MS) return read;
    } catch (error) {
      throw toTrouble(error, doing);
    } finally {
      clearTimeout(timer);
    }
    throw tooSlow(doing, timeoutMs / 1000, "hardly anything of the answer came");
  }
}

/** The charset of the content type, where it is another than UTF-8. */
function charsetOf(headers: Headers): string | undefined {
  const charset = /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(headers.get("content-type") ?? "")?.[1]?.toLowerCase();
  return charset === undefined || /^(?:utf-?8|us-ascii|ascii)$/.test(charset) ? undefined : charset;
}

function transcoder(charset: string, doing: string): (bytes: Uint8Array | undefined) => Uint8Array {
  const encoder = new TextEncoder();
  let decoder: TextDecoder;
  try {
    decoder = new TextDecoder(charset, { fatal: true });
  } catch {
    throw refused(`${doing} answered in the charset "${charset.slice(0, 40)}", which pz does not know`);
  }
  return (bytes) => {
    try {
      return encoder.encode(bytes === undefined ? decoder.decode() : decoder.decode(bytes, { stream: true }));
    } catch {
      throw refused(`${doing} answered with bytes that are no text in ${charset}`);
    }
  };
}

/** Some servers send deflate with zlib's two bytes around it, as they should, and some without. */
async function inflated(body: ReadableStream<Uint8Array>): Promise<ReadableStream<Uint8Array>> {
  const reader = body.getReader();
  const first = await reader.read();
  const [one = 0, two = 0] = first.value ?? [];
  const isZlib = (one & 0x0f) === 8 && ((one << 8) | two) % 31 === 0;
  const whole = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start: (controller) => {
      if (first.value !== undefined) controller.enqueue(new Uint8Array(first.value));
      if (first.done) controller.close();
    },
    pull: async (controller) => {
      const { done, value } = await reader.read();
      if (done) controller.close();
      else controller.enqueue(new Uint8Array(value));
    },
    cancel: (reason) => reader.cancel(reason),
  });
  return whole.pipeThrough(new DecompressionStream(isZlib ? "deflate" : "deflate-raw"));
}
