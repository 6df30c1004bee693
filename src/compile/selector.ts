import { PzError } from "../errors/mod.ts";
import { nearMiss } from "../util/mod.ts";
import type { DagNode } from "./dag.ts";
import { ancestors, descendants, type Graph } from "./graph.ts";

const ATOM = /^(\+)?(?:(tag|source):)?([A-Za-z0-9_.*/-]+)(\+)?$/;

/**
 * The ids that a `--select` expression matches: groups apart by white space are a union, atoms apart by commas an
 * intersection. Every atom that is malformed or matches nothing is a PZ0210.
 */
export function matchExpression(
  graph: Graph,
  expression: string,
): { readonly ids: ReadonlySet<string>; readonly errors: readonly PzError[] } {
  const ids = new Set<string>();
  const errors: PzError[] = [];
  const groups = expression.split(/\s+/).filter((group) => group !== "");
  if (groups.length === 0) {
    errors.push(new PzError("PZ0210", "the selector is empty", { hint: "name a node, such as `--select orders+`" }));
  }
  for (const group of groups) {
    let common: ReadonlySet<string> | undefined;
    for (const atom of group.split(",")) {
      const matched = matchAtom(graph, atom);
      if (matched instanceof PzError) errors.push(matched);
      else common = common === undefined ? matched : common.intersection(matched);
    }
    for (const id of common ?? []) ids.add(id);
  }
  return { ids, errors };
}

function matchAtom(graph: Graph, atom: string): ReadonlySet<string> | PzError {
  const [, up, method, base = "", down] = ATOM.exec(atom) ?? [];
  if (base === "") {
    return new PzError("PZ0210", `the selector atom '${atom}' is malformed`, {
      hint: "an atom is [+]name[+], [+]tag:name[+] or [+]source:connection.entity[+]; `*` stands for any characters",
    });
  }
  const matches = matcher(method, base);
  const seeds = graph.nodes.filter(matches).map((node) => node.id);
  if (seeds.length === 0) {
    return new PzError("PZ0210", `the selector atom '${atom}' matches no node`, { hint: hintFor(graph, method, base) });
  }
  const ids = new Set(seeds);
  if (up !== undefined) { for (const id of ancestors(graph, seeds)) ids.add(id); }
  if (down !== undefined) { for (const id of descendants(graph, seeds)) ids.add(id); }
  return ids;
}

function matcher(method: string | undefined, base: string): (node: DagNode) => boolean {
  if (method === "tag") return (node) => node.tags.includes(base);
  const pattern = wildcard(base);
  if (method === "source") return (node) => node.kind === "SourceLoad" && pattern.test(entityName(node));
  return (node) => pattern.test(node.name);
}

function entityName(node: Extract<DagNode, { kind: "SourceLoad" }>): string {
  return `${node.connection.name}.${node.entity}`;
}

/** An anchored, case-sensitive pattern in which only `*` is special. */
function wildcard(base: string): RegExp {
  const parts = base.split("*").map((part) => part.replaceAll(/[\\^$.|?+()[\]{}/-]/g, "\\$&"));
  return new RegExp(`^${parts.join(".*")}$`, "s");
}

function hintFor(graph: Graph, method: string | undefined, base: string): string {
  const names = method === "tag"
    ? graph.nodes.flatMap((node) => node.tags)
    : method === "source"
    ? graph.nodes.filter((node) => node.kind === "SourceLoad").map(entityName)
    : graph.nodes.map((node) => node.name);
  const meant = nearMiss(base, names);
  return meant === undefined ? "`pz ls` lists the nodes and their tags" : `did you mean '${meant}'?`;
}
