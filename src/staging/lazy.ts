import type { stagedColumns as Columns } from "./arrow_columns.ts";
import type { drainArrow as Drain } from "./drain_arrow.ts";
import type { appendArrow as Append, ingestArrow as Ingest } from "./ingest.ts";

// Both load Arrow at their first call: runs that move no Arrow data do without it.

/** `ingestArrow` of ingest.ts. */
export async function ingestArrow(...call: Parameters<typeof Ingest>): Promise<Awaited<ReturnType<typeof Ingest>>> {
  return await (await import("./ingest.ts")).ingestArrow(...call);
}

/** `drainArrow` of drain_arrow.ts. */
export async function drainArrow(...call: Parameters<typeof Drain>): Promise<Awaited<ReturnType<typeof Drain>>> {
  return await (await import("./drain_arrow.ts")).drainArrow(...call);
}

/** `appendArrow` of ingest.ts. */
export async function appendArrow(...call: Parameters<typeof Append>): Promise<Awaited<ReturnType<typeof Append>>> {
  return await (await import("./ingest.ts")).appendArrow(...call);
}

/** `stagedColumns` of arrow_columns.ts. */
export async function stagedColumns(...call: Parameters<typeof Columns>): Promise<ReturnType<typeof Columns>> {
  return (await import("./arrow_columns.ts")).stagedColumns(...call);
}
