import { type DagNodeKind, NODE_KINDS } from "../compile/mod.ts";
import { ordinal } from "../util/mod.ts";

/** What the dispatcher needs to know of a node. */
export type Dispatchable = {
  readonly id: string;
  readonly kind: DagNodeKind;
  readonly name: string;
  /** Ids that must have succeeded before; ids outside the dispatched set are taken as done. */
  readonly after: readonly string[];
  /** The connections of each of which the node needs a permit, all different. */
  readonly connections: readonly string[];
};

/** How one node ended, for the dispatcher. */
export type Verdict = "success" | "failed" | "skipped";

export type DispatchOptions<N extends Dispatchable> = {
  readonly nodes: readonly N[];
  /** Nodes that may run at the same time, at least 1. */
  readonly threads: number;
  /** Nodes of one connection that may run at the same time; a connection without an entry has no limit. */
  readonly connectionLimits: ReadonlyMap<string, number>;
  readonly failFast: boolean;
  /** Aborted from outside: nothing starts any more, and running nodes are told. */
  readonly signal: AbortSignal;
  /** Runs a node to its end. It must not throw; what it throws all the same counts as a failure. */
  readonly execute: (node: N, control: NodeControl) => Promise<Verdict>;
  /** Called once for each node that ends without having run. */
  readonly onSkipped: (node: N) => void;
};

export type NodeControl = {
  /** Aborted when the node should stop, whoever wants it. */
  readonly signal: AbortSignal;
  /** Stops the whole dispatch, as when a node can't be stopped itself. */
  readonly stopAll: (reason: unknown) => void;
  /**
   * Waits without a thread and without permits: others run meanwhile. Returns once the node has them again, or
   * everything stops; what `wait` throws is thrown then.
   */
  readonly park: (wait: () => Promise<unknown>) => Promise<void>;
  /** The same with its permits, for a node that is at work with its connections: only its thread is lent to others. */
  readonly lend: (wait: () => Promise<unknown>) => Promise<void>;
};

export type DispatchSummary = {
  readonly succeeded: number;
  readonly failed: number;
  readonly skipped: number;
  /** Whether the outside signal kept nodes from their end. */
  readonly interrupted: boolean;
};

/**
 * Runs a graph of nodes: each starts when all that it comes after has succeeded; among those that could start, kind
 * and then name decide. A connection's permit and a thread are taken together, so that a node which waits for a busy
 * connection holds no thread; one that was parked comes before those that have not started. A failure skips every descendant, and with `failFast` stops everything. Each node gets
 * exactly one end.
 *
 * @throws {RangeError} for a limit below 1, with which nothing could ever run
 */
export async function dispatch<N extends Dispatchable>(options: DispatchOptions<N>): Promise<DispatchSummary> {
  for (const limit of [options.threads, ...options.connectionLimits.values()]) {
    if (!(limit >= 1)) throw new RangeError(`Cannot run nodes under a limit of ${limit}: expected at least 1`);
  }
  return await new Dispatcher(options).run();
}

/** A node that needs a thread again, and perhaps its permits. */
type Returning<N> = { readonly node: N; readonly withPermits: boolean; readonly admit: () => void };

class Dispatcher<N extends Dispatchable> {
  readonly #options: DispatchOptions<N>;
  /** Of the nodes that have not started or been skipped: how many predecessors are not done yet. */
  readonly #waiting = new Map<string, number>();
  readonly #children = new Map<string, N[]>();
  readonly #ready: N[] = [];
  /** Nodes that have waited long enough and need a thread and their permits again. */
  readonly #returning: Returning<N>[] = [];
  readonly #busy = new Map<string, number>();
  readonly #stop = new AbortController();
  readonly #done = Promise.withResolvers<void>();
  readonly #counts = { success: 0, failed: 0, skipped: 0 };
  #running = 0;
  #parked = 0;
  #interrupted = false;

