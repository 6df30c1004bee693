import type { RecordBatch } from "../../../util/arrow.ts";
import { addressOf, publicAddress, type Target, targetOf } from "./address.ts";
import type { Checkpoint } from "./checkpoint.ts";
import type { Answer, HttpClient } from "./client.ts";
import { JsonError } from "./json_tokens.ts";
import { nextLink } from "./link_header.ts";
import { PageReader, type PageShape } from "./page_reader.ts";
import { nextPage, pageParams, type PageState } from "./pagination.ts";
import { PAGE_CEILING, type ReadOptions } from "./read_options.ts";
import type { RecordBatches } from "./record_columns.ts";
import { excerpt } from "./redaction.ts";
import { refused, RequestError } from "./trouble.ts";
import { withinWindow } from "./window.ts";

const MAX_ROWS = 122_880;
const EXCERPT_BYTES = 400;

export type PageReadingOptions = {
  readonly batchBytes: number;
  readonly signal: AbortSignal;
  readonly from: Checkpoint | undefined;
  /** Told where `max_pages` ended the read before the server did. */
  readonly onCut: (pages: number) => void;
  /** Told where the first page was the last, since it holds nothing of what is to lead to the next. */
  readonly onUnled: () => void;
};

/** The records of one page after the other; a page's last batch ends with its last record. */
export class PageReading {
  readonly #client: HttpClient;
  readonly #options: ReadOptions;
  readonly #batches: RecordBatches;
  readonly #how: PageReadingOptions;
  readonly #visited = new Set<string>();
  #reached: Checkpoint | undefined;

  constructor(client: HttpClient, options: ReadOptions, batches: RecordBatches, how: PageReadingOptions) {
    this.#client = client;
    this.#options = options;
    this.#batches = batches;
    this.#how = how;
  }

  /** From where a read can go on after the latest batch; undefined where that did not end a page. */
  get reached(): Checkpoint | undefined {
    return this.#reached;
  }

  /** @throws {ConnectorError} */
  async *batches(): AsyncGenerator<RecordBatch> {
    const { from, onCut, onUnled } = this.#how;
    const { maxPages = PAGE_CEILING } = this.#options;
    let at = addressOf(this.#client.config, this.#options.path, []);
    let pages = from?.pages ?? 0;
    let state: PageState | undefined = from === undefined ? { at: "first" } : from.next;
    while (state !== undefined && pages < maxPages) {
      pages++;
      const target = this.#target(state, at, pages);
      const shown = `${target.url.origin}${target.url.pathname} (page ${pages})`;
      const answer = await this.#client.get(target, { label: "page", shown }, this.#how.signal);
      const reader = await this.#reader(answer);
      this.#batches.page(pages, BigInt(Date.now()) * 1000n);
      yield* this.#records(answer, reader);
      at = answer.url;
      if (pages === 1 && reader.records > 0 && this.#isUnled(reader, answer)) onUnled();
      state = this.#next(state, reader, answer);
      this.#reached = { pages, next: pages === this.#options.maxPages ? undefined : state };
      if (this.#batches.rows > 0) yield this.#batches.take();
      this.#reached = undefined;
    }
    if (state === undefined) return;
    if (this.#options.maxPages !== undefined) onCut(pages);
    else {
      throw refused(
        `${this.#options.path} has more than ${PAGE_CEILING} pages`,
        "a server that ignores the page it is asked for never ends; max_pages reads so many and no more",
      );
    }
  }

  #target(state: PageState, at: URL, page: number): Target {
    const { path, query, pagination } = this.#options;
    let target: Target;
    if (state.at === "url") {
      target = targetOf(this.#client.config, state.url, at, `The link to page ${page} of ${path}`);
    } else {
      const params = pageParams(pagination, state);
      const own = withinWindow(query, {}).filter(([name]) => params.every(([other]) => other !== name));
      target = { url: addressOf(this.#client.config, path, [...own, ...params]), isHome: true };
    }
    if (this.#visited.has(target.url.href)) {
      throw refused(
        `Page ${page} of ${path} is one that was read already: its ${
          pagination.kind === "cursor" ? "cursor" : "link"
        } leads back`,
        pagination.kind === "cursor" ? "check pointer and param of pagination" : undefined,
      );
    }
    this.#visited.add(target.url.href);
    return target;
  }

  async #reader({ headers, doing, body }: Answer): Promise<PageReader> {
    const { items, pagination } = this.#options;
    const type = (headers.get("content-type") ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
    if (type === "text/html" || type === "application/xhtml+xml") {
      await body.close();
      throw refused(
        `${doing} answered with a page of HTML, not with JSON`,
        "check path, and auth: it may be a page to log in",
      );
    }
    const shape: PageShape = {
      items,
      captures: pagination.kind === "cursor" ? [pagination.pointer] : [],
      many: items === undefined && /[/+.-](?:ndjson|jsonl|jsonlines|json-lines|json-seq)$/.test(type),
      maxRecordBytes: this.#client.config.maxRecordBytes,
    };
    return new PageReader(shape, this.#batches);
  }

  async *#records({ body, doing, status }: Answer, reader: PageReader): AsyncGenerator<RecordBatch> {
    let first: Uint8Array | undefined;
    try {
      if (status === 204 || status === 205) return;
      for (let chunk = await body.next(); chunk !== undefined; chunk = await body.next()) {
        if (first === undefined && chunk.length > 0) first = chunk.slice(0, EXCERPT_BYTES);
        reader.push(chunk);
        if (this.#batches.rows >= MAX_ROWS || this.#batches.bytes >= this.#how.batchBytes) yield this.#batches.take();
      }
      reader.finish();
    } catch (error) {
      throw error instanceof JsonError ? this.#unusable(error, doing, reader, first) : error;
    } finally {
      await body.close();
    }
  }

  #unusable(error: JsonError, doing: string, reader: PageReader, first: Uint8Array | undefined): RequestError {
    const told = reader.records > 0 || first === undefined ? undefined : excerpt(first, this.#client.secrets);
    const where = reader.records > 0 ? ` (behind ${reader.records} records)` : "";
    return new RequestError(
      `${doing} answered with JSON that can't be used${where}: ${error.message}${
        told === undefined ? "" : `: ${told}`
      }`,
      {
        transient: error.isCut,
        mayHaveLanded: false,
        hint: this.#options.items === undefined
          ? `if the records stand inside an object, say where, such as items: /data; items: "" takes the object for one record`
          : "check items, where the answer holds its records",
      },
    );
  }

  /** Whether a page lacks what its kind of paging goes by; a last page may, the only one makes one wonder. */
  #isUnled(reader: PageReader, { headers }: Answer): boolean {
    const { kind } = this.#options.pagination;
    return (kind === "cursor" && !reader.hasCapture) || (kind === "link_header" && !headers.has("link"));
  }

  #next(state: PageState, reader: PageReader, answer: Answer): PageState | undefined {
    const link = nextLink(answer.headers.get("link"));
    const [cursor] = reader.captured;
    const next = nextPage(this.#options.pagination, state, { records: reader.records, cursor, link });
    if (next?.at !== "url") return next;
    const url = URL.parse(next.url, answer.url.href);
    if (url === null) throw refused(`${answer.doing} names a next page that is no address`);
    return { at: "url", url: publicAddress(this.#client.config, url).href };
  }
}
