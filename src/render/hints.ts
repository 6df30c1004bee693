import type { NodeCompleted } from "../events/mod.ts";

const THRESHOLD_PERCENT = 60;

/** What held a load or write back, where one side waited for most of its time; otherwise undefined. */
export function bottleneckHint(node: NodeCompleted): string | undefined {
  const { timings, ops, durationMs, kind, name } = node;
  if (timings === null || durationMs <= 0) return undefined;
  if (ops !== undefined && ops.throttleWaitMs * 100 >= durationMs * THRESHOLD_PERCENT) {
    const seconds = Math.round(ops.throttleWaitMs / 1000);
    return `hint: ${name}: pace-bound — its requests waited ${seconds} s for rate_limit or for the system's own limit`;
  }
  const producer = Math.floor((timings.producerStallMs * 100) / durationMs);
  const consumer = Math.floor((timings.consumerStallMs * 100) / durationMs);
  const hint = (bound: string, idle: string, percent: number) =>
    `hint: ${name}: ${bound}-bound — ${idle} idle ${percent}% of the node's runtime`;
  if (kind === "SourceLoad") {
    if (consumer >= THRESHOLD_PERCENT) return hint("source", "ingest", consumer);
    if (producer >= THRESHOLD_PERCENT) return hint("ingest", "reader", producer);
  }
  if (kind === "SinkWrite") {
    if (producer >= THRESHOLD_PERCENT) return hint("staging", "writer", producer);
    if (consumer >= THRESHOLD_PERCENT) return hint("sink", "staging", consumer);
  }
  return undefined;
}
