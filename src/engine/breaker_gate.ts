import { setTimeout } from "node:timers/promises";
import type { DagNode } from "../compile/mod.ts";
import { ConnectorError } from "../connectors/mod.ts";
import { Breaker, type Ticket } from "./breaker.ts";
import type { NodeControl } from "./dispatcher.ts";
import { type NodeFailure, StepError } from "./failure.ts";
import type { RunContext } from "./run_context.ts";

/** How often, over all its attempts, a node waits before it gives up. */
const MAX_WAITS = 2;

/** The breakers of a run's connections, each made when it is first asked for. */
export class Breakers {
  readonly #run: Pick<RunContext, "project" | "bus">;
  readonly #monotonic: () => number;
  readonly #breakers = new Map<string, Breaker>();

  /** @param monotonic milliseconds, of which only differences count */
  constructor(run: Pick<RunContext, "project" | "bus">, monotonic: () => number) {
    this.#run = run;
    this.#monotonic = monotonic;
  }

  /** The gate for one node; undefined where nothing has to be passed. */
  gateFor(node: DagNode): BreakerGate | undefined {
    const { breaker: settings } = this.#run.project.engine;
    if (settings === undefined || (node.kind !== "SourceLoad" && node.kind !== "SinkWrite")) return undefined;
    const { name } = node.connection;
    let breaker = this.#breakers.get(name);
    if (breaker === undefined) {
      breaker = new Breaker({
        ...settings,
        monotonic: this.#monotonic,
        onMove: (move) => this.#run.bus.publish({ event: "breaker_state_changed", instance: `conn:${name}`, ...move }),
      });
      this.#breakers.set(name, breaker);
    }
    return new BreakerGate(name, breaker);
  }
}

/** What one node passes before each of its attempts. */
export class BreakerGate {
  readonly #connection: string;
  readonly #breaker: Breaker;
  #waits = 0;
  #ticket: Ticket | undefined;

  constructor(connection: string, breaker: Breaker) {
    this.#connection = connection;
    this.#breaker = breaker;
  }

  /**
   * Waits until an attempt may begin, without a thread of the dispatcher; it must be told to `settle`. False when the
   * node has waited often enough.
   *
   * @throws the signal's reason when everything stops
   */
  async enter({ signal, park }: Pick<NodeControl, "signal" | "park">): Promise<boolean> {
    for (;;) {
      signal.throwIfAborted();
      const entry = this.#breaker.tryEnter();
      if (entry.entered) {
        this.#ticket = entry.ticket;
        return true;
      }
      if (this.#waits++ >= MAX_WAITS) return false;
      const { moved } = this.#breaker;
      await park(() => untilEither(moved, entry.retryInMs, signal));
    }
  }

  /** Tells how the attempt ended: undefined for well, else with what was thrown. */
  settle(thrown?: { readonly error: unknown }): void {
    const ticket = this.#ticket;
    if (ticket === undefined) return;
    this.#ticket = undefined;
    if (thrown === undefined) return this.#breaker.succeed(ticket);
    const error = connectorError(thrown.error);
    if (error?.transient === true) this.#breaker.fail(ticket, error.retryAfterMs);
    else this.#breaker.leave(ticket);
  }

  /** The failure of a node that was not let through. */
  refusal(): NodeFailure {
    return {
      code: "PZ0506",
      message: `Connection '${this.#connection}' keeps failing: its breaker is open and nothing was sent there\n` +
        "hint: run again once the system answers; engine.breaker says how long it is left alone",
    };
  }
}

function connectorError(error: unknown): ConnectorError | undefined {
  if (error instanceof StepError) return connectorError(error.cause);
  return error instanceof ConnectorError ? error : undefined;
}

/** Waits for a promise, but no longer than so many milliseconds and not beyond a stop. */
async function untilEither(promise: Promise<void>, ms: number, signal: AbortSignal): Promise<void> {
  const own = new AbortController();
  const both = AbortSignal.any([signal, own.signal]);
  try {
    await Promise.race([promise, setTimeout(ms, undefined, { signal: both })]);
  } finally {
    own.abort();
  }
}
