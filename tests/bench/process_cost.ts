import process from "node:process";

/** User and system CPU of this process so far, in seconds. */
export function ownCpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

const EVERY_MS = 5;

/** How much later than asked for the event loop serves a timer. */
export class LoopDelay {
  readonly #delays: number[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;

  start(): void {
    const due = performance.now() + EVERY_MS;
    this.#timer = setTimeout(() => {
      this.#delays.push(Math.max(0, performance.now() - due));
      this.start();
    }, EVERY_MS);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  /** The delay in milliseconds that so many per cent of all stay within. */
  percentile(percent: number): number {
    const sorted = this.#delays.toSorted((a, b) => a - b);
    return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * percent / 100) - 1)] ?? 0;
  }
}
