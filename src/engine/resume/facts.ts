import type { NodeFact, StoredNode, StoredRun, Try } from "../../state/mod.ts";

/**
 * What a run and those that it is a retry of tell of each node, by node id. What the run itself recorded comes after
 * what it took over; a write that began and has no end that is known keeps its tries, and so does one that may have begun.
 */
export function factsOf(run: StoredRun): ReadonlyMap<string, NodeFact> {
  const { summary: { runId }, nodes, started, intent } = run;
  const facts = new Map((intent?.inherited ?? []).map((fact) => [fact.id, fact]));
  const tries = new Map<string, Try[]>();
  const tryOf = (name: string, ordinal: number): Try => {
    const place = intent?.connections?.[connectionOf(name)];
    return { run: runId, ordinal, ...(place === undefined ? {} : { place }) };
  };
  for (const { id, name, attempt } of [...started, ...unrecorded(run)]) {
    const known = tries.get(id) ?? [];
    tries.set(id, [...known, tryOf(name, attempt)]);
    facts.set(id, { ...(facts.get(id) ?? { id, kind: "SinkWrite", name, tries: [] }), status: undefined });
  }
  const ended = new Set(nodes.map(({ id }) => id));
  for (const [id, own] of tries) {
    const fact = facts.get(id);
    if (fact !== undefined && !ended.has(id)) facts.set(id, { ...fact, tries: [...fact.tries, ...own] });
  }
  for (const node of nodes) {
    const connection = node.connection === undefined ? undefined : intent?.connections?.[node.connection];
    const known = tries.get(node.id) ?? (isUnclear(node) ? [tryOf(node.name, 1)] : []);
    facts.set(node.id, merge(facts.get(node.id), node, { run: runId, connection, tries: known }));
  }
  return facts;
}

/**
 * What the target of an append that is run again is asked for, oldest first. An append that was done is run again only where
 * its connection's settings have changed, which may lead to the same place all the same. The first one names its files.
 */
export function triesOf(fact: NodeFact | undefined): readonly Try[] {
  if (fact?.done === undefined) return fact?.tries ?? [];
  const { run, connection: place, tries = [] } = fact.done;
  const did = tries.length > 0 ? tries : [{ run, ordinal: 1, ...(place === undefined ? {} : { place }) }];
  return [...did, ...fact.tries];
}

/** The name of the connection of an output. */
export function connectionOf(output: string): string {
  return output.split(".", 1)[0] ?? output;
}

/**
 * Outputs of which a run that did not end tells nothing, although they may have begun: those that do not note that they
 * begin, and where records are lost all of them.
 */
function unrecorded({ summary, nodes, started, intent, isRecordLost }: StoredRun): StoredRun["started"] {
  if (summary.finishedAt !== null) return [];
  const known = new Set([...nodes, ...started].map(({ id }) => id));
  return (intent?.outputs ?? [])
    .filter(({ id, append }) => !known.has(id) && (isRecordLost || !append))
    .map(({ id, name }) => ({ id, name, attempt: 1 }));
}

function isUnclear({ kind, status, outcomeUnknown, rowsVisible }: StoredNode): boolean {
  return kind === "SinkWrite" && status === "failed" && (outcomeUnknown || rowsVisible > 0);
}

type Of = { readonly run: string; readonly connection: string | undefined; readonly tries: readonly Try[] };

function merge(former: NodeFact | undefined, node: StoredNode, of: Of): NodeFact {
  const { id, kind, name, rows } = node;
  const status = node.status === "success" || node.status === "failed" ? node.status : "skipped";
  if (status === "success") {
    const tries = kind === "SinkWrite" ? [...triesOf(former), ...of.tries] : [];
    // What was carried forward was done by the run before.
    const done = node.provenance === "carried_forward" && former?.done !== undefined
      ? former.done
      : { run: of.run, rows, connection: of.connection, ...(tries.length === 0 ? {} : { tries }) };
    return { id, kind, name, status, done, tries: [] };
  }
  // What DuckDB writes by itself is known by its name or its marker, so that nothing speaks against asking.
  const unclear = isUnclear(node) || node.strategy !== "arrow_stream" ? of.tries : [];
  return { id, kind, name, status, done: former?.done, tries: [...former?.tries ?? [], ...unclear] };
}
