import { setTimeout } from "node:timers/promises";

/** Waits so many milliseconds, or until the signal is aborted, whose reason is thrown then. */
export type Pause = (ms: number, signal: AbortSignal) => Promise<void>;

/** The most that a timer of the runtime can wait; it would take more for no wait at all. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Waits by the system's clock, however long that is. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  try {
    for (let left = ms; left > 0; left -= LONGEST_TIMER_MS) {
      await setTimeout(Math.min(left, LONGEST_TIMER_MS), undefined, { signal });
    }
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  }
}
