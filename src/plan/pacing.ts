import type { SinkWriteNode, SourceLoadNode } from "../compile/mod.ts";
import type { ConnectorDescription } from "../connectors/mod.ts";
import { connectionRefusal, type Refusal } from "./refusal.ts";

/** Whether the requests of a node are paced, so that DuckDB, which asks nobody, must not make them. */
export function isPaced({ connection }: SourceLoadNode | SinkWriteNode): boolean {
  return connection.rateLimit !== undefined;
}

/** PZ0317 for a rate limit that nothing would obey: the connector does not ask, or only DuckDB reads or writes. */
export function paceRefusals(
  node: SourceLoadNode | SinkWriteNode,
  connector: ConnectorDescription,
): readonly Refusal[] {
  if (!isPaced(node)) return [];
  const { capabilities, universal, stagedRead, stagedWrite, name } = connector;
  const usesProcess = node.kind === "SourceLoad"
    ? universal.read || stagedRead !== undefined
    : universal.write || stagedWrite !== undefined;
  if (usesProcess && capabilities.has("GatedOperations")) return [];
  return [
    connectionRefusal(
      node,
      "PZ0317",
      `connector '${name}' of '${node.connection.name}' can't be paced by rate_limit`,
      "remove rate_limit; max_concurrency limits how many nodes use the connection at once",
    ),
  ];
}
