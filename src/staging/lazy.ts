import type { drainArrow as Drain } from "./drain_arrow.ts";
import type { ingestArrow as Ingest } from "./ingest.ts";

// Both load Arrow at their first call: runs that move no Arrow data do without it.

/** `ingestArrow` of ingest.ts. */
export async function ingestArrow(...call: Parameters<typeof Ingest>): Promise<Awaited<ReturnType<typeof Ingest>>> {
  return await (await import("./ingest.ts")).ingestArrow(...call);
}

/** `drainArrow` of drain_arrow.ts. */
export async function drainArrow(...call: Parameters<typeof Drain>): Promise<Awaited<ReturnType<typeof Drain>>> {
  return await (await import("./drain_arrow.ts")).drainArrow(...call);
}
