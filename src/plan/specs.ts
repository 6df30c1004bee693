import type { SinkWriteNode, SourceLoadNode } from "../compile/mod.ts";
import type { ConnectorDescription, DatasetSpec, OutputSpec, Predicate, WriteAttempt } from "../connectors/mod.ts";

type Hintable = Pick<ConnectorDescription, "capabilities" | "predicateOperators">;

/** What a connector is asked to read; given the connector, with the hints that it can follow. */
export function datasetSpec(node: SourceLoadNode, connector?: Hintable): DatasetSpec {
  const hints = connector === undefined ? {} : hintsFor(node, connector);
  return {
    connection: node.connection.name,
    entity: node.entity,
    config: node.connection.config,
    options: node.read.options,
    ...(node.columns === undefined ? {} : { columns: node.columns }),
    ...(Object.keys(hints).length === 0 ? {} : { hints }),
  };
}

/** What a connector is asked to write. */
export function outputSpec(node: SinkWriteNode, attempt: Omit<WriteAttempt, "node">): OutputSpec {
  return {
    connection: node.connection.name,
    entity: node.entity,
    config: node.connection.config,
    options: node.write.options,
    mode: node.write.strategy,
    schemaPolicy: node.write.schemaPolicy,
    keys: node.write.keys,
    attempt: { node: node.id, ...attempt },
    ...(node.write.checkpointRows === undefined ? {} : { checkpointRows: node.write.checkpointRows }),
  };
}

/** A contract leaves out what it does not name, as a hint does. */
function hintsFor(
  { hints, columns: contract }: SourceLoadNode,
  connector: Hintable,
): NonNullable<DatasetSpec["hints"]> {
  const { capabilities, predicateOperators } = connector;
  const columns = hints?.columns ?? contract?.map(({ name }) => name);
  const predicate = hints?.predicate === undefined || !capabilities.has("PredicatePushdown")
    ? undefined
    : comparable(hints.predicate, predicateOperators);
  return {
    ...(columns === undefined || !capabilities.has("ColumnPruning") ? {} : { columns }),
    ...(predicate === undefined ? {} : { predicate }),
  };
}

/** The part of a predicate whose comparisons are among the given ones; every row of the whole is also one of the part. */
function comparable(predicate: Predicate, operators: ReadonlySet<Predicate["op"]> | undefined): Predicate | undefined {
  if (predicate.op !== "and") return operators?.has(predicate.op) === false ? undefined : predicate;
  const args = predicate.args.flatMap((part) => comparable(part, operators) ?? []);
  return args.length < 2 ? args[0] : { op: "and", args };
}
