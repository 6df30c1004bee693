import type { Capability, ColumnSpec, ConfigMap, ConnectorDescription, OutputSpec } from "../contract/mod.ts";
import type { Trial } from "./trial.ts";

/** What is tried out, and what to ask it. */
export type ConformanceTarget = {
  readonly connector: ConnectorDescription;
  readonly config: ConfigMap;
  /** What relative paths of settings are relative to. */
  readonly root: string;
  /** A dataset with at least some rows; undefined: reading is not tried. */
  readonly read?: ConformanceRead | undefined;
  /** An output that may be replaced, filled and emptied; undefined: writing is not tried. */
  readonly write?: ConformanceWrite | undefined;
};

export type ConformanceRead = {
  readonly dataset: string;
  readonly options: ConfigMap;
  readonly columns?: readonly ColumnSpec[] | undefined;
};

export type ConformanceWrite = {
  readonly output: string;
  readonly options: ConfigMap;
  readonly mode: OutputSpec["mode"];
  readonly schemaPolicy: OutputSpec["schemaPolicy"];
  /** The dataset by which the output can be read, so that what was written can be compared; undefined: it is not. */
  readonly readBack?: ConformanceRead | undefined;
};

/** How one vector went; the detail holds no setting and no value of the data. */
export type VectorResult = {
  readonly name: string;
  readonly status: "PASS" | "FAIL" | "SKIP";
  readonly detail?: string;
};

/** One promise that is tried out. It passes unless it throws; what it returns is told with it. */
export type Vector = {
  readonly name: string;
  /** Which side it needs; `either`: one of them. */
  readonly needs: "nothing" | "read" | "write" | "either";
  /** The capability whose promise it is. */
  readonly capability?: Capability;
  readonly run: (trial: Trial) => Promise<string | void>;
};

/** Thrown by a vector that does not apply after all. */
export class Skipped extends Error {
  override readonly name = "Skipped";
}

/** @throws {Error} unless something holds */
export function expect(holds: boolean, otherwise: string): void {
  if (!holds) throw new Error(otherwise);
}
