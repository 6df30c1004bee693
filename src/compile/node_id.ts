import type { Check, Materialization, ReadBlock, WriteBlock } from "../project/mod.ts";
import { type Canonical, canonicalJson, sha256Hex } from "../util/mod.ts";
import type { Predicate, ReadHints } from "./dag.ts";

/** The first 16 hex digits of the SHA-256 of the canonical JSON of a node's parts. */
function idOf(parts: readonly Canonical[]): string {
  return sha256Hex(canonicalJson(parts)).slice(0, 16);
}

/** The id of a load: what is read, never how often, when or from which host. */
export function sourceId(connection: string, entity: string, read: ReadBlock, hints: ReadHints | undefined): string {
  const columns = read.columns === undefined ? null : Object.fromEntries(
    read.columns.map(({ name, type, lossy }) => [name, lossy === undefined ? type : { type, lossy }]),
  );
  const parts: Canonical[] = ["source-load", connection, entity, read.options, columns];
  if (hints !== undefined) parts.push(hintParts(hints));
  return idOf(parts);
}

function hintParts({ columns, predicate }: ReadHints): Canonical {
  return { columns: columns ?? null, predicate: predicate === undefined ? null : predicateParts(predicate) };
}

function predicateParts(predicate: Predicate): Canonical {
  if (predicate.op === "and") return { op: "and", args: predicate.args.map(predicateParts) };
  return { ...predicate };
}

/** The id of a pipeline; `ephemerals` are the names and texts of those that it inlines, in ordinal order. */
export function pipelineId(
  name: string,
  materialization: Materialization,
  identitySql: string,
  ephemerals: readonly (readonly [name: string, identitySql: string])[],
): string {
  return idOf(["pipeline", name, materialization, identitySql, ...ephemerals]);
}

/** The id of a check: what it asks of which pipeline, neither its severity nor whether it shows samples. */
export function checkId(pipeline: string, check: Check): string {
  const { type, columns, min, max, maxAgeMs, values, name, sql } = check;
  return idOf(["check", pipeline, { type, columns, min, max, maxAgeMs, values, name, sql }]);
}

/** The id of a write: what becomes of which pipeline's rows, without retry settings. */
export function sinkId(connection: string, entity: string, pipeline: string, write: WriteBlock): string {
  const { strategy, keys, acceptDuplicates, onDelete, schemaPolicy, orderBy, skipUnchanged, options } = write;
  return idOf([
    "sink-write",
    connection,
    entity,
    pipeline,
    { strategy, keys, acceptDuplicates, onDelete, schemaPolicy, orderBy, skipUnchanged, options },
  ]);
}
