import type { SinkWriteNode } from "../../compile/mod.ts";
import type { OutputSpec, WriteAttempt } from "../../connectors/mod.ts";
import { PzError } from "../../errors/mod.ts";
import type { NodeContext } from "../run_context.ts";
import type { WriteGroup } from "./write_group.ts";

/** Names this attempt of an output, with those of earlier runs of which nobody knows the end. */
export function attemptOf({ run, attempt }: NodeContext, node: SinkWriteNode): Omit<WriteAttempt, "node"> {
  const prior = run.triesBefore(node);
  return { run: run.runId, ordinal: attempt, ...(prior.length === 0 ? {} : { prior }) };
}

/**
 * Stops an append before it begins that an earlier run may have delivered under another declaration: what it left in the
 * target bears another name.
 *
 * @throws {PzError} PZ0770
 */
export function refuseChanged({ run }: NodeContext, node: SinkWriteNode): void {
  const { name, write } = node;
  const former = run.triesBefore(node).findLast(({ changed }) => changed);
  if (former === undefined || write.strategy !== "append") return;
  throw new PzError(
    "PZ0770",
    `Run ${former.run} may have appended to '${name}', which is declared otherwise now, so that its target can't tell`,
    { hint: decide(name) },
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
  throw new PzError(
    "PZ0770",
    `Run ${run} was appending to '${name}' when it stopped, and nobody knows whether it was done`,
    { hint: decide(name) },
  );
}

function decide(name: string): string {
  return `look whether its rows are there: if so \`pz retry --assume-delivered ${name}\`, ` +
    `if not \`pz retry --redeliver ${name}\``;
}
