import { isAbsolute } from "node:path";
import type { CompiledDag, SinkWriteNode } from "../../compile/mod.ts";
import type { NodeFact } from "../../state/mod.ts";
import { publication } from "../publication.ts";
import { triesOf } from "./facts.ts";
import { type Decisions, doneBefore, isAppend } from "./work.ts";

type Looked = { readonly facts: ReadonlyMap<string, NodeFact>; readonly notes: readonly string[] };

/**
 * Looks whether the files and folders are there that outputs which are done have made on this machine. One that is missing
 * has to be written again, unless it was appended: somebody may have taken what was added, which is told instead. What lies
 * inside of a database, or elsewhere, is not looked at.
 */
export function withoutMissing(
  { nodes, project: { root } }: CompiledDag,
  asked: ReadonlySet<string>,
  former: ReadonlyMap<string, NodeFact>,
  decisions: Decisions,
): Looked {
  const facts = new Map(former);
  const notes: string[] = [];
  for (const node of nodes) {
    const fact = former.get(node.id);
    if (node.kind !== "SinkWrite" || fact?.done === undefined || !asked.has(node.id)) continue;
    if (decisions.assumeDelivered.has(node.name) || !doneBefore(node, former, decisions)) continue;
    const missing = placesOf(node, root, fact).find((path) => !isThere(path));
    if (missing === undefined) continue;
    const what = `'${missing}', which run ${fact.done.run} wrote for '${node.name}', is gone`;
    if (isAppend(node)) {
      notes.push(`${what}: its rows are not appended again; --redeliver ${node.name} appends them`);
      continue;
    }
    notes.push(`${what}: it is written again`);
    facts.set(node.id, { ...fact, status: undefined, done: undefined });
  }
  return { facts, notes };
}

/** What an output has made on this machine, as far as that is known. */
function placesOf(node: SinkWriteNode, root: string, fact: NodeFact): readonly string[] {
  const [first] = triesOf(fact);
  // The name of what an append adds tells its declaration.
  if (first === undefined || (isAppend(node) && first.foreign)) return [];
  const { moves = [], target } = publication(node, root, first.run) ?? {};
  if (moves.length > 0) return moves.map(({ to }) => to);
  return target !== undefined && isAbsolute(target.path) ? [target.path] : [];
}

/** What can't be looked at counts as there. */
function isThere(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch (error) {
    return !(error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory);
  }
}
