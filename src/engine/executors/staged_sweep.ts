import type { SinkWriteNode, SourceLoadNode } from "../../compile/mod.ts";
import { ConnectorError } from "../../connectors/mod.ts";
import type { NodeContext } from "../run_context.ts";
import { leftoverJournals } from "./staged_folder.ts";

const LIMIT_MS = 20_000;

/** Puts in order what attempts and runs that died have left of a connection, here and at its system. */
export async function sweepLeftovers(context: NodeContext, node: SourceLoadNode | SinkWriteNode): Promise<void> {
  await sweep(context, node, await leftoverJournals(context, node), context.signal);
}

/**
 * Takes back what writes that died have left at the system, by their journals. What can't be taken back now is told, and
 * tried again by the next run.
 */
export async function sweep(
  { run }: NodeContext,
  { connection }: Pick<SinkWriteNode, "connection">,
  journals: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  if (journals.length === 0) return;
  const session = run.sessions.get(connection);
  try {
    await session.sweepStores?.(journals, AbortSignal.any([signal, AbortSignal.timeout(LIMIT_MS)]));
  } catch (error) {
    signal.throwIfAborted();
    const reason = error instanceof ConnectorError ? error.message : "no answer in time";
    const message = `What a write that died left behind was not taken back yet: ${reason}`;
    run.bus.publish({ event: "connector_log", level: "warn", connection: connection.name, message });
  }
}
