import type { DagNode } from "../compile/mod.ts";
import { ConnectorError } from "../connectors/mod.ts";
import type { RetryBlock } from "../project/mod.ts";
import { StepError } from "./failure.ts";

/** How often and how fast a node is tried again; all fields in force. */
export type RetryPolicy = Required<RetryBlock>;

const DEFAULT: RetryPolicy = { maxAttempts: 3, baseDelayMs: 1000, maxDelayMs: 30_000 };

/** Each field from the dataset, else from its connection, else the default. */
export function retryPolicy(node: DagNode): RetryPolicy {
  if (node.kind !== "SourceLoad" && node.kind !== "SinkWrite") return DEFAULT;
  const own = node.kind === "SourceLoad" ? node.read.retry : node.write.retry;
  return { ...DEFAULT, ...node.connection.retry, ...own };
}

/**
 * The connector's error when trying again may help; undefined otherwise. What failed while it published is tried again
 * by itself only where a repetition does no harm: else part of it may have landed.
 */
export function transientError(error: unknown): ConnectorError | undefined {
  if (error instanceof StepError) {
    const mayRepeat = error.step !== "commit" || error.facts.repeatable === true;
    return mayRepeat ? transientError(error.cause) : undefined;
  }
  return error instanceof ConnectorError && error.transient ? error : undefined;
}

/**
 * Milliseconds to wait after a failed attempt, counted from 1: anything from nothing to a bound that doubles with each
 * attempt, so that those who failed together do not come again together. A wait that the other side asked for comes
 * first, whole, however long it is.
 *
 * @param random a number in [0, 1)
 */
export function retryDelayMs(
  { baseDelayMs, maxDelayMs }: RetryPolicy,
  attempt: number,
  retryAfterMs: number | undefined,
  random: number,
): number {
  const bound = Math.min(baseDelayMs * 2 ** (attempt - 1), maxDelayMs);
  return Math.ceil(retryAfterMs ?? 0) + Math.round(bound * random);
}
