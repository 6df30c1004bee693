import type { StampedEvent, Subscriber } from "../events/mod.ts";
import type { Console } from "./console.ts";
import { fitFrame, type FrameSize, lastFrame, paint, type PaintedLine } from "./live_frame.ts";
import { LiveTree } from "./live_tree.ts";
import { plainLines } from "./plain_lines.ts";

const FRAME_MS = 100;
/** How long a new width must stay before the tree is drawn for it: some terminals tell of it with a delay. */
const SETTLE_MS = 300;

export type LiveOptions = {
  readonly colour: boolean;
  /** The terminal's present size. */
  readonly size: () => FrameSize;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** How the bytes of each load and write move, by node id. */
  readonly tiers?: ReadonlyMap<string, string>;
};

/**
 * The tree of a run on a terminal, drawn again in place at most ten times a second and once in full at the end. What
 * the tree has no place for, such as retries and connectors' warnings, scrolls past above it.
 */
export class LiveRenderer implements Subscriber, Disposable {
  readonly #console: Console;
  readonly #options: LiveOptions;
  readonly #tree: LiveTree;
  /** The lines that stand above the cursor, and the widest that was drawn since the terminal had its width. */
  #drawn: readonly PaintedLine[] = [];
  #widest = 0;
  #columns: number | undefined;
  #settlesAt = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(console: Console, options: LiveOptions) {
    this.#console = console;
    this.#options = options;
    this.#tree = new LiveTree(options.tiers);
  }

  handle({ event, at }: StampedEvent): void {
    const shown = this.#tree.apply(event, Date.parse(at));
    if (this.#tree.done) {
      if (shown) this.#drawLast();
      return;
    }
    if (!shown) { for (const line of plainLines(event)) this.above(line); }
    this.#timer ??= setTimeout(() => this.#tick(), FRAME_MS);
  }

  /** Writes a line that stays, above the tree. */
  above(line: string): void {
    const drawn = this.#drawn.length > 0;
    this.#console.outRaw(`${this.#home()}\x1b[0J${line}\n`);
    this.#drawn = [];
    if (drawn && !this.#tree.done) this.#draw();
  }

  /** Draws no more; what was drawn stays. */
  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #tick(): void {
    // The next frame keeps the times of running nodes moving.
    this.#timer = setTimeout(() => this.#tick(), FRAME_MS);
    try {
      this.#drawIfSettled();
    } catch {
      // Nobody above a timer could keep a broken view from harming the run.
      this[Symbol.dispose]();
    }
  }

  #drawIfSettled(): void {
    const now = this.#options.now();
    const { columns } = this.#options.size();
    if (this.#columns !== undefined && columns !== this.#columns) this.#settlesAt = now + SETTLE_MS;
    this.#columns = columns;
    // A terminal that is behind gets the next frame instead of one more.
    if (now >= this.#settlesAt && !this.#console.isStdoutBusy) this.#draw();
  }

  #draw(): void {
    this.#write(paint(fitFrame(this.#tree.lines(this.#options.now()), this.#options.size()), this.#options.colour));
  }

  #drawLast(): void {
    this[Symbol.dispose]();
    this.#write(paint(lastFrame(this.#tree.lines(this.#options.now()), this.#options.size()), this.#options.colour));
    this.#drawn = [];
  }

  /** Draws over the last frame, line by line and in one write, so that nothing is blank in between. */
  #write(frame: readonly PaintedLine[]): void {
    this.#console.outRaw(`${this.#home()}${frame.map(({ text }) => `${text}\x1b[K\n`).join("")}\x1b[0J`);
    this.#drawn = frame;
    this.#widest = frame.reduce((widest, { width }) => Math.max(widest, width), this.#widest);
  }

  /**
   * Takes the cursor to the top of what was drawn. A terminal that became too narrow for it has broken its lines, into
   * how many nobody can tell: then all that stands there scrolls out of sight, and the tree begins at the top.
   */
  #home(): string {
    const { columns, rows } = this.#options.size();
    const torn = this.#drawn.length > 0 && columns < this.#widest;
    if (torn) {
      this.#widest = 0;
      return `${"\n".repeat(Math.max(1, rows))}\x1b[H\x1b[0J`;
    }
    return this.#drawn.length === 0 ? "" : `\x1b[${this.#drawn.length}A`;
  }
}
