import { faultPoint, writeAllSync, writeFileAtomically, writeFileUnflushed } from "../util/mod.ts";
import { type NodeRecord, nodeRecordJson, type Phases } from "./node_record.ts";

export type RunRecorderOptions = {
  readonly runId: string;
  readonly results: string;
  readonly journal: string;
  readonly startedAt: string;
  /** The run that this one is a retry of. */
  readonly retryOf?: string | undefined;
  readonly nodeCount: number;
  /** Milliseconds; only differences count. */
  readonly now: () => number;
  /** Called once for each store whose write failed; the run goes on. */
  readonly onWarning: (message: string) => void;
};

/** Up to this many nodes the receipt is rewritten after every one. */
const EVERY_NODE_LIMIT = 200;
/** Beyond it the receipt is rewritten at most once in this time, so that its bytes don't grow with the square. */
const MIN_INTERVAL_MS = 250;

type Terminal = { readonly finishedAt: string; readonly phases: Phases; readonly interrupted: boolean };

/**
 * Keeps a run's journal (one line for each completed node, always exact) and run_results.json (rewritten after each
 * node; in runs of more than 200 nodes at most four times a second). Call it after the data is committed and before
 * the event is published. None of its methods but `begin` throws.
 *
 * What a machine that dies leaves is in the journal: until the run ends the receipt is not flushed to the disk.
 */
export class RunRecorder implements Disposable {
  readonly #options: RunRecorderOptions;
  readonly #records: string[] = [];
  readonly #warned = new Set<string>();
  readonly #encoder = new TextEncoder();
  #journal: Deno.FsFile | undefined;
  #torn = false;
  #lastSnapshot = -Infinity;

  constructor(options: RunRecorderOptions) {
    this.#options = options;
    this.#attempt(options.journal, () => {
      this.#journal = Deno.openSync(options.journal, { write: true, append: true, create: true });
    });
  }

  /**
   * Notes in the journal that an attempt of a write is about to begin, flushed to the disk: whoever finds no end of it
   * knows that its rows may have landed.
   *
   * @throws where it can't be written: what nobody would know of must not begin
   */
  begin({ id, name }: Pick<NodeRecord, "id" | "name">, attempt: number): void {
    if (this.#journal === undefined) throw new Error(`Run record '${this.#options.journal}' can't be written`);
    this.#append(JSON.stringify({ started: id, name, attempt }));
    this.#journal.syncDataSync();
  }

  /**
   * Appends to the journal, flushed to the disk when `durable`, and rewrites the receipt where it is due. Several
   * records, of nodes that end together, are written as one.
   */
  complete(records: NodeRecord | readonly NodeRecord[], { durable }: { readonly durable: boolean }): void {
    const lines = [records].flat().map(nodeRecordJson);
    this.#records.push(...lines);
    this.#attempt(this.#options.journal, () => {
      this.#append(lines.join("\n"));
      if (durable) this.#journal?.syncDataSync();
      faultPoint("journal_written");
    });
    if (this.#options.nodeCount > EVERY_NODE_LIMIT && this.#options.now() - this.#lastSnapshot < MIN_INTERVAL_MS) {
      return;
    }
    this.snapshot();
  }

  /** Writes the receipt with status `running` and every record so far. */
  snapshot(): void {
    const { results } = this.#options;
    this.#attempt(results, () => {
      writeFileUnflushed(results, this.#receipt("running", undefined));
      faultPoint("receipt_written");
    });
    this.#lastSnapshot = this.#options.now();
  }

  /**
   * The last write of a run: terminal status, `finishedAt`, phases. The journal is on the disk before it. A receipt
   * that can't be written leaves the end to the journal, which may still have room for it. Returns why it can't.
   */
  finish(status: string, terminal: Terminal): { readonly error: unknown } | undefined {
    const { journal, results, runId } = this.#options;
    this.#attempt(journal, () => this.#journal?.syncDataSync());
    try {
      writeFileAtomically(results, this.#receipt(status, terminal));
      return undefined;
    } catch (error) {
      const { finishedAt, interrupted } = terminal;
      this.#attempt(journal, () => {
        this.#append(JSON.stringify({ runId, end: status, finishedAt, interrupted }));
        this.#journal?.syncDataSync();
      });
      return { error };
    }
  }

  [Symbol.dispose](): void {
    this.#journal?.close();
    this.#journal = undefined;
  }

  /** Adds a line to the journal; one that could be written only in part does not swallow the next one. */
  #append(line: string): void {
    if (this.#journal === undefined) return;
    const bytes = this.#encoder.encode(this.#torn ? `\n${line}\n` : `${line}\n`);
    this.#torn = true;
    writeAllSync(this.#journal, bytes);
    this.#torn = false;
  }

  #receipt(status: string, terminal: Terminal | undefined): string {
    const { runId, startedAt, retryOf } = this.#options;
    const head = JSON.stringify({
      version: 1,
      runId,
      status,
      startedAt,
      finishedAt: terminal?.finishedAt,
    });
    const tail = JSON.stringify({
      phases: terminal?.phases,
      interrupted: terminal?.interrupted === true ? true : undefined,
      retryOf,
    });
    const nodes = `"nodes":[${this.#records.join(",")}]`;
    return `${head.slice(0, -1)},${nodes}${tail === "{}" ? "}" : `,${tail.slice(1)}`}\n`;
  }

  #attempt(store: string, write: () => void): void {
    try {
      write();
    } catch (error) {
      if (this.#warned.has(store)) return;
      this.#warned.add(store);
      const reason = error instanceof Error ? error.message : String(error);
      try {
        this.#options.onWarning(`Run record '${store}' can't be written: ${reason}; the run goes on without it`);
      } catch { /* who can't take a warning must not stop a run */ }
    }
  }
}
