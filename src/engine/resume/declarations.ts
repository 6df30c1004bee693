import type { CompiledDag, SinkWriteNode } from "../../compile/mod.ts";
import type { NodeFact, Try } from "../../state/mod.ts";
import { connectionHash } from "./connection_hash.ts";
import { connectionOf, triesOf } from "./facts.ts";
import { isAppend } from "./work.ts";

/** What is known of the nodes of today's project, and of outputs that it does not have any more what to tell people. */
export type Declared = { readonly facts: ReadonlyMap<string, NodeFact>; readonly notes: readonly string[] };

/**
 * Rows that were appended, or may have been, under another declaration of an output stand in its target all the same: what
 * is known of outputs that the project does not have any more goes over to the new appends that mean the same. Where it is
 * not certain which one does, or whether rows have landed, the new append has tries that nobody can look up.
 */
export function withDeclarations({ nodes }: CompiledDag, former: ReadonlyMap<string, NodeFact>): Declared {
  const ids = new Set(nodes.map(({ id }) => id));
  const outputs = nodes.filter((node) => node.kind === "SinkWrite");
  const names = new Set(outputs.map(({ name }) => name));
  const orphans = [...former.values()].filter((fact) => fact.kind === "SinkWrite" && !ids.has(fact.id));
  const facts = new Map(former);
  const notes: string[] = [];
  for (const node of outputs.filter((output) => isAppend(output) && !former.has(output.id))) {
    const same = orphans.filter(({ name }) => name === node.name);
    const [only, ...others] = same;
    const rivals = outputs.filter(({ id, name }) => name === node.name && !former.has(id));
    if (only !== undefined) {
      const isCertain = others.length === 0 && rivals.length === 1;
      facts.set(node.id, isCertain ? { ...elsewhere(only), id: node.id } : unknown(node, same));
      if (isCertain) facts.delete(only.id);
      continue;
    }
    const renamed = orphans.filter(({ name }) => !names.has(name));
    const doubtful = renamed.filter((fact) => mayBe(node, fact));
    const moved = renamed.filter((fact) => isMoved(node, fact));
    const [one, ...more] = moved;
    if (one !== undefined && more.length === 0 && doubtful.length === 0) {
      facts.set(node.id, { ...elsewhere(one), id: node.id, name: node.name });
    } else if (moved.length + doubtful.length > 0) {
      facts.set(node.id, unknown(node, [...moved, ...doubtful]));
    }
    for (const fact of renamed) {
      if (fact.done === undefined || moved.includes(fact) || doubtful.includes(fact) || !isNear(node, fact)) continue;
      notes.push(
        `'${fact.name}' was appended by run ${fact.done.run} and is gone: '${node.name}' is appended as another output`,
      );
    }
  }
  return { facts, notes };
}

/** Of an output that was done: the same entity at the same place, of a connection with another name. */
function isMoved(node: SinkWriteNode, fact: NodeFact): boolean {
  return fact.done !== undefined && isNear(node, fact) && entityOf(fact.name) === entityOf(node.name);
}

/** Whether an output may have put rows where a new one is going to append. */
function mayBe(node: SinkWriteNode, fact: NodeFact): boolean {
  if (isMoved(node, fact) || triesOf(fact).length === 0) return false;
  const isSameEntity = entityOf(fact.name) === entityOf(node.name);
  return isSameEntity || (fact.done === undefined && isNear(node, fact));
}

/** Whether an output went where the connection of a node leads. */
function isNear({ connection }: SinkWriteNode, fact: NodeFact): boolean {
  const place = connectionHash(connection);
  return triesOf(fact).some((one) => one.place === place);
}

function entityOf(output: string): string {
  return output.slice(connectionOf(output).length);
}

/** A fact whose tries were made under another declaration. */
function elsewhere(fact: NodeFact): NodeFact {
  const foreign = (tries: readonly Try[]) => tries.map((one) => ({ ...one, foreign: true as const }));
  const did = fact.done === undefined ? undefined : { ...fact.done, tries: foreign(triesOf({ ...fact, tries: [] })) };
  return { ...fact, done: did, tries: foreign(fact.tries) };
}

/** A node of which it is not known whether its rows are there. */
function unknown({ id, kind, name }: SinkWriteNode, facts: readonly NodeFact[]): NodeFact {
  return { id, kind, name, tries: facts.flatMap((fact) => triesOf(elsewhere(fact))) };
}
