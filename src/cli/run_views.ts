import type { EventBus, StampedEvent, Subscriber } from "../events/mod.ts";
import { type Console, formatSize, LiveRenderer, NdjsonRenderer, PlainRenderer, printable } from "../render/mod.ts";
import { type Io, isInteractive } from "./io.ts";
import type { CompiledDag } from "../compile/mod.ts";
import type { Plan } from "../plan/mod.ts";
import type { LogFormat } from "./report.ts";

const DRAIN_MS = 5000;

/** What shows a run's events, and where lines for stderr go meanwhile. Closing it stops its drawing. */
export type RunView = Subscriber & Disposable & { note(line: string): void };

/** The view that the log format asks for: events as JSON, a tree on a terminal, else plain lines. */
export function openView(io: Io, format: LogFormat, plan: Plan, dag: CompiledDag): RunView {
  const { console } = io;
  if (format === "text" && isInteractive(io)) {
    const live = new LiveRenderer(console, {
      colour: (io.env["NO_COLOR"] ?? "") === "",
      size: io.terminalSize,
      now: io.now,
      tiers: tiersOf(plan, dag),
    });
    return {
      handle: (event) => live.handle(event),
      note: (line) => {
        try {
          if (io.stderrIsTerminal) return live.above(line);
        } catch { /* a broken tree must not keep the line from its reader */ }
        console.err(line);
      },
      [Symbol.dispose]: () => live[Symbol.dispose](),
    };
  }
  const lines = format === "json" ? new NdjsonRenderer(console) : new PlainRenderer(console);
  return {
    handle: (event) => lines.handle(event),
    note: (line) => console.err(line),
    [Symbol.dispose]: () => {},
  };
}

/** How the bytes of each load and write move, by node: `native scan: read_csv`, `arrow stream: postgres`. */
export function tiersOf(plan: Plan, dag: CompiledDag): ReadonlyMap<string, string> {
  const connectors = new Map(
    dag.nodes.flatMap((node) => "connection" in node ? [[node.id, node.connection.connector] as const] : []),
  );
  return new Map(plan.nodes.flatMap(({ id, strategy, reason }) => {
    const connector = connectors.get(id);
    if (connector === undefined) return [];
    // Of a native path the reason says more than the connector's name.
    return [[id, strategy === "arrow_stream" ? `arrow stream: ${connector}` : reason.split(" (", 1)[0] ?? reason]];
  }));
}

/** Keeps what the summary needs of a run's events. */
export class RunFacts implements Subscriber {
  /** The `cleaned` line, when the sweep at the end did or tried anything. */
  cleaned: string | undefined;

  handle({ event }: StampedEvent): void {
    if (event.event !== "retention_swept") return;
    const failures = event.failures === 0
      ? ""
      : ` (${event.failures} could not be deleted; run \`pz clean\` to try again)`;
    this.cleaned = `cleaned ${event.runsSwept} staging database(s) and 0 stale workdir(s) — freed ` +
      `${formatSize(event.bytesFreed)}${failures}`;
  }
}

/**
 * Waits at most 5 s for the last lines of a run: a reader that hangs does not keep pz from ending. A run whose output
 * is lost is as good as its receipt says, so that this is a warning.
 */
export async function finishOutput(console: Console, timeoutMs = DRAIN_MS): Promise<void> {
  if (!await console.flush(timeoutMs)) console.abandonBusy();
  const failure = console.takeStdoutFailure();
  if (failure === undefined) return;
  const reason = failure instanceof Error ? failure.message : String(failure);
  console.err(`warning: stdout can't be written: ${printable(reason)}; the rest of the output is lost`);
}

/**
 * Closes the bus and gives the views 5 s, or what `timeoutMs` says, to write what they have. A reader of stdout that takes longer loses the rest,
 * with a warning on stderr; the run goes on.
 */
export async function drainViews(console: Console, bus: EventBus, timeoutMs = DRAIN_MS): Promise<void> {
  const start = performance.now();
  const handled = await bus.close(timeoutMs);
  if (handled && await console.flush(Math.max(0, timeoutMs - (performance.now() - start)))) return;
  console.abandonBusy();
  console.err("warning: renderer did not finish draining run events within 5s; remaining output dropped");
}
