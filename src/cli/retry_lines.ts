import type { CompiledDag, SinkWriteNode, SourceLoadNode } from "../compile/mod.ts";
import type { RetryBlock } from "../project/mod.ts";
import { formatDuration } from "../render/mod.ts";
import { ordinal } from "../util/mod.ts";

const DEFAULTS = { maxAttempts: 3, baseDelayMs: 1000, maxDelayMs: 30_000 };
const SIDES = ["source", "sink"] as const;

type Side = typeof SIDES[number];

/**
 * The lines of a plan that say what is tried again how often, and how many nodes of a connection run at once: only for
 * connections, entities and outputs that declare it; sources first, each group by name.
 */
export function retryLines(dag: CompiledDag): readonly string[] {
  const retries: string[] = [];
  const caps: string[] = [];
  for (const side of SIDES) {
    const nodes = nodesOf(dag, side);
    const connections = new Map(nodes.map(({ connection }) => [connection.name, connection]));
    const blocks = new Map<string, readonly RetryBlock[]>();
    for (const { name, retry, maxConcurrency } of connections.values()) {
      if (retry !== undefined) blocks.set(name, [retry]);
      if (maxConcurrency !== undefined) caps.push(`max_concurrency: ${side} ${name} = ${maxConcurrency}`);
    }
    for (const node of nodes) {
      const own = (node.kind === "SourceLoad" ? node.read : node.write).retry;
      if (own !== undefined) {
        blocks.set(`${node.connection.name}.${node.entity}`, [node.connection.retry ?? {}, own]);
      }
    }
    for (const [name, layers] of [...blocks].sort(([a], [b]) => ordinal(a, b))) {
      retries.push(retryLine(side, name, layers));
    }
  }
  return [...retries, ...caps];
}

function nodesOf(dag: CompiledDag, side: Side): (SourceLoadNode | SinkWriteNode)[] {
  return dag.nodes
    .filter((node) => node.kind === "SourceLoad" || node.kind === "SinkWrite")
    .filter((node) => (node.kind === "SourceLoad") === (side === "source"))
    .sort((a, b) => ordinal(a.connection.name, b.connection.name));
}

/** @param layers from the outermost to the innermost; the last that has a field decides it */
function retryLine(side: Side, name: string, layers: readonly RetryBlock[]): string {
  const { maxAttempts, baseDelayMs, maxDelayMs } = layers.reduce<Required<RetryBlock>>(
    (merged, block) => ({ ...merged, ...block }),
    DEFAULTS,
  );
  return `retry: ${side} ${name} max_attempts=${maxAttempts} base_delay=${formatDuration(baseDelayMs)} ` +
    `max_delay=${formatDuration(maxDelayMs)}`;
}
