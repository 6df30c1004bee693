import type { DagNode } from "../compile/mod.ts";
import type { Mask } from "../util/mod.ts";
import type { Breakers } from "./breaker_gate.ts";
import type { ConnectionPool } from "./connection_pool.ts";
import type { NodeControl } from "./dispatcher.ts";
import { failureOf, type NodeFailure } from "./failure.ts";
import { isCancellation, type NodeEnds, sceneOf, type SqlPlace, timeoutFailure } from "./node_end.ts";
import { NodeTimeout, withNodeTimeout } from "./node_timeout.ts";
import type { OperationGates } from "./operation_gate.ts";
import type { NodeContext, NodeOutcome, RunContext } from "./run_context.ts";

/** Does one attempt of a node. */
export type Perform = (context: NodeContext, node: DagNode) => Promise<NodeOutcome>;

/** What whatever is dispatched in a run is run with. */
export type Tools = {
  readonly run: RunContext;
  readonly ends: NodeEnds;
  readonly attempts: Attempts;
  readonly breakers: Breakers;
  readonly gates: OperationGates;
  readonly perform: Perform;
};

/** What an attempt was stopped for. */
export type Trouble = {
  readonly node: DagNode;
  readonly error: unknown;
  /** Where a position in the error belongs, unless into the node's own statement. */
  readonly at?: SqlPlace | undefined;
};

export type AttemptsOptions = {
  readonly run: RunContext;
  readonly connections: ConnectionPool;
  /** Whether a node of one plain statement leaves nothing behind in its connection. */
  readonly reuse: boolean;
  readonly redact: Mask;
};

/** Gives each attempt its time limit and its connection, and judges what it threw. */
export class Attempts {
  readonly #options: AttemptsOptions;
  #stuck = false;

  constructor(options: AttemptsOptions) {
    this.#options = options;
  }

  /** Whether an attempt was left to itself because it did not stop when told to. */
  get stuck(): boolean {
    return this.#stuck;
  }

  /**
   * Runs one attempt of a node, or of a chain that begins with it. Counts from 1.
   *
   * @throws what `judge` takes
   */
  async run<T>(
    node: DagNode,
    attempt: number,
    control: NodeControl,
    work: (context: NodeContext) => Promise<T>,
  ): Promise<T> {
    const { run, connections } = this.#options;
    const reuse = this.#options.reuse && (node.kind === "Pipeline" || node.kind === "Check");
    return await withNodeTimeout(run.project.engine.nodeTimeoutMs, control.signal, async (signal) => {
      signal.throwIfAborted();
      return await connections.lend({ reuse, signal }, (connection) => work({ run, connection, signal, attempt }));
    });
  }

  /** The failure that an attempt's trouble is, or undefined where it only says that the attempt was stopped. */
  judge({ node, error, at }: Trouble, control: NodeControl): NodeFailure | undefined {
    if (error instanceof NodeTimeout) {
      const failure = timeoutFailure(node, error);
      if (error.unresponsive) {
        this.#stuck = true;
        control.stopAll(new DOMException(failure.message, "AbortError"));
      }
      return failure;
    }
    if (control.signal.aborted && isCancellation(error, control.signal)) return undefined;
    return failureOf(error, sceneOf(node, this.#options.redact, at));
  }

  /** A text as it may be shown. */
  redact(text: string): string {
    return this.#options.redact(text);
  }
}
