import type { DatasetSpec, OutputSpec } from "../contract/mod.ts";
import { FrameError } from "./frame.ts";
import { hintsFromWire, hintsToWire } from "./hints.ts";
import { asRecord, texts } from "./messages.ts";
import { configFromWire, toWire } from "./values.ts";

type Wire = { readonly [field: string]: unknown };

/** A dataset without its `config`, which the child got once. */
export function datasetToWire(spec: DatasetSpec): Wire {
  return {
    connection: spec.connection,
    entity: spec.entity,
    options: toWire(spec.options),
    ...(spec.columns === undefined ? {} : { columns: spec.columns.map(({ name, type }) => ({ name, type })) }),
    ...(spec.hints === undefined ? {} : { hints: hintsToWire(spec.hints) }),
    ...(spec.priorPartitions === undefined ? {} : { priorPartitions: spec.priorPartitions }),
  };
}

/**
 * The dataset of a message. Its `config` is the one that the child was configured with.
 *
 * @throws {FrameError}
 */
export function datasetFromWire(wire: unknown, config: DatasetSpec["config"]): DatasetSpec {
  const { columns, hints, priorPartitions, ...place } = asRecord(wire, "a dataset");
  return {
    ...placeFromWire(place, config),
    ...(columns === undefined ? {} : { columns: columnsFromWire(columns) }),
    ...(hints === undefined ? {} : { hints: hintsFromWire(hints) }),
    ...(priorPartitions === undefined ? {} : { priorPartitions: priorPartitionsFromWire(priorPartitions) }),
  };
}

/** An output without its `config`, which the child got once. */
export function outputToWire(spec: OutputSpec): Wire {
  const { connection, entity, mode, schemaPolicy, keys, onDelete, attempt, checkpointRows } = spec;
  const { node, run, ordinal, prior } = attempt;
  return {
    connection,
    entity,
    options: toWire(spec.options),
    mode,
    schemaPolicy,
    keys,
    onDelete,
    checkpointRows,
    attempt: { node, run, ordinal, prior },
  };
}

/**
 * The output of a message. Its `config` is the one that the child was configured with.
 *
 * @throws {FrameError}
 */
export function outputFromWire(wire: unknown, config: OutputSpec["config"]): OutputSpec {
  const { mode, schemaPolicy, keys, onDelete, attempt, checkpointRows, ...place } = asRecord(wire, "an output");
  return {
    ...placeFromWire(place, config),
    mode: oneOf(mode, ["replace", "append", "merge"]),
    schemaPolicy: oneOf(schemaPolicy, ["fail_on_change", "additive", "evolve"]),
    keys: texts(keys),
    ...(onDelete === undefined ? {} : { onDelete: oneOf(onDelete, ["delete", "soft"]) }),
    attempt: attemptFromWire(attempt),
    ...(checkpointRows === undefined ? {} : { checkpointRows: rowCount(checkpointRows) }),
  };
}

function placeFromWire(
  { connection, entity, options }: Wire,
  config: DatasetSpec["config"],
): Pick<DatasetSpec, "connection" | "entity" | "config" | "options"> {
  if (typeof connection !== "string" || typeof entity !== "string") throw new FrameError("a dataset without its names");
  return { connection, entity, config, options: configFromWire(options) };
}

function columnsFromWire(wire: unknown): NonNullable<DatasetSpec["columns"]> {
  if (!Array.isArray(wire)) throw new FrameError("columns that are no list");
  return wire.map((column) => {
    const { name, type } = asRecord(column, "a column");
    if (typeof name !== "string" || typeof type !== "string") throw new FrameError("a column without name and type");
    return { name, type };
  });
}

function priorPartitionsFromWire(wire: unknown): NonNullable<DatasetSpec["priorPartitions"]> {
  if (!Array.isArray(wire)) throw new FrameError("earlier partitions that are no list");
  return wire.map((partition) => {
    const { id, isDone } = asRecord(partition, "a partition");
    if (typeof id !== "string" || typeof isDone !== "boolean") throw new FrameError("a partition without its parts");
    return { id, isDone };
  });
}

function attemptFromWire(wire: unknown): OutputSpec["attempt"] {
  const { node, prior, ...one } = asRecord(wire, "an attempt");
  if (typeof node !== "string") throw new FrameError("an attempt without its parts");
  if (prior === undefined) return { node, ...tryFromWire(one) };
  if (!Array.isArray(prior)) throw new FrameError("earlier attempts that are no list");
  return { node, ...tryFromWire(one), prior: prior.map(tryFromWire) };
}

function tryFromWire(wire: unknown): Pick<OutputSpec["attempt"], "run" | "ordinal"> {
  const { run, ordinal } = asRecord(wire, "an attempt");
  if (typeof run !== "string" || typeof ordinal !== "number" || !Number.isSafeInteger(ordinal)) {
    throw new FrameError("an attempt without its parts");
  }
  return { run, ordinal };
}

function rowCount(value: unknown): number {
  if (typeof value === "number" && Number.isSafeInteger(value) && value > 0) return value;
  throw new FrameError("a number of rows that is none");
}

function oneOf<const T extends string>(value: unknown, words: readonly T[]): T {
  const word = words.find((known) => known === value);
  if (word === undefined) throw new FrameError(`"${value}" where one of ${words.join(", ")} was expected`);
  return word;
}
