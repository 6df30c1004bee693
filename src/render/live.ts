import type { StampedEvent, Subscriber } from "../events/mod.ts";
import type { Console } from "./console.ts";
import { fitFrame, type FrameSize, paint } from "./live_frame.ts";
import { LiveTree } from "./live_tree.ts";
import { plainLines } from "./plain_lines.ts";

const FRAME_MS = 100;

export type LiveOptions = {
  readonly colour: boolean;
  /** The terminal's present size. */
  readonly size: () => FrameSize;
  /** Milliseconds since 1970. */
  readonly now: () => number;
};

/**
 * The tree of a run on a terminal, drawn again in place at most ten times a second and once in full at the end. What
 * the tree has no place for, such as retries and connectors' warnings, scrolls past above it.
 */
export class LiveRenderer implements Subscriber, Disposable {
  readonly #console: Console;
  readonly #options: LiveOptions;
  readonly #tree = new LiveTree();
  #drawnLines = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(console: Console, options: LiveOptions) {
    this.#console = console;
    this.#options = options;
  }

  handle({ event, at }: StampedEvent): void {
    const shown = this.#tree.apply(event, Date.parse(at));
    if (this.#tree.done) {
      if (shown) this.#drawLast();
      return;
    }
    if (!shown) { for (const line of plainLines(event)) this.above(line); }
    this.#timer ??= setTimeout(() => this.#draw(), FRAME_MS);
  }

  /** Writes a line that stays, above the tree. */
  above(line: string): void {
    this.#console.outRaw(`${this.#erase()}${line}\n`);
    if (!this.#tree.done) this.#timer ??= setTimeout(() => this.#draw(), 0);
  }

  /** Draws no more; what was drawn stays. */
  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #draw(): void {
    // The next frame keeps the times of running nodes moving.
    this.#timer = setTimeout(() => this.#draw(), FRAME_MS);
    // A terminal that is behind gets the next frame instead of one more.
    if (this.#console.isStdoutBusy) return;
    const frame = paint(fitFrame(this.#tree.lines(this.#options.now()), this.#options.size()), this.#options.colour);
    const erase = this.#erase();
    this.#console.outRaw(`${erase}${frame.join("\n")}\n`);
    this.#drawnLines = frame.length;
  }

  #drawLast(): void {
    this[Symbol.dispose]();
    const frame = paint(this.#tree.lines(this.#options.now()), this.#options.colour);
    this.#console.outRaw(`${this.#erase()}${frame.join("\n")}\n`);
  }

  /** Takes the cursor to the top of what was drawn and clears to the end of the screen. */
  #erase(): string {
    const up = this.#drawnLines === 0 ? "" : `\x1b[${this.#drawnLines}A\x1b[0J`;
    this.#drawnLines = 0;
    return up;
  }
}
