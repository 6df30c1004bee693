import type { DagNode } from "../compile/mod.ts";
import { ConnectorError } from "../connectors/mod.ts";
import { Breaker, type Ticket } from "./breaker.ts";
import type { NodeControl } from "./dispatcher.ts";
import { type NodeFailure, StepError } from "./failure.ts";
import type { Pause } from "./pause.ts";
import type { RunContext } from "./run_context.ts";

/** How often, over all its attempts, a node waits for an open breaker before it gives up. */
const MAX_WAITS = 2;

/** The breakers of a run's connections, each made when it is first asked for. */
export class Breakers {
  readonly #run: Pick<RunContext, "project" | "bus" | "pause">;
  readonly #monotonic: () => number;
  readonly #breakers = new Map<string, Breaker>();

  /** @param monotonic milliseconds, of which only differences count */
  constructor(run: Pick<RunContext, "project" | "bus" | "pause">, monotonic: () => number) {
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
    return new BreakerGate({ connection: name, breaker, coolDownMs: settings.coolDownMs, pause: this.#run.pause });
  }
}

export type BreakerGateOptions = {
  readonly connection: string;
  readonly breaker: Breaker;
  readonly coolDownMs: number;
  readonly pause: Pause;
};

/** What one node passes before each of its attempts. */
export class BreakerGate {
  readonly #options: BreakerGateOptions;
  #waits = 0;
  #ticket: Ticket | undefined;

  constructor(options: BreakerGateOptions) {
    this.#options = options;
  }

  /**
   * Waits until an attempt may begin, without a thread of the dispatcher; it must be told to `settle`. False when the
   * node has waited often enough; to wait for the end of another's probe, which always comes, does not count.
   *
   * @throws the signal's reason when everything stops
   */
  async enter({ signal, park }: Pick<NodeControl, "signal" | "park">): Promise<boolean> {
    const { breaker } = this.#options;
    for (;;) {
      signal.throwIfAborted();
      const entry = breaker.tryEnter();
      if (entry.entered) {
        this.#ticket = entry.ticket;
        return true;
      }
      const { retryInMs } = entry;
      if (retryInMs !== undefined && this.#waits++ >= MAX_WAITS) return false;
      const { moved } = breaker;
      await park(() => this.#untilEither(moved, retryInMs ?? Infinity, signal));
    }
  }

  /** Tells how the attempt ended: undefined for well, else with what was thrown. */
  settle(thrown?: { readonly error: unknown }): void {
    const ticket = this.#ticket;
    if (ticket === undefined) return;
    this.#ticket = undefined;
    const { breaker } = this.#options;
    if (thrown === undefined) return breaker.succeed(ticket);
    const error = connectorError(thrown.error);
    if (error?.transient === true) breaker.fail(ticket, error.retryAfterMs);
    else breaker.leave(ticket);
  }

  /** The failure of a node that was not let through. */
  refusal(): NodeFailure {
    const { connection, coolDownMs } = this.#options;
    const coolDown = `${Number((coolDownMs / 1000).toFixed(3))}s`;
    return {
      code: "PZ0506",
      message: `Connection '${connection}' keeps failing: its breaker is open and nothing was sent there\n` +
        `hint: \`pz retry\` runs it once the system answers; engine.breaker.cool_down (${coolDown}) says how long it is left alone`,
    };
  }

  /** Waits for a promise, but no longer than so many milliseconds and not beyond a stop. */
  async #untilEither(promise: Promise<void>, ms: number, signal: AbortSignal): Promise<void> {
    const own = new AbortController();
    try {
      await Promise.race([promise, this.#options.pause(ms, AbortSignal.any([signal, own.signal]))]);
    } finally {
      own.abort();
    }
  }
}

function connectorError(error: unknown): ConnectorError | undefined {
  if (error instanceof StepError) return connectorError(error.cause);
  return error instanceof ConnectorError ? error : undefined;
}