  constructor(options: DispatchOptions<N>) {
    this.#options = options;
    const ids = new Set(options.nodes.map((node) => node.id));
    for (const node of options.nodes) {
      const parents = new Set(node.after.filter((id) => ids.has(id)));
      this.#waiting.set(node.id, parents.size);
      for (const id of parents) this.#childrenOf(id).push(node);
      if (parents.size === 0) insertSorted(this.#ready, node);
    }
  }

  async run(): Promise<DispatchSummary> {
    const { signal } = this.#options;
    const onAbort = () => this.#stopAll(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      if (signal.aborted) this.#stop.abort(signal.reason);
      this.#advance();
      await this.#done.promise;
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
    return {
      succeeded: this.#counts.success,
      failed: this.#counts.failed,
      skipped: this.#counts.skipped,
      interrupted: this.#interrupted,
    };
  }

  /** Starts what can start; once nothing runs and nothing can start, the rest is skipped and the dispatch is over. */
  #advance(): void {
    while (!this.#stop.signal.aborted && this.#running < this.#options.threads) {
      if (this.#readmitOne()) continue;
      const index = this.#ready.findIndex((node) => this.#hasPermit(node));
      if (index < 0) break;
      for (const node of this.#ready.splice(index, 1)) void this.#runNode(node);
    }
    if (this.#running + this.#parked > 0) return;
    this.#skipWaiting();
    this.#done.resolve();
  }

  async #runNode(node: N): Promise<void> {
    this.#waiting.delete(node.id);
    this.#admit(node);
    let verdict: Verdict;
    try {
      verdict = await this.#options.execute(node, {
        signal: this.#stop.signal,
        stopAll: (reason) => this.#stopAll(reason),
        park: (wait) => this.#park(node, wait, true),
        lend: (wait) => this.#park(node, wait, false),
      });
    } catch {
      verdict = "failed";
    }
    this.#dismiss(node);
    this.#counts[verdict]++;
    if (verdict === "skipped" && this.#options.signal.aborted) this.#interrupted = true;
    if (verdict === "success") this.#release(node);
    else this.#skipDescendants(node);
    if (verdict === "failed" && this.#options.failFast) {
      this.#stopAll(new DOMException(`Node '${node.name}' failed`, "AbortError"));
    }
    this.#advance();
  }

  async #park(node: N, wait: () => Promise<unknown>, withPermits: boolean): Promise<void> {
    // It begins before anything else does: what the others do may be what it waits for.
    const waiting = (async () => await wait())();
    this.#running--;
    if (withPermits) this.#occupy(node, -1);
    this.#parked++;
    this.#advance();
    try {
      await waiting;
    } finally {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#returning.push({ node, withPermits, admit: resolve });
      // What has been stopped needs nothing any more but its end.
      if (this.#stop.signal.aborted) this.#readmitAll();
      else this.#advance();
      await promise;
    }
  }

  #readmitAll(): void {
    for (const returning of this.#returning.splice(0)) this.#readmit(returning);
  }

  /** Lets the first parked node go on that can; false if none can. */
  #readmitOne(): boolean {
    const index = this.#returning.findIndex(({ node, withPermits }) => !withPermits || this.#hasPermit(node));
    if (index < 0) return false;
    for (const returning of this.#returning.splice(index, 1)) this.#readmit(returning);
    return true;
  }

  #readmit({ node, withPermits, admit }: Returning<N>): void {
    this.#parked--;
    this.#running++;
    if (withPermits) this.#occupy(node, 1);
    admit();
  }

  #admit(node: N): void {
    this.#running++;
    this.#occupy(node, 1);
  }

  #dismiss(node: N): void {
    this.#running--;
    this.#occupy(node, -1);
  }

  #release(node: N): void {
    for (const child of this.#childrenOf(node.id)) {
      const left = this.#waiting.get(child.id);
      if (left === undefined) continue;
      this.#waiting.set(child.id, left - 1);
      if (left === 1) insertSorted(this.#ready, child);
    }
  }

  #skipDescendants(node: N): void {
    const pending = [...this.#childrenOf(node.id)];
    for (let child = pending.shift(); child !== undefined; child = pending.shift()) {
      if (this.#skip(child)) pending.push(...this.#childrenOf(child.id));
    }
  }

  #skipWaiting(): void {
    this.#ready.length = 0;
    for (const node of this.#options.nodes) this.#skip(node);
  }

  /** Ends a node that has not started; false when it has, or has its end already. */
  #skip(node: N): boolean {
    if (!this.#waiting.delete(node.id)) return false;
    this.#counts.skipped++;
    if (this.#options.signal.aborted) this.#interrupted = true;
    this.#options.onSkipped(node);
    return true;
  }

  #stopAll(reason: unknown): void {
    if (this.#stop.signal.aborted) return;
    this.#stop.abort(reason);
    this.#readmitAll();
    this.#skipWaiting();
  }

  #hasPermit({ connections }: N): boolean {
    const { connectionLimits } = this.#options;
    return connections.every((name) => (this.#busy.get(name) ?? 0) < (connectionLimits.get(name) ?? Infinity));
  }

  #occupy({ connections }: N, count: number): void {
    for (const name of connections) this.#busy.set(name, (this.#busy.get(name) ?? 0) + count);
  }

  #childrenOf(id: string): N[] {
    let children = this.#children.get(id);
    if (children === undefined) this.#children.set(id, children = []);
    return children;
  }
}

/** Keeps nodes that could start in the order in which they should: by kind, then by name, then by id. */
function insertSorted<N extends Dispatchable>(nodes: N[], node: N): void {
  let low = 0, high = nodes.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const other = nodes[middle];
    if (other !== undefined && compareNodes(other, node) <= 0) low = middle + 1;
    else high = middle;
  }
  nodes.splice(low, 0, node);
}

function compareNodes(a: Dispatchable, b: Dispatchable): number {
  return NODE_KINDS.indexOf(a.kind) - NODE_KINDS.indexOf(b.kind) || ordinal(a.name, b.name) || ordinal(a.id, b.id);
}
