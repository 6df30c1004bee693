import type { CompiledDag } from "../../../src/compile/mod.ts";
import type { Capability, ConnectorDescription, NativeCopy, NativeScan } from "../../../src/connectors/mod.ts";
import { formatError, type Outcome } from "../../../src/errors/mod.ts";
import { type Plan, type PlannedNode, planRun } from "../../../src/plan/mod.ts";

const GIB = 1024 ** 3;
export const MACHINE = { memoryBytes: 10 * GIB, cpus: 6 };

const SCAN: NativeScan = { fragment: "read_csv('x')", setup: [], mechanism: "read_csv", schemaInferred: false };

export type ConnectorInit = Partial<Omit<ConnectorDescription, "capabilities" | "universal">> & {
  readonly capabilities?: readonly Capability[];
  readonly universal?: { readonly read: boolean; readonly write: boolean };
};

/** A connector that can do everything natively and nothing else, unless told otherwise. */
export function connector(init: ConnectorInit = {}): ConnectorDescription {
  return {
    name: "localfiles",
    version: "1",
    canRead: true,
    canWrite: true,
    connectionOptions: undefined,
    readOptions: undefined,
    writeOptions: undefined,
    grant: () => ({ net: [], read: ["/data"], write: ["/data"], env: [] }),
    nativeScan: () => ({ ok: true, value: SCAN }),
    nativeCopy: (spec) => ({ ok: true, value: copyOf(spec.attempt) }),
    ...init,
    capabilities: new Set<Capability>(init.capabilities ?? ["NativeScan", "NativeCopy", "ReplaceWrites"]),
    universal: init.universal ?? { read: false, write: false },
  };
}

function copyOf(attempt: { readonly run: string; readonly ordinal: number }): NativeCopy {
  return {
    statement: (relation) => `COPY ${relation} TO '${attempt.run}.${attempt.ordinal}'`,
    setup: [],
    mechanism: "parquet",
    folders: [],
    moves: [],
  };
}

export function plan(
  dag: CompiledDag,
  connectors: ConnectorDescription | { readonly [name: string]: ConnectorDescription | "planned" } = connector(),
  effective: Iterable<string> = dag.nodes.map((node) => node.id),
): Outcome<Plan> {
  return planRun(dag, {
    effective: new Set(effective),
    machine: MACHINE,
    findConnector: (name) => isDescription(connectors) ? connectors : connectors[name],
  });
}

function isDescription(value: object): value is ConnectorDescription {
  return "nativeScan" in value;
}

export function planOf(...args: Parameters<typeof plan>): Plan {
  const outcome = plan(...args);
  if (!outcome.ok) throw new Error(outcome.errors.map(formatError).join("\n"));
  return outcome.value;
}

export function refusals(...args: Parameters<typeof plan>): readonly string[] {
  const outcome = plan(...args);
  return outcome.ok ? [] : outcome.errors.map((error) => `${error.code} ${error.message}`);
}

export function planned(of: Plan, name: string): PlannedNode {
  const node = of.nodes.find((candidate) => candidate.name === name);
  if (node === undefined) throw new Error(`no node ${name}`);
  return node;
}
