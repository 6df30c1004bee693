import { ordinal } from "../util/mod.ts";

/** What ordering needs to know of a node. */
export type Orderable = { readonly id: string; readonly rank: number; readonly name: string };

/**
 * Orders nodes so that each comes after all that it depends on; among those that are ready, the lowest rank, then the
 * ordinally first name, then id, comes first. Nodes on or behind a cycle are left out of `ordered` and named in `stuck`.
 */
export function topologicalOrder<T extends Orderable>(
  nodes: readonly T[],
  dependsOn: (node: T) => readonly string[],
): { readonly ordered: readonly T[]; readonly stuck: readonly T[] } {
  const waiting = new Map<string, number>();
  const dependents = new Map<string, T[]>();
  const ready = new Heap<T>(compareReady);
  for (const node of nodes) {
    const needs = new Set(dependsOn(node));
    waiting.set(node.id, needs.size);
    if (needs.size === 0) ready.push(node);
    for (const id of needs) {
      const list = dependents.get(id);
      if (list === undefined) dependents.set(id, [node]);
      else list.push(node);
    }
  }
  const ordered: T[] = [];
  for (let next = ready.pop(); next !== undefined; next = ready.pop()) {
    ordered.push(next);
    for (const dependent of dependents.get(next.id) ?? []) {
      const left = (waiting.get(dependent.id) ?? 0) - 1;
      waiting.set(dependent.id, left);
      if (left === 0) ready.push(dependent);
    }
  }
  return { ordered, stuck: nodes.filter((node) => (waiting.get(node.id) ?? 0) > 0) };
}

/** The order of nodes that are ready at the same time. */
export function compareReady(a: Orderable, b: Orderable): number {
  return a.rank - b.rank || ordinal(a.name, b.name) || ordinal(a.id, b.id);
}

/** A binary min-heap. */
class Heap<T> {
  readonly #items: T[] = [];
  readonly #compare: (a: T, b: T) => number;

  constructor(compare: (a: T, b: T) => number) {
    this.#compare = compare;
  }

  push(item: T): void {
    const items = this.#items;
    let at = items.push(item) - 1;
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = items[above];
      if (parent === undefined || this.#compare(item, parent) >= 0) break;
      items[at] = parent;
      at = above;
    }
    items[at] = item;
  }

  pop(): T | undefined {
    const items = this.#items;
    const top = items[0];
    const last = items.pop();
    if (top === undefined || last === undefined || items.length === 0) return top;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      const left = items[child];
      if (left === undefined) break;
      let smallest = left;
      const right = items[child + 1];
      if (right !== undefined && this.#compare(right, left) < 0) {
        smallest = right;
        child++;
      }
      if (this.#compare(last, smallest) <= 0) break;
      items[at] = smallest;
      at = child;
    }
    items[at] = last;
    return top;
  }
}
