import type { RecordBatch, Schema } from "../../util/arrow.ts";
import type { Capability, ConfigMap, DatasetSpec } from "../contract/mod.ts";

/** What a connector may use of its host. */
export type ConnectorHost = {
  /** Tells the user something; never a configuration value. */
  log(level: "debug" | "info" | "warn" | "error", message: string): void;
};

/** One independent part of a read; ids are unique within a dataset. */
export type Partition = { readonly id: string };

/** The read side. Each call gets a signal that fires when nobody waits for its result any more. */
export type Source = {
  schema(spec: DatasetSpec, signal: AbortSignal): Promise<Schema>;
  /** At least one partition; exactly one without the capability PartitionedRead. */
  plan(spec: DatasetSpec, signal: AbortSignal): Promise<readonly Partition[]>;
  /** Batches of the schema that `schema` gives; `batchBytes` is the size to aim for. */
  read(
    spec: DatasetSpec,
    partition: Partition,
    options: { readonly batchBytes: number; readonly signal: AbortSignal },
  ): AsyncIterable<RecordBatch>;
};

/** An opened connection. It connects when first used, not when opened. */
export type ConnectorInstance = {
  readonly source?: Source;
  close?(): Promise<void>;
};

/**
 * What the module of a connector exports as `connector`. Failures are thrown as `ConnectorError`; anything else counts
 * as a bug of the connector and is permanent.
 */
export type ConnectorModule = {
  readonly name: string;
  readonly version: string;
  readonly capabilities: readonly Capability[];
  open(config: ConfigMap, host: ConnectorHost): ConnectorInstance;
};
