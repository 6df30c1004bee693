import { StepError } from "./failure.ts";

/** Thrown when a node ran longer than it may. */
export class NodeTimeout extends Error {
  override readonly name = "NodeTimeout";
  readonly limitMs: number;
  /** Whether it did not even stop when it was told to. */
  readonly unresponsive: boolean;

  /** @param cause what the work ended with when it was told to stop */
  constructor(limitMs: number, unresponsive: boolean, cause?: unknown) {
    super(`No end within ${limitMs} ms`, cause === undefined ? undefined : { cause });
    this.limitMs = limitMs;
    this.unresponsive = unresponsive;
  }
}

/** How long a node that was told to stop may take to do so. */
export const STOP_GRACE_MS = 30_000;

/**
 * Runs `work` with a signal that is aborted when `signal` is, or after `limitMs`. Work that ends well after all keeps
 * its result.
 *
 * @throws {NodeTimeout} when the limit passed, once the work has stopped or 30 s after it was told to; such work is
 * left to itself
 */
export async function withNodeTimeout<T>(
  limitMs: number | undefined,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  if (limitMs === undefined) return await work(signal);
  const own = new AbortController();
  const onAbort = () => own.abort(signal.reason);
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  const { promise: gaveUp, reject: giveUp } = Promise.withResolvers<never>();
  let timedOut = false;
  let timer = setTimeout(() => {
    if (own.signal.aborted) return;
    timedOut = true;
    own.abort(new NodeTimeout(limitMs, false));
    timer = setTimeout(() => giveUp(new NodeTimeout(limitMs, true)), STOP_GRACE_MS);
  }, limitMs);
  try {
    return await Promise.race([work(own.signal), gaveUp]);
  } catch (error) {
    // A commit is not stopped half-way: that it failed says more than that it came too late.
    if (!timedOut || error instanceof NodeTimeout || isCommit(error)) throw error;
    throw new NodeTimeout(limitMs, false, error);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}

function isCommit(error: unknown): boolean {
  return error instanceof StepError && error.step === "commit";
}
