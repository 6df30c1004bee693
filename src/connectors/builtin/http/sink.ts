import type { RecordBatch, Schema } from "../../../util/arrow.ts";
import { sha256Hex } from "../../../util/mod.ts";
import { ConnectorError, type OutputSpec, type WriteResult } from "../../contract/mod.ts";
import { type ColumnReader, columnReaders, type ConnectorHost, type Sink, type WriteSession } from "../../sdk/mod.ts";
import { jsonFormat } from "../localfiles/child/json_format.ts";
import type { LineFormat } from "../localfiles/child/lines.ts";
import { textOf } from "../localfiles/child/value_text.ts";
import { addressOf } from "./address.ts";
import type { HttpClient, Request } from "./client.ts";
import { RowRequest } from "./row_requests.ts";
import { refused, RequestError } from "./trouble.ts";
import { KEY_MARK, type WriteOptions, writeOptions } from "./write_options.ts";

/** Characters from which on a request is sent, however few its rows are. */
const MAX_LENGTH = 8 << 20;

/** Writes rows as requests; what a server has taken stays there. */
export class HttpSink implements Sink {
  readonly abortSemantics = "none";
  readonly #client: HttpClient;
  readonly #host: ConnectorHost;
  /** Of each write of a run, whatever attempt made it: behind how many rows the request stands that may have landed unseen. */
  readonly #doubts = new Map<string, bigint>();

  constructor(client: HttpClient, host: ConnectorHost) {
    this.#client = client;
    this.#host = host;
  }

  begin(
    spec: OutputSpec,
    schema: Schema,
    _signal?: AbortSignal,
    acknowledge?: (rows: bigint) => Promise<void>,
  ): Promise<WriteSession> {
    const { options, problems: [problem] } = writeOptions(spec);
    if (options === undefined || problem !== undefined) {
      throw new ConnectorError(problem?.message ?? "A write without options", {
        transient: false,
        code: problem?.code,
        hint: problem?.hint,
      });
    }
    if (spec.mode === "replace") throw refused("Connector 'http' can't replace what a server holds");
    const keyed = options.key?.toLowerCase();
    const keyIndex = schema.fields.findIndex(({ name }) => name.toLowerCase() === keyed);
    if (options.key !== undefined && keyIndex < 0) {
      throw refused(`The rows have no column "${options.key}", which is the key`);
    }
    const format = jsonFormat(schema.fields, (column) => {
      this.#host.notice(
        `Column "${column}" holds numbers that JSON has none for, NaN or infinite: they are sent as null`,
      );
    });
    const doubts = this.#doubts;
    const writing: Writing = { spec, options, format, keyIndex, acknowledge, doubts };
    return Promise.resolve(new HttpWrite(this.#client, this.#host, writing));
  }
}

type Writing = {
  readonly spec: OutputSpec;
  readonly options: WriteOptions;
  readonly format: LineFormat;
  /** The key's place among the columns; negative: there is none. */
  readonly keyIndex: number;
  readonly acknowledge: ((rows: bigint) => Promise<void>) | undefined;
  readonly doubts: Map<string, bigint>;
};

/** A request that is ready to be sent. */
type Prepared = { readonly url: URL; readonly request: Request; readonly rows: number };

/** One write. Rows that fill no request wait for the next batch, or for the commit. */
class HttpWrite implements WriteSession {
  readonly #client: HttpClient;
  readonly #host: ConnectorHost;
  readonly #writing: Writing;
  readonly #request: RowRequest;
  /** Requests that go side by side, when there are enough of them. */
  readonly #prepared: Prepared[] = [];
  readonly #isIdempotent: boolean;
  #confirmed = 0n;
  #batches = 0;
  #isOver = false;

  constructor(client: HttpClient, host: ConnectorHost, writing: Writing) {
    this.#client = client;
    this.#host = host;
    this.#writing = writing;
    const { options: { format, key, idempotencyHeader } } = writing;
    this.#request = new RowRequest(format);
    // What adds rows does so again, whatever its method says of itself.
    this.#isIdempotent = key !== undefined || idempotencyHeader !== undefined;
  }

