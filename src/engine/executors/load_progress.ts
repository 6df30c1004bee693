import type { SourceLoadNode } from "../../compile/mod.ts";
import type { EventBus } from "../../events/mod.ts";
import type { RecordBatch } from "../../util/arrow.ts";

const PROGRESS_EVERY_BATCHES = 10;

/** Tells how far a load has come, now and then. */
export class LoadProgress {
  readonly #bus: EventBus;
  readonly #node: SourceLoadNode;
  #rows = 0;
  #bytes = 0;
  #batches = 0;

  constructor(bus: EventBus, node: SourceLoadNode) {
    this.#bus = bus;
    this.#node = node;
  }

  /** To be called with every batch that was taken. */
  readonly onBatch = (batch: RecordBatch): void => {
    this.#rows += batch.numRows;
    this.#bytes += batch.data.byteLength;
    if (++this.#batches % PROGRESS_EVERY_BATCHES !== 0) return;
    const { id: nodeId, name } = this.#node;
    const [rows, bytes, batches] = [this.#rows, this.#bytes, this.#batches];
    this.#bus.publish({ event: "node_progress", nodeId, name, rows, bytes, batches });
  };
}
