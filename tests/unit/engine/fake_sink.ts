import { type AbortSemantics, type OutputSpec, type WriteHandle } from "../../../src/connectors/mod.ts";
import type { RunServices } from "../../../src/engine/mod.ts";
import type { Connection } from "../../../src/project/mod.ts";
import { openStaging } from "../../../src/staging/mod.ts";
import type { RecordBatch, Schema } from "../../../src/util/arrow.ts";
import { connection, pipeline, sink } from "./fixture.ts";
import { fakeSession } from "./session_support.ts";

type Step = "begin" | "write" | "commit" | "abort";

export type SinkInit = {
  readonly abortSemantics?: AbortSemantics;
  readonly provesAttempt?: boolean;
  /** Called before each step, with the number of the write that it belongs to, from 0; what it throws the step throws. */
  readonly before?: (step: Step, write: number, signal?: AbortSignal) => void | Promise<void>;
  /** What a commit says that it has written; absent: what it has. */
  readonly commits?: bigint;
  readonly drain?: RunServices["drain"];
};

/** A connector that keeps what is written to it, and notes every call. */
export class FakeSink {
  /** Such as `write 0`. */
  readonly log: string[] = [];
  readonly specs: OutputSpec[] = [];
  readonly schemas: Schema[] = [];
  /** The batches of each write. */
  readonly written: RecordBatch[][] = [];
  readonly services: RunServices;
  readonly #init: SinkInit;

  constructor(init: SinkInit = {}) {
    this.#init = init;
    this.services = {
      openStaging,
      random: () => 0,
      openSession: () => fakeSession({ beginWrite: (spec, schema, signal) => this.#begin(spec, schema, signal) }),
      ...(init.drain === undefined ? {} : { drain: init.drain }),
    };
  }

  /** Every value of one column, in the order in which the writes got them. */
  values(column: string): unknown[] {
    return this.written.flat().flatMap((batch) => [...batch.getChild(column) ?? []]);
  }

  /** How often each step was taken. */
  get steps(): { readonly [S in Step]: number } {
    const count = (step: Step) => this.log.filter((line) => line.startsWith(`${step} `)).length;
    return { begin: count("begin"), write: count("write"), commit: count("commit"), abort: count("abort") };
  }

  async #begin(spec: OutputSpec, schema: Schema, signal: AbortSignal): Promise<WriteHandle> {
    const number = this.specs.length;
    this.specs.push(spec);
    this.schemas.push(schema);
    const batches: RecordBatch[] = [];
    this.written.push(batches);
    const step = async (name: Step, signal?: AbortSignal) => {
      this.log.push(`${name} ${number}`);
      await this.#init.before?.(name, number, signal);
    };
    await step("begin", signal);
    return {
      abortSemantics: this.#init.abortSemantics ?? "discards_all",
      provesAttempt: this.#init.provesAttempt ?? false,
      acknowledgedRows: 0n,
      write: async (batch, signal) => {
        await step("write", signal);
        signal.throwIfAborted();
        batches.push(batch);
      },
      applyDeletes: () => Promise.reject(new Error("no deletes are expected")),
      resumeFrom: () => Promise.resolve(false),
      commit: async () => {
        await step("commit");
        const rows = BigInt(batches.reduce((sum, { numRows }) => sum + numRows, 0));
        return { rows: this.#init.commits ?? rows, batches: batches.length };
      },
      abort: () => step("abort"),
    };
  }
}

/** A node that writes a relation through a connector's process. */
export function universalSink(
  of: string,
  { write = {}, plan = {}, retry, rateLimit }: {
    readonly write?: Partial<ReturnType<typeof sink>[0]["write"]>;
    readonly plan?: Partial<ReturnType<typeof sink>[1]>;
    readonly retry?: { readonly maxAttempts: number };
    readonly rateLimit?: Connection["rateLimit"];
  } = {},
): ReturnType<typeof sink> {
  const name = "lake.t";
  const unused = { statement: () => "", setup: [], mechanism: "", folders: [], moves: [] };
  const fast = { baseDelayMs: 1, maxDelayMs: 1, maxAttempts: 1, ...retry };
  const lake = connection("lake", { retry: fast, ...(rateLimit === undefined ? {} : { rateLimit }) });
  const [node, { copy: _, ...planned }] = sink(name, of, unused, { connection: lake });
  return [{ ...node, write: { ...node.write, ...write } }, { ...planned, strategy: "arrow_stream", ...plan }];
}

/** Ten thousand rows. */
export const MANY = pipeline("t", "SELECT range::INTEGER AS n, 'x' || range AS s FROM range(10000)");

/** Makes many batches of few rows. */
export const SMALL = { batchBytes: 4096 };
