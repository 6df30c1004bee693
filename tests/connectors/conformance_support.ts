import assert from "node:assert/strict";
import {
  type ConfigMap,
  type ConnectorDescription,
  tryConnector,
  type VectorResult,
} from "../../src/connectors/mod.ts";
import { VECTORS } from "../../src/connectors/conformance/suite.ts";

/** A connector that is tried out on a real system. */
export type Candidate = {
  readonly connector: ConnectorDescription;
  /** As the file of `pz connector test` says it. */
  readonly values: ConfigMap;
  /** What relative paths are relative to. */
  readonly root?: string;
  /** What does not apply although its capability is declared: vectors by name, those of a side, or all. */
  readonly leftOut?: readonly string[] | "all";
};

/** Tries out a connector: every vector must pass but for what it does not declare, and what is left out on purpose. */
export async function assertConforms(candidate: Candidate): Promise<void> {
  const { connector: { capabilities }, leftOut = [] } = candidate;
  const results = await resultsOf(candidate);
  const expected = VECTORS.map(({ name, needs, capability }) => {
    const isDeclared = capability === undefined || capabilities.has(capability);
    const isLeftOut = leftOut === "all" || leftOut.includes(name) || leftOut.includes(`${needs}s`) ||
      (needs === "either" && leftOut.includes("reads"));
    return `${isDeclared && !isLeftOut ? "PASS" : "SKIP"} ${name}`;
  });
  const all = JSON.stringify(results, undefined, 1);
  assert.deepEqual(results.map(({ status, name }) => `${status} ${name}`), expected, all);
}

/** All that is said of a connector. */
export async function resultsOf(
  { connector, values, root = "/nowhere" }: Omit<Candidate, "leftOut">,
): Promise<readonly VectorResult[]> {
  const told: VectorResult[] = [];
  const results = await tryConnector({ connector, root, values, file: "test.yml" }, (result) => void told.push(result));
  if (!results.ok) throw new Error(results.errors.map(({ message }) => message).join("\n"));
  assert.deepEqual(told, results.value);
  return results.value;
}
