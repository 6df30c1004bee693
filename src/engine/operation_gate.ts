import type { DagNode } from "../compile/mod.ts";
import type { OperationEnd, OperationGate, OperationRequest } from "../connectors/mod.ts";
import type { NodeCompleted } from "../events/mod.ts";
import type { Connection } from "../project/mod.ts";
import type { NodeControl } from "./dispatcher.ts";
import { Pacer } from "./pacer.ts";
import { retryDelayMs, type RetryPolicy, retryPolicy } from "./retry.ts";
import type { NodeContext, RunContext } from "./run_context.ts";
import { Slot } from "./slot.ts";

/** A wait that a system asks for is told to people from this length on. */
const TOLD_FROM_MS = 10_000;

/** How many operations a node has had carried out and repeated, and how long they waited for a pace. */
export type OperationStats = NonNullable<NodeCompleted["ops"]>;

type Surroundings = Pick<RunContext, "bus" | "now" | "random" | "pause"> & {
  /** Milliseconds, of which only differences count. */
  readonly monotonic: () => number;
};

/** The gates of a run: one pace for each connection, however many nodes and processes share it. */
export class OperationGates {
  readonly #around: Surroundings;
  readonly #pacers = new Map<string, Pacer>();

  constructor(around: Surroundings) {
    this.#around = around;
  }

  /** The gate for the operations of one node, in all its attempts. Undefined where it has none. */
  forNode(node: DagNode, control: Pick<NodeControl, "signal" | "lend">): NodeGate | undefined {
    if (node.kind !== "SourceLoad" && node.kind !== "SinkWrite") return undefined;
    const { connection } = node;
    return new NodeGate({
      connection: connection.name,
      policy: retryPolicy(node),
      pacer: this.#pacerOf(connection),
      slot: () => new Slot(control, this.#around.pause),
      around: this.#around,
    });
  }

  #pacerOf({ name, rateLimit }: Connection): Pacer {
    let pacer = this.#pacers.get(name);
    if (pacer === undefined) this.#pacers.set(name, pacer = new Pacer({ ...this.#around, rate: rateLimit }));
    return pacer;
  }
}

export type NodeGateOptions = {
  readonly connection: string;
  readonly policy: RetryPolicy;
  readonly pacer: Pacer;
  /** Makes what lends out the node's thread within one attempt. */
  readonly slot: () => Slot;
  readonly around: Surroundings;
};

/**
 * What every single request of one node passes, of connectors that ask: it waits for the pace of its connection, and
 * one that may be repeated is, by the node's own policy.
 */
export class NodeGate implements OperationGate {
  readonly #options: NodeGateOptions;
  readonly #stats = { executed: 0, retried: 0, throttleWaitMs: 0 };
  #slot: Slot;

  constructor(options: NodeGateOptions) {
    this.#options = options;
    this.#slot = options.slot();
  }

  /** Undefined: nothing has asked. */
  get stats(): OperationStats | undefined {
    const { executed, retried, throttleWaitMs } = this.#stats;
    if (executed === 0 && throttleWaitMs === 0) return undefined;
    return { executed, retried, throttleWaitMs: Math.round(throttleWaitMs) };
  }

  /** What one attempt of the node works with: sessions whose operations pass this gate. */
  equip(context: NodeContext): NodeContext {
    const { run } = context;
    const get = (connection: Connection) => {
      const session = run.sessions.get(connection);
      return session.through?.(this) ?? session;
    };
    return { ...context, run: { ...run, sessions: { get } } };
  }

  /** An attempt is over, whatever its operations still do. Returns once the node has its thread. */
  async endAttempt(): Promise<void> {
    const slot = this.#slot;
    this.#slot = this.#options.slot();
    await slot.end();
  }

  async execute(operation: OperationRequest, attempt: () => Promise<OperationEnd>): Promise<OperationEnd> {
    const { policy, pacer, around } = this.#options;
    const { idempotent, signal } = operation;
    const slot = this.#slot;
    for (let tries = 1;; tries++) {
      await this.#pace(operation, slot);
      this.#stats.executed++;
      const end = await slot.work(attempt);
      if (end?.transient !== true) return end;
      const { retryAfterMs } = end;
      if (retryAfterMs !== undefined) this.#tell(pacer.hold(retryAfterMs));
      if (!idempotent || tries >= policy.maxAttempts || signal.aborted) return end;
      this.#stats.retried++;
      const delayMs = retryDelayMs(policy, tries, retryAfterMs, around.random());
      await slot.wait(() => around.pause(delayMs, signal));
    }
  }

  reportBudget(remaining: number, resetAtMs: number): void {
    const { pacer, around } = this.#options;
    this.#tell(pacer.budget(remaining, resetAtMs - around.now()));
  }

  async #pace({ urgent, signal }: OperationRequest, slot: Slot): Promise<void> {
    const { pacer, around } = this.#options;
    if (urgent) return pacer.charge();
    signal.throwIfAborted();
    if (pacer.tryPass()) return;
    const start = around.monotonic();
    try {
      await slot.wait(() => pacer.acquire(signal));
    } finally {
      this.#stats.throttleWaitMs += around.monotonic() - start;
    }
  }

  #tell(ms: number): void {
    if (ms < TOLD_FROM_MS) return;
    const { connection, around } = this.#options;
    const message = `The system asks to be left alone for ${Math.ceil(ms / 1000)} s; its requests wait meanwhile`;
    around.bus.publish({ event: "connector_log", level: "warn", connection, message });
  }
}
