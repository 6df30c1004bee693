import type {
  CheckNode,
  CompiledDag,
  DagNode,
  PipelineNode,
  SinkWriteNode,
  SourceLoadNode,
} from "../../../src/compile/mod.ts";
import type { NativeCopy } from "../../../src/connectors/mod.ts";
import { type RunOptions, type RunOutcome, runProject, type RunServices } from "../../../src/engine/mod.ts";
import { EventBus, type RunEvent, type StampedEvent } from "../../../src/events/mod.ts";
import type { Plan, PlannedNode } from "../../../src/plan/mod.ts";
import type { Check, Connection, EngineConfig, Project } from "../../../src/project/mod.ts";
import { runPaths } from "../../../src/state/mod.ts";
import { TempDir } from "../../harness/temp_dir.ts";

export const RUN_ID = "20270302T061500001Z-9f3c";

const POSITION = { file: "pipelines/x.sql", line: 1, column: 1 };

export function connection(name: string, more: Partial<Connection> = {}): Connection {
  return {
    name,
    connector: "localfiles",
    config: {},
    entities: {},
    allowUnsignedExtensions: false,
    position: POSITION,
    ...more,
  };
}

export function source(
  name: string,
  plan: Partial<PlannedNode>,
  more: Partial<SourceLoadNode> = {},
): [SourceLoadNode, PlannedNode] {
  const node: SourceLoadNode = {
    kind: "SourceLoad",
    id: `id-${name}`,
    name,
    dependsOn: [],
    file: "connections.yml",
    tags: [],
    connection: connection("raw"),
    entity: name,
    relation: name,
    read: { options: {} },
    position: POSITION,
    ...more,
  };
  return [node, planned(node, { strategy: "native_scan", ...plan })];
}

/** A source whose rows are a query's. */
export function nativeSource(name: string, query: string, more: Partial<SourceLoadNode> = {}): [DagNode, PlannedNode] {
  const scan = { fragment: `(${query})`, setup: [], mechanism: "query", schemaInferred: false };
  return source(name, { scan }, more);
}

export function pipeline(
  name: string,
  sql: string,
  dependsOn: readonly string[] = [],
  more: Partial<PipelineNode> = {},
): [PipelineNode, PlannedNode] {
  const node: PipelineNode = {
    kind: "Pipeline",
    id: `id-${name}`,
    name,
    dependsOn: dependsOn.map((other) => `id-${other}`),
    file: `pipelines/${name}.sql`,
    tags: [],
    relation: name,
    materialization: "table",
    sql,
    shownSql: sql,
    watermarks: [],
    map: {
      positionAt: (offset) => {
        const before = sql.slice(0, offset).split("\n");
        return { file: `pipelines/${name}.sql`, line: before.length, column: (before.at(-1) ?? "").length + 1 };
      },
    },
    ...more,
  };
  return [node, planned(node, { strategy: "duck_sql" })];
}

export function check(
  name: string,
  of: string,
  what: Partial<Check> & Pick<Check, "type">,
  more: Partial<CheckNode> = {},
): [CheckNode, PlannedNode] {
  const node: CheckNode = {
    kind: "Check",
    id: `id-${name}`,
    name,
    dependsOn: [`id-${of}`],
    file: `pipelines/${of}.yml`,
    tags: [],
    pipeline: of,
    relation: of,
    check: { columns: [], severity: "alert", position: POSITION, ...what },
    sampleValues: true,
    ...more,
  };
  return [node, planned(node, { strategy: "duck_sql" })];
}

export function sink(
  name: string,
  of: string,
  copy: NativeCopy,
  more: Partial<SinkWriteNode> = {},
): [SinkWriteNode, PlannedNode] {
  const node: SinkWriteNode = {
    kind: "SinkWrite",
    id: `id-${name}`,
    name,
    dependsOn: [`id-${of}`],
    file: `pipelines/${of}.sql`,
    tags: [],
    connection: connection("lake"),
    entity: name,
    pipeline: of,
    relation: of,
    write: { strategy: "replace", keys: [], acceptDuplicates: false, schemaPolicy: "fail_on_change", options: {} },
    position: POSITION,
    ...more,
  };
  return [node, planned(node, { strategy: "native_copy", copy: () => copy })];
}

/** A copy of a relation into one CSV file, by way of a temporary name beside it. */
export function csvCopy(folder: string, name: string): NativeCopy {
  const from = `${folder}/.${name}.tmp`;
  return {
    statement: (relation) => `COPY (SELECT * FROM ${relation}) TO '${from}' (FORMAT csv, HEADER)`,
    setup: [],
    mechanism: "copy csv",
    folders: [folder],
    moves: [{ from, to: `${folder}/${name}` }],
  };
}

function planned(node: DagNode, more: Pick<PlannedNode, "strategy"> & Partial<PlannedNode>): PlannedNode {
  return { id: node.id, kind: node.kind, name: node.name, partitions: 1, reason: "test", ...more };
}

export type Fixture = {
  readonly engine?: Partial<EngineConfig>;
  readonly project?: Partial<Project>;
  readonly options?: Partial<RunOptions>;
  readonly services?: RunServices;
  /** Names of the nodes of each chain that the plan fuses, an end that stays outside in brackets. */
  readonly chains?: readonly (readonly string[])[];
  /** Sees every event as it is published. */
  readonly onEvent?: (event: RunEvent) => void;
};

