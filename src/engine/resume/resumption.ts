import type { CompiledDag, DagNode, SinkWriteNode, SourceLoadNode } from "../../compile/mod.ts";
import { type NodeFact, runPaths, type StoredRun, type Try } from "../../state/mod.ts";
import { connectionHash } from "./connection_hash.ts";
import { withDeclarations } from "./declarations.ts";
import { factsOf, triesOf } from "./facts.ts";
import { type InheritedStaging, inheritStaging } from "./inherited_staging.ts";
import { withoutMissing } from "./missing_targets.ts";
import { resumeNotes, type Story } from "./notes.ts";
import { type Decisions, doneBefore, isAppend, planWork, type Work } from "./work.ts";
import type { Fingerprint } from "../../staging/mod.ts";
import { faultPoint } from "../../util/mod.ts";

/** What a run takes over from the one that it is a retry of. */
export type Resumption = {
  readonly retryOf: string;
  /** Ids of the nodes to run, in topological order. */
  readonly effective: readonly string[];
  /** Rows of the loads that stand in staging already, by node id. */
  readonly reused: ReadonlyMap<string, number>;
  /** Outputs that are recorded as done before anything runs. */
  readonly carried: readonly CarriedSink[];
  /** Outputs that are recorded as done if their input has the same fingerprint as before, by node id. */
  readonly compared: ReadonlyMap<string, ComparedSink>;
  /** Earlier tries of outputs of which nobody knows the end, by node id, oldest first. */
  readonly tries: ReadonlyMap<string, readonly Try[]>;
  /** What is known of all nodes, for a retry of this run. */
  readonly inherited: readonly NodeFact[];
  /** Names of the outputs that are written again because the user says so. */
  readonly redelivered: readonly string[];
  /** What is taken over and what is not, for people. */
  readonly notes: readonly string[];
};

export type CarriedSink = { readonly node: SinkWriteNode; readonly rows: number };
export type ComparedSink = { readonly rows: number; readonly run: string; readonly fingerprint: Fingerprint };

export type ResumeOptions = {
  readonly dag: CompiledDag;
  /** Ids that the earlier run's selection means today, with what they need. */
  readonly asked: readonly string[];
  readonly prior: StoredRun;
  /** The new run, whose folder is there. */
  readonly runId: string;
  /** Whether to read everything anew. */
  readonly fullRefresh: boolean;
  readonly decisions: Decisions;
};

/**
 * Decides what a retry does, and brings what it takes over of the earlier run's staging into the folder of the new run.
 * The caller holds the locks of both runs.
 * Undefined: there is nothing to do, and the folder is as it was.
 */
export async function prepareResume(options: ResumeOptions): Promise<Resumption | undefined> {
  const { dag, prior, decisions } = options;
  const former = factsOf(prior);
  const asked = new Set(options.asked);
  const declared = withDeclarations(dag, former);
  const { facts, notes } = withoutMissing(dag, asked, declared.facts, decisions);
  const known = { facts, former, notes: [...declared.notes, ...notes] };
  const common = { dag, asked, facts, decisions };
  const everyDone = new Set(dag.nodes.filter((node) => doneBefore(node, facts, decisions)).map(({ id }) => id));
  const hoped = planWork({ ...common, reusable: everyDone, comparable: everyDone });
  if (hoped.effective.length === 0 && hoped.carried.length === 0) return undefined;

  const root = dag.project.root;
  const inheritance = options.fullRefresh
    ? { why: "--full-refresh was given" }
    : await inheritStaging({ from: runPaths(root, prior.summary.runId), to: runPaths(root, options.runId) });
  if (!("staging" in inheritance)) {
    const work = planWork({ ...common, reusable: new Set(), comparable: new Set() });
    const obstacles = new Map(
      loadsOf(dag, facts, decisions).map(([node]) => [node.id, inheritance.why] as const),
    );
    return resumption(options, known, { work, obstacles, progress: new Map(), staging: inheritance.why }, new Map());
  }
  await using staging = inheritance.staging;
  faultPoint("staging_copied");
  const obstacles = await findObstacles(staging, loadsOf(dag, facts, decisions));
  const reusable = new Set([...everyDone].filter((id) => obstacles.get(id) === undefined));
  const fingerprints = await takeFingerprints(
    staging,
    planWork({ ...common, reusable, comparable: everyDone }).compared,
  );
  const work = planWork({ ...common, reusable, comparable: new Set(fingerprints.keys()) });
  const progress = await findProgress(staging, options, work);
  await staging.prune({
    loads: loadsOf(dag, facts, decisions).flatMap(([node]) => reusable.has(node.id) ? [node] : []),
    unfinished: dag.nodes.filter((node) => node.kind === "SourceLoad").filter(({ id }) => progress.has(id)),
    outputs: work.effective,
  });
  faultPoint("staging_pruned");
  return resumption(options, known, { work, obstacles, progress, staging: undefined }, fingerprints);
}

