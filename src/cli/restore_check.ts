import type { CompiledDag } from "../compile/mod.ts";
import type { ConnectorSet } from "../connectors/mod.ts";
import { PzError, sortErrors } from "../errors/mod.ts";
import type { Connection } from "../project/mod.ts";
import { nearMiss, ordinal } from "../util/mod.ts";

/** Phase 4: every connector that the given nodes use must be one of these; one problem for each connection. */
export function checkConnectors(
  dag: CompiledDag,
  effective: Iterable<string>,
  connectors: ConnectorSet,
): readonly PzError[] {
  const wanted = new Set(effective);
  const used = new Map<string, Connection>();
  for (const node of dag.nodes) {
    if (!wanted.has(node.id)) continue;
    if (node.kind === "SourceLoad" || node.kind === "SinkWrite") used.set(node.connection.name, node.connection);
  }
  return sortErrors(
    [...used.values()].map((connection) => connectorProblem(connection, connectors)).filter((problem) =>
      problem !== undefined
    ),
  );
}

/** What others call a connector, or its files. */
const OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ...["file", "files", "local", "filesystem", "csv", "tsv", "json", "parquet"].map((name) =>
    [name, "localfiles"] as const
  ),
  ...["postgresql", "pg", "redshift"].map((name) => [name, "postgres"] as const),
  ["mariadb", "mysql"],
  ["mssql", "sqlserver"],
  ["rest", "http"],
]);

/**
 * Why a connection can't be used: PZ0701 for a connector that pz does not know, PZ0700 for one that it knows and does
 * not hold yet.
 */
export function connectorProblem(connection: Connection, connectors: ConnectorSet): PzError | undefined {
  const { name, connector } = connection;
  const position = connection.places?.["connector"] ?? connection.position;
  const found = connectors.find(connector);
  if (found === "planned") {
    return new PzError(
      "PZ0700",
      `connection '${name}' uses connector '${connector}', which this pz does not have yet`,
      {
        ...position,
        hint: "`pz connectors` lists those that it has",
      },
    );
  }
  if (found !== undefined) return undefined;
  const names = connectors.all.map((known) => known.name).sort(ordinal);
  const meant = OTHER_NAMES.get(connector.toLowerCase()) ?? nearMiss(connector, names);
  return new PzError("PZ0701", `connection '${name}' uses connector '${connector}', which pz does not know`, {
    ...position,
    hint: meant === undefined ? `use one of ${names.join(", ")}` : `did you mean '${meant}'?`,
  });
}