export type FixtureRun = {
  readonly outcome: RunOutcome;
  readonly events: readonly RunEvent[];
  readonly warnings: readonly string[];
  readonly receipt: Receipt;
  readonly journal: readonly Receipt["nodes"][number][];
};

export type Receipt = {
  readonly status: string;
  readonly finishedAt?: string;
  readonly interrupted?: boolean;
  readonly phases?: { readonly [name: string]: number };
  readonly nodes: readonly {
    readonly id: string;
    readonly name: string;
    readonly status: string;
    readonly rows: number;
    readonly error: { readonly code: string; readonly message: string; readonly cause?: string } | null;
    readonly connector?: string;
    readonly connection?: string;
    readonly strategy?: string;
    readonly attempts?: number;
    readonly stages?: { readonly [name: string]: number };
    readonly timings?: { readonly producerStallMs: number; readonly consumerStallMs: number };
    readonly ops?: { readonly executed: number; readonly retried: number; readonly throttle_wait_ms: number };
    readonly partitions?: {
      readonly total: number;
      readonly completed: number;
      readonly reused: number;
      readonly resumed: number;
    };
    readonly delivery?: {
      readonly abort_semantics: string;
      readonly rows_visible: number;
      readonly resumed_rows: number;
    };
  }[];
};

/** A folder in which runs of hand-made nodes take place. */
export class Bench implements AsyncDisposable {
  readonly root: string;
  readonly #folder: TempDir;

  private constructor(folder: TempDir) {
    this.#folder = folder;
    this.root = folder.path;
  }

  static async create(): Promise<Bench> {
    return new Bench(await TempDir.create());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#folder[Symbol.asyncDispose]();
  }

  /** Runs nodes, given in topological order with their plans, through the whole engine. */
  async run(nodes: readonly (readonly [DagNode, PlannedNode])[], fixture: Fixture = {}): Promise<FixtureRun> {
    const project = makeProject(this.root, fixture);
    const paths = runPaths(this.root, RUN_ID);
    Deno.mkdirSync(paths.folder, { recursive: true });
    const dag: CompiledDag = { project, nodes: nodes.map(([node]) => node) };
    const events: RunEvent[] = [];
    const warnings: string[] = [];
    const subscriber = {
      handle: ({ event }: StampedEvent) => {
        events.push(event);
        fixture.onEvent?.(event);
      },
    };
    const bus = new EventBus({ runId: RUN_ID, now: () => "2027-03-02T06:15:00.004Z", subscribers: [subscriber] });
    const outcome = await runProject({
      dag,
      plan: makePlan(this.root, nodes.map(([, plan]) => plan), fixture.chains),
      effective: dag.nodes.map(({ id }) => id),
      runId: RUN_ID,
      bus,
      failFast: false,
      phases: { load: 1 },
      clock: { now: () => Date.now() },
      signal: new AbortController().signal,
      onFinalize: async () => {
        await bus.close(5000);
      },
      onWarning: (message) => warnings.push(message),
      ...fixture.options,
    }, fixture.services);
    const journal = Deno.readTextFileSync(paths.journal).split("\n").slice(0, -1);
    return {
      outcome,
      events,
      warnings,
      receipt: JSON.parse(Deno.readTextFileSync(paths.results)),
      journal: journal.map((line) => JSON.parse(line)),
    };
  }
}

export function makeProject(root: string, { engine, project }: Fixture): Project {
  return {
    root,
    name: "bench",
    version: "1",
    connectors: [],
    vars: {},
    engine: {
      threads: 4,
      forceUniversal: false,
      checkSamples: true,
      duckdb: {},
      staging: "auto",
      preserveOrder: false,
      sandbox: "auto",
      ...engine,
    },
    keepLast: undefined,
    state: { backend: "local" },
    onSourceDrift: "ignore",
    connections: {},
    pipelines: [],
    ...project,
  };
}

export function makePlan(root: string, nodes: readonly PlannedNode[], chains: Fixture["chains"] = []): Plan {
  const grant = { net: [], read: [root], write: [root], env: [] };
  return {
    nodes,
    chains: chains.map(chainOf),
    memoryBudget: {
      duckdbBytes: null,
      duckdbDisclaimer: null,
      channelBytes: 1 << 20,
      fixedOverheadBytes: 0,
      totalBytes: 0,
      duckdbThreadsDisclaimer: null,
    },
    limits: { memoryLimitBytes: 512 * 1024 * 1024, threads: 2 },
    grants: ["lake", "raw"].map((name) => ({ connection: name, connector: "localfiles", grant })),
  };
}

function chainOf(names: readonly string[]): Plan["chains"][number] {
  const outside = (name: string | undefined) => name?.startsWith("[") === true ? `id-${name.slice(1, -1)}` : undefined;
  const from = outside(names[0]);
  const to = outside(names.at(-1));
  return {
    nodes: names.filter((name) => outside(name) === undefined).map((name) => `id-${name}`),
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
  };
}