/** The loads that are done, with their rows. */
function loadsOf(
  { nodes }: CompiledDag,
  facts: ReadonlyMap<string, NodeFact>,
  decisions: Decisions,
): readonly (readonly [SourceLoadNode, number])[] {
  return nodes.flatMap((node) => {
    const done = facts.get(node.id)?.done;
    return node.kind === "SourceLoad" && done !== undefined && doneBefore(node, facts, decisions)
      ? [[node, done.rows] as const]
      : [];
  });
}

async function findObstacles(
  staging: InheritedStaging,
  loads: readonly (readonly [SourceLoadNode, number])[],
): Promise<ReadonlyMap<string, string>> {
  const obstacles = new Map<string, string>();
  for (const [node, rows] of loads) {
    const obstacle = await staging.obstacle(node, rows);
    if (obstacle !== undefined) obstacles.set(node.id, obstacle);
  }
  return obstacles;
}

async function takeFingerprints(
  staging: InheritedStaging,
  outputs: readonly SinkWriteNode[],
): Promise<ReadonlyMap<string, Fingerprint>> {
  const byRelation = new Map<string, Fingerprint | undefined>();
  const fingerprints = new Map<string, Fingerprint>();
  for (const { id, relation } of outputs) {
    if (!byRelation.has(relation)) byRelation.set(relation, await staging.fingerprint(relation));
    const fingerprint = byRelation.get(relation);
    if (fingerprint !== undefined) fingerprints.set(id, fingerprint);
  }
  return fingerprints;
}

/** How many partitions of each load to come are staged or begun, where its connection leads where it led then. */
async function findProgress(
  staging: InheritedStaging,
  { dag, prior }: ResumeOptions,
  { effective, reused }: Work,
): Promise<ReadonlyMap<string, number>> {
  const [running, complete] = [new Set(effective), new Set(reused.map(({ id }) => id))];
  const progress = new Map<string, number>();
  for (const node of dag.nodes) {
    if (node.kind !== "SourceLoad" || !running.has(node.id) || complete.has(node.id)) continue;
    const former = prior.intent?.connections?.[node.connection.name];
    if (former !== undefined && former !== connectionHash(node.connection)) continue;
    const count = await staging.progress(node);
    if (count > 0) progress.set(node.id, count);
  }
  return progress;
}

/** What is known of the nodes of today, of those of the earlier run, and what to tell of outputs that are gone. */
type Known = {
  readonly facts: ReadonlyMap<string, NodeFact>;
  readonly former: ReadonlyMap<string, NodeFact>;
  readonly notes: readonly string[];
};

function resumption(
  { dag, prior, decisions }: ResumeOptions,
  { facts, former, notes }: Known,
  story: Story,
  fingerprints: ReadonlyMap<string, Fingerprint>,
): Resumption {
  const { work, obstacles } = story;
  const rowsOf = ({ id }: DagNode) => facts.get(id)?.done?.rows ?? 0;
  const retryOf = prior.summary.runId;
  return {
    retryOf,
    effective: work.effective,
    reused: new Map(work.reused.map((node) => [node.id, rowsOf(node)])),
    carried: work.carried.map((node) => ({ node, rows: rowsOf(node) })),
    compared: new Map(work.compared.flatMap((node) => {
      const fingerprint = fingerprints.get(node.id);
      const run = facts.get(node.id)?.done?.run ?? retryOf;
      return fingerprint === undefined ? [] : [[node.id, { rows: rowsOf(node), run, fingerprint }] as const];
    })),
    tries: new Map(dag.nodes.flatMap((node) => {
      if (node.kind !== "SinkWrite" || !isAppend(node) || decisions.redeliver.has(node.name)) return [];
      const tries = triesOf(facts.get(node.id));
      return tries.length === 0 ? [] : [[node.id, tries] as const];
    })),
    inherited: inheritedFacts(dag, facts, story.staging === undefined ? obstacles : undefined, decisions),
    redelivered: [...decisions.redeliver],
    notes: [
      ...(prior.isRecordLost
        ? [`records of run ${retryOf} are lost: what it may have written is not known for certain`]
        : []),
      ...notes,
      ...resumeNotes({ dag, facts, former, retryOf, redelivered: decisions.redeliver }, story),
    ],
  };
}

/** What a retry of the new run may build on: of loads only those whose rows the new staging has. */
function inheritedFacts(
  { nodes }: CompiledDag,
  facts: ReadonlyMap<string, NodeFact>,
  obstacles: ReadonlyMap<string, string> | undefined,
  { redeliver }: Decisions,
): readonly NodeFact[] {
  const outputs = new Set(
    nodes.flatMap((node) => node.kind === "SinkWrite" && redeliver.has(node.name) ? [node.id] : []),
  );
  return [...facts.values()].map((fact) => {
    if (fact.kind === "SourceLoad" && (obstacles === undefined || obstacles.has(fact.id))) {
      return { ...fact, done: undefined };
    }
    return outputs.has(fact.id) ? { ...fact, done: undefined, tries: [] } : fact;
  });
}
