import type { StampedEvent, Subscriber } from "../events/mod.ts";
import type { Console } from "./console.ts";
import { plainLines } from "./plain_lines.ts";

/** One line for each completed node and each warning; no colour. */
export class PlainRenderer implements Subscriber {
  readonly #console: Console;

  constructor(console: Console) {
    this.#console = console;
  }

  handle({ event }: StampedEvent): void {
    for (const line of plainLines(event)) this.#console.out(line);
  }
}
