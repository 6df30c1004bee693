import {
  type CompiledDag,
  type DagNode,
  type SinkWriteNode,
  type SourceLoadNode,
  withAncestors,
} from "../../compile/mod.ts";
import type { NodeFact } from "../../state/mod.ts";
import { connectionHash } from "./connection_hash.ts";

/** What the user decided about outputs of which nobody knows whether they were delivered, by their names. */
export type Decisions = {
  /** Taken as delivered. */
  readonly assumeDelivered: ReadonlySet<string>;
  /** Written again, whatever stands in the target. */
  readonly redeliver: ReadonlySet<string>;
};

export type WorkInputs = {
  readonly dag: CompiledDag;
  /** Ids of the nodes that the earlier run was about, with what they need. */
  readonly asked: ReadonlySet<string>;
  readonly facts: ReadonlyMap<string, NodeFact>;
  /** Ids of the loads that can be taken over. */
  readonly reusable: ReadonlySet<string>;
  /** Ids of the outputs whose input can be compared with what it was when they were written. */
  readonly comparable: ReadonlySet<string>;
  readonly decisions: Decisions;
};

/** What a retry has to do. */
export type Work = {
  /** Nodes to run with what they need, in topological order. */
  readonly effective: readonly string[];
  /** Loads that are taken over. */
  readonly reused: readonly SourceLoadNode[];
  /** Outputs that stand as they were written, and are recorded so. */
  readonly carried: readonly SinkWriteNode[];
  /** Outputs that stand as they were written if the rows that they are made of, made anew, are the same. */
  readonly compared: readonly SinkWriteNode[];
  /** Appends that are done and stay so, although something before them is new. */
  readonly left: readonly SinkWriteNode[];
};

/**
 * Decides what a retry runs: what did not succeed, all that it needs, and every output and check before which something
 * is new; but nothing is appended twice. Pure.
 */
export function planWork(inputs: WorkInputs): Work {
  const { dag, asked, decisions } = inputs;
  const nodes = dag.nodes.filter(({ id }) => asked.has(id));
  const isDone = (node: DagNode) => doneBefore(node, inputs.facts, decisions);
  let fresh: ReadonlySet<string> = new Set();
  let effective: readonly string[] = [];
  for (let grown = true; grown;) {
    const before = fresh.size + effective.length;
    const goals = nodes.filter((node) => {
      if (!isDone(node)) return true;
      if (node.kind === "Check") return isBehind(node, fresh);
      return node.kind === "SinkWrite" && !isAppend(node) && isBehind(node, fresh);
    });
    effective = withAncestors(dag, goals.map(({ id }) => id));
    fresh = freshNodes(dag, inputs, new Set(effective), isDone);
    grown = fresh.size + effective.length > before;
  }
  return split(inputs, effective, fresh, nodes.filter(isDone));
}

/** Whether nothing is left to do of a node. */
export function doneBefore(node: DagNode, facts: ReadonlyMap<string, NodeFact>, decisions: Decisions): boolean {
  const fact = facts.get(node.id);
  if (node.kind === "SinkWrite") {
    if (decisions.assumeDelivered.has(node.name)) return true;
    if (decisions.redeliver.has(node.name)) return false;
  }
  if (fact?.done === undefined) return false;
  if (
    "connection" in node &&
    (fact.done.connection ?? connectionHash(node.connection)) !== connectionHash(node.connection)
  ) {
    return false;
  }
  // A load's rows stay in staging whatever becomes of later runs, and what was appended stays in its target.
  return fact.status === "success" || node.kind === "SourceLoad" || (node.kind === "SinkWrite" && isAppend(node));
}

/** The nodes whose results differ, or may differ, from those of the earlier run. */
function freshNodes(
  { nodes }: CompiledDag,
  { reusable, facts }: WorkInputs,
  effective: ReadonlySet<string>,
  isDone: (node: DagNode) => boolean,
): ReadonlySet<string> {
  const fresh = new Set<string>();
  for (const node of nodes) {
    const isFresh = node.kind === "SourceLoad"
      ? effective.has(node.id) && !(reusable.has(node.id) && isDone(node))
      : node.kind === "Pipeline" && (facts.get(node.id)?.done === undefined || isBehind(node, fresh));
    if (isFresh) fresh.add(node.id);
  }
  return fresh;
}

function split(
  { dag, reusable, comparable, decisions }: WorkInputs,
  effective: readonly string[],
  fresh: ReadonlySet<string>,
  done: readonly DagNode[],
): Work {
  const running = new Set(effective);
  const outputs = done.filter((node) => node.kind === "SinkWrite").filter(({ id }) => !running.has(id));
  const assumed = outputs.filter(({ name }) => decisions.assumeDelivered.has(name));
  const left = outputs.filter((node) => !assumed.includes(node) && isBehind(node, fresh));
  const touched = outputs.filter((node) =>
    !assumed.includes(node) && !left.includes(node) && sourcesOf(dag, node).some(({ id }) => running.has(id))
  );
  // A pipeline that is run again may give other rows, as by random().
  const remade = touched.filter((node) => node.dependsOn.some((id) => running.has(id)));
  const compared = remade.filter((node) => comparable.has(node.id) || !isAppend(node));
  const all = withAncestors(dag, [...effective, ...compared.map(({ id }) => id)]);
  return {
    effective: all,
    reused: dag.nodes
      .filter((node) => node.kind === "SourceLoad")
      .filter(({ id }) => all.includes(id) && reusable.has(id) && !fresh.has(id)),
    carried: [...assumed, ...touched.filter((node) => !compared.includes(node))],
    compared: compared.filter(({ id }) => comparable.has(id)),
    left,
  };
}

/** The loads that an output is made of. */
export function sourcesOf(dag: CompiledDag, node: DagNode): readonly SourceLoadNode[] {
  const needed = new Set(withAncestors(dag, [node.id]));
  return dag.nodes.filter((other) => other.kind === "SourceLoad").filter(({ id }) => needed.has(id));
}

/** Whether a node adds rows to those that are there, so that doing it twice is not the same as once. */
export function isAppend(node: SinkWriteNode): boolean {
  return node.write.strategy === "append";
}

function isBehind({ dependsOn }: DagNode, ids: ReadonlySet<string>): boolean {
  return dependsOn.some((id) => ids.has(id));
}
