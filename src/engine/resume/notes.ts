import type { CompiledDag, DagNode } from "../../compile/mod.ts";
import type { NodeFact } from "../../state/mod.ts";
import { triesOf } from "./facts.ts";
import { isAppend, type Work } from "./work.ts";

/** What was found of the earlier run, and what came of it. */
export type Story = {
  readonly work: Work;
  /** Why loads that are done can't be taken over, by node id. */
  readonly obstacles: ReadonlyMap<string, string>;
  /** How many partitions of unfinished loads are there, by node id. */
  readonly progress: ReadonlyMap<string, number>;
  /** Why nothing of the earlier staging is used; undefined: it is. */
  readonly staging: string | undefined;
};

type Of = {
  readonly dag: CompiledDag;
  readonly facts: ReadonlyMap<string, NodeFact>;
  /** By the ids that the nodes had in the earlier run. */
  readonly former: ReadonlyMap<string, NodeFact>;
  readonly retryOf: string;
  /** Names of outputs that are written again, whatever stands in the target. */
  readonly redelivered: ReadonlySet<string>;
};

/** Tells people what a retry takes over of an earlier run, what it does anew and why. */
export function resumeNotes({ dag, facts, former, retryOf, redelivered }: Of, story: Story): readonly string[] {
  const { work, obstacles, progress, staging } = story;
  const running = new Set(work.effective);
  const notes: string[] = [];
  const { length: reused } = work.reused;
  const { length: carried } = work.carried;
  if (reused > 0) notes.push(`reusing staged data for ${reused} source load(s) from run ${retryOf}`);
  if (carried > 0) notes.push(`carrying forward ${carried} committed sink write(s) from run ${retryOf}`);
  notes.push(...changes(dag, former, running, retryOf));
  const unused = dag.nodes.filter(({ id }) => running.has(id) && obstacles.has(id));
  if (staging !== undefined && unused.length > 0) {
    notes.push(`the staged data of run ${retryOf} is not used: ${staging}; ${unused.length} source load(s) read anew`);
  } else {
    for (const { id, name } of unused) {
      notes.push(`'${name}' is read anew: ${obstacles.get(id)} in run ${retryOf}`);
    }
  }
  for (const { id, name } of dag.nodes) {
    const parts = progress.get(id);
    if (parts !== undefined) {
      notes.push(`'${name}' goes on where run ${retryOf} stopped: ${parts} partition(s) are staged`);
    }
  }
  for (const node of work.left) {
    notes.push(
      `'${node.name}' was appended by run ${facts.get(node.id)?.done?.run ?? retryOf} and is not appended again, ` +
        `although what it is made of is new; --redeliver ${node.name} appends it`,
    );
  }
  for (const node of dag.nodes) {
    if (node.kind !== "SinkWrite" || !running.has(node.id) || !isAppend(node) || redelivered.has(node.name)) continue;
    const tries = triesOf(facts.get(node.id));
    const last = tries.at(-1);
    if (last !== undefined && !tries.some(({ foreign }) => foreign)) {
      notes.push(`run ${last.run} may have appended to '${node.name}': what has landed is not appended again`);
    }
  }
  return notes;
}

/** Nodes that are others than in the earlier run, or no more. */
function changes(
  { nodes }: CompiledDag,
  facts: ReadonlyMap<string, NodeFact>,
  running: ReadonlySet<string>,
  retryOf: string,
): readonly string[] {
  const ids = new Set(nodes.map(({ id }) => id));
  const named = new Map(nodes.map((node) => [keyOf(node), node]));
  const notes = new Set<string>();
  for (const fact of facts.values()) {
    if (ids.has(fact.id)) continue;
    const now = named.get(keyOf(fact));
    if (now === undefined) {
      if (fact.status !== "success") notes.add(`'${fact.name}' is gone since run ${retryOf}`);
    } else if (running.has(now.id)) {
      notes.add(`'${fact.name}' changed since run ${retryOf}: it runs anew, with what hangs on it`);
    }
  }
  return [...notes];
}

function keyOf({ kind, name }: Pick<DagNode, "name"> & { readonly kind: string }): string {
  return `${kind} ${name}`;
}
