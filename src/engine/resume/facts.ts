import type { NodeFact, StoredNode, StoredRun, Try } from "../../state/mod.ts";

/**
 * What a run and those that it is a retry of tell of each node, by node id. What the run itself recorded comes after
 * what it took over; a write that began and has no end that is known keeps its tries.
 */
export function factsOf({ summary: { runId }, nodes, started, intent }: StoredRun): ReadonlyMap<string, NodeFact> {
  const facts = new Map((intent?.inherited ?? []).map((fact) => [fact.id, fact]));
  const tries = new Map<string, Try[]>();
  for (const { id, name, attempt } of started) {
    const known = tries.get(id) ?? [];
    tries.set(id, [...known, { run: runId, ordinal: attempt }]);
    const target = intent?.connections?.[connectionNameOf(name)];
    facts.set(id, { ...(facts.get(id) ?? { id, kind: "SinkWrite", name, tries: [] }), status: undefined, target });
  }
  const ended = new Set(nodes.map(({ id }) => id));
  for (const [id, own] of tries) {
    const fact = facts.get(id);
    if (fact !== undefined && !ended.has(id)) facts.set(id, { ...fact, tries: [...fact.tries, ...own] });
  }
  for (const node of nodes) {
    const connection = node.connection === undefined ? undefined : intent?.connections?.[node.connection];
    facts.set(node.id, merge(facts.get(node.id), node, { run: runId, connection, tries: tries.get(node.id) ?? [] }));
  }
  return facts;
}

/**
 * What the target of an append that is run again is asked for, oldest first. An append that was done is run again only where
 * its connection's settings have changed, which may lead to the same place all the same.
 */
export function triesOf(fact: NodeFact | undefined): readonly Try[] {
  const { done, tries = [] } = fact ?? {};
  if (done === undefined || tries.some(({ run }) => run === done.run)) return tries;
  return [...tries, { run: done.run, ordinal: 1 }];
}

/** The connection in the name of an output. */
function connectionNameOf(name: string): string {
  return name.split(".", 1)[0] ?? name;
}

type Of = { readonly run: string; readonly connection: string | undefined; readonly tries: readonly Try[] };

function merge(former: NodeFact | undefined, node: StoredNode, of: Of): NodeFact {
  const { id, kind, name, rows } = node;
  const status = node.status === "success" || node.status === "failed" ? node.status : "skipped";
  const target = kind === "SinkWrite" ? of.connection ?? former?.target : undefined;
  const before = former?.tries ?? [];
  if (status === "success") {
    // What was carried forward was done by the run before; what an earlier try had landed stands under that one's name.
    const isCarried = node.provenance === "carried_forward" && former?.done !== undefined;
    const done = isCarried ? former.done : { run: of.run, rows, connection: of.connection };
    return { id, kind, name, status, done, tries: isCarried ? before : [...before, ...of.tries], target };
  }
  // What DuckDB writes by itself is known by its name or its marker, so that nothing speaks against asking.
  const unclear = node.outcomeUnknown || node.rowsVisible > 0 || node.strategy !== "arrow_stream" ? of.tries : [];
  return { id, kind, name, status, done: former?.done, tries: [...before, ...unclear], target };
}
