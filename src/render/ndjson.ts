import type { StampedEvent, Subscriber } from "../events/mod.ts";
import type { Console } from "./console.ts";
import { eventJson } from "./event_fields.ts";

/** One compact JSON object for each event: `event`, `at`, `runId`, then the event's fields in their order. */
export class NdjsonRenderer implements Subscriber {
  readonly #console: Console;

  constructor(console: Console) {
    this.#console = console;
  }

  handle(event: StampedEvent): void {
    this.#console.out(eventJson(event));
  }
}
