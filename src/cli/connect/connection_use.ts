import type { CompiledDag, SinkWriteNode, SourceLoadNode } from "../../compile/mod.ts";
import type { ConnectorDescription, ConnectorSet } from "../../connectors/mod.ts";
import type { Connection } from "../../project/mod.ts";
import { ordinal } from "../../util/mod.ts";

/** A connection with the nodes that go through it. */
export type UsedConnection = {
  readonly connection: Connection;
  readonly connector: ConnectorDescription;
  readonly sources: readonly SourceLoadNode[];
  readonly sinks: readonly SinkWriteNode[];
};

/** Every connection that a node uses and whose connector is among these, by name. */
export function usedConnections(dag: CompiledDag, connectors: Pick<ConnectorSet, "find">): readonly UsedConnection[] {
  const used = new Map<string, UsedConnection & { sources: SourceLoadNode[]; sinks: SinkWriteNode[] }>();
  for (const node of dag.nodes) {
    if (node.kind !== "SourceLoad" && node.kind !== "SinkWrite") continue;
    const { connection } = node;
    const connector = connectors.find(connection.connector);
    if (connector === undefined || connector === "planned") continue;
    let entry = used.get(connection.name);
    if (entry === undefined) used.set(connection.name, entry = { connection, connector, sources: [], sinks: [] });
    if (node.kind === "SourceLoad") entry.sources.push(node);
    else entry.sinks.push(node);
  }
  return [...used.values()].sort((a, b) => ordinal(a.connection.name, b.connection.name));
}