  async write(batch: RecordBatch, signal: AbortSignal): Promise<void> {
    const { options: { rowsPerRequest, parallel }, format, keyIndex } = this.#writing;
    const readers = columnReaders(batch);
    const line = format.lines(readers);
    const keyReader = readers[keyIndex];
    const keyText = keyReader === undefined ? undefined : keyTexts(keyReader);
    for (let row = 0; row < batch.numRows; row++) {
      this.#request.add(line(row).trimEnd());
      if (this.#request.rows < rowsPerRequest && this.#request.length < MAX_LENGTH) continue;
      this.#prepare(keyText?.(row));
      if (this.#prepared.length >= parallel) await this.#send(signal);
    }
    this.#batches++;
  }

  acknowledgedRows(): bigint {
    return this.#confirmed;
  }

  resumeFrom(rows: bigint): Promise<boolean> {
    if (this.#confirmed > 0n || this.#request.rows > 0 || this.#prepared.length > 0) return Promise.resolve(false);
    this.#confirmed = rows;
    return Promise.resolve(true);
  }

  async commit(): Promise<WriteResult> {
    if (this.#isOver) {
      throw new ConnectorError("A commit after the write has ended", { transient: false, code: "PZ0357" });
    }
    this.#isOver = true;
    try {
      if (this.#request.rows > 0) this.#prepare(undefined);
      await this.#send(new AbortController().signal);
    } catch (error) {
      throw error instanceof RequestError ? error.with({ outcomeUnknown: error.mayHaveLanded }) : error;
    }
    return { rows: this.#confirmed, batches: this.#batches };
  }

  abort(): Promise<void> {
    this.#isOver = true;
    this.#request.take();
    this.#prepared.length = 0;
    return Promise.resolve();
  }

  /** Makes a request of the rows that wait. */
  #prepare(key: string | undefined): void {
    const { options: { path, method, expected, idempotencyHeader } } = this.#writing;
    const { config } = this.#client;
    const { rows } = this.#request;
    const content = this.#request.take();
    this.#prepared.push({
      url: addressOf(config, key === undefined ? path : keyedPath(path, key), []),
      request: {
        label: key === undefined ? "append" : "merge",
        method,
        // With the mark in place of the key, which may be anybody's name.
        shown: `${config.baseUrl}${path}`,
        idempotent: this.#isIdempotent,
        headers: idempotencyHeader === undefined ? [] : [[idempotencyHeader, this.#nameOf(content.bytes)]],
        content,
        expected,
      },
      rows,
    });
  }

  /** Sends the requests that are ready; those before the first that fails are confirmed. */
  async #send(signal: AbortSignal): Promise<void> {
    const requests = this.#prepared.splice(0);
    const outcomes = await Promise.allSettled(requests.map(async ({ url, request }) => {
      const { body } = await this.#client.send({ url, isHome: true }, request, signal);
      await body.close();
    }));
    for (const [index, outcome] of outcomes.entries()) {
      const rows = requests[index]?.rows ?? 0;
      if (outcome.status === "rejected") {
        const error: unknown = outcome.reason;
        if (error instanceof RequestError && error.mayHaveLanded && !this.#isIdempotent) {
          throw this.#doubted(error, rows);
        }
        throw error;
      }
      this.#confirmed += BigInt(rows);
    }
    // What may not be sent twice is not followed by more until it is known to be there, whatever happens.
    if (!this.#isIdempotent) await this.#writing.acknowledge?.(this.#confirmed);
  }

  /** Tells of a request that may have landed. In one run no more than one such request is sent again. */
  #doubted(error: RequestError, rows: number): RequestError {
    const first = this.#confirmed + 1n;
    this.#host.notice(
      `${this.#writing.options.path}: the server may have taken rows ${first} to ${this.#confirmed + BigInt(rows)}, ` +
        "though its answer was lost or a failure; if they are sent again, they may be there twice",
    );
    const { spec: { attempt: { run, node } }, doubts } = this.#writing;
    const write = `${run}\n${node}`;
    const known = doubts.get(write) ?? this.#confirmed;
    doubts.set(write, known);
    if (known === this.#confirmed) return error;
    return new RequestError(`${error.message}; rows behind ${known} may be there twice already`, {
      transient: false,
      mayHaveLanded: true,
      hint: "compare the rows with the server's; with idempotency_header, where it knows one, no request counts twice",
    });
  }

  /**
   * The same for the same rows at the same place of the same write, whatever attempt sends them, in this run or one that
   * goes on with it; other rows at that place have another name, so that no server takes them for a repetition.
   */
  #nameOf(body: Uint8Array): string {
    const { node, run, prior = [] } = this.#writing.spec.attempt;
    const write = `${node}\n${prior[0]?.run ?? run}\n${this.#confirmed}\n`;
    return sha256Hex(write + new TextDecoder().decode(body)).slice(0, 32);
  }
}

/** The texts of a column of keys. */
function keyTexts(reader: ColumnReader): (row: number) => string {
  const text = textOf(reader);
  const { name } = reader.field;
  if (text === undefined) throw refused(`The key "${name}" is no single value`);
  return (row) => {
    const key = reader.isNull(row) ? "" : text(row);
    if (key === "") throw refused(`A row has ${reader.isNull(row) ? "NULL" : "an empty text"} for its key "${name}"`);
    return key;
  };
}

/** The path with a key in it, as one step whatever it holds. */
function keyedPath(path: string, key: string): string {
  const filled = path.replace(KEY_MARK, () => encodeURIComponent(key));
  if (filled.split("/").some((step) => step === "." || step === "..")) {
    throw refused(`A row's key is "${key}", which a path can't hold`, "keys of dots alone lead elsewhere");
  }
  return filled;
}
