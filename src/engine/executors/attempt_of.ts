import type { SinkWriteNode } from "../../compile/mod.ts";
import type { OutputSpec, WriteAttempt } from "../../connectors/mod.ts";
import { PzError } from "../../errors/mod.ts";
import type { NodeContext } from "../run_context.ts";
import type { WriteGroup } from "./write_group.ts";

/** Names this attempt of an output, with those of earlier runs of which nobody knows the end. */
export function attemptOf({ run, attempt }: NodeContext, node: SinkWriteNode): Omit<WriteAttempt, "node"> {
  const prior = run.triesBefore(node).map(({ run, ordinal }) => ({ run, ordinal }));
  return { run: run.runId, ordinal: attempt, ...(prior.length === 0 ? {} : { prior }) };
}

/**
 * Stops an append that an earlier run may have delivered under another declaration: its target knows it by another name.
 *
 * @throws {PzError} PZ0770; nothing was begun
 */
export function refuseForeign({ run }: NodeContext, node: SinkWriteNode): void {
  if (node.write.strategy !== "append") return;
  const last = run.triesBefore(node).findLast(({ foreign }) => foreign);
  if (last === undefined) return;
  throw unknownOutcome(
    node.name,
    `Run ${last.run} may have appended to '${node.name}' as it was declared then, and nobody knows whether that was done`,
  );
}

/**
 * Stops an append that an earlier run may have delivered and whose target can't tell.
 *
 * @throws {PzError} PZ0770; the write is aborted
 */
export async function refuseUnknown(
  { name, write }: SinkWriteNode,
  spec: OutputSpec,
  group: WriteGroup,
): Promise<void> {
  const run = spec.attempt.prior?.at(-1)?.run;
  if (run === undefined || write.strategy !== "append" || group.provesAttempt) return;
  await group.abort();
  throw unknownOutcome(
    name,
    `Run ${run} was appending to '${name}' when it stopped, and nobody knows whether it was done`,
  );
}

function unknownOutcome(name: string, message: string): PzError {
  return new PzError("PZ0770", message, {
    hint: `look whether its rows are there: if so \`pz retry --assume-delivered ${name}\`, ` +
      `if not \`pz retry --redeliver ${name}\``,
  });
}
