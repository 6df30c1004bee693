import { ordinal } from "../util/mod.ts";

/**
 * One shortest cycle for each group of names that depend on each other, as `a, b, a`; it starts at the ordinally first
 * name of the group that lies on a cycle. `next` gives the names that a name depends on.
 */
export function findCycles(
  names: readonly string[],
  next: (name: string) => readonly string[],
): readonly (readonly string[])[] {
  const cycles: (readonly string[])[] = [];
  const done = new Set<string>();
  for (const name of [...names].sort(ordinal)) {
    if (done.has(name)) continue;
    const path = shortestCycle(name, next, done);
    if (path === undefined) {
      done.add(name);
      continue;
    }
    cycles.push(path);
    for (const member of path) done.add(member);
  }
  return cycles;
}

function shortestCycle(
  start: string,
  next: (name: string) => readonly string[],
  done: ReadonlySet<string>,
): readonly string[] | undefined {
  const cameFrom = new Map<string, string>();
  const queue = [start];
  for (let at = 0; at < queue.length; at++) {
    const name = queue[at] ?? start;
    for (const target of [...next(name)].sort(ordinal)) {
      if (target === start) {
        const path = [start];
        for (let step = name; step !== start; step = cameFrom.get(step) ?? start) path.unshift(step);
        return [start, ...path];
      }
      if (done.has(target) || cameFrom.has(target)) continue;
      cameFrom.set(target, name);
      queue.push(target);
    }
  }
  return undefined;
}
