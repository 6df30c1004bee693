import { dirname } from "node:path";
import type { ConfigMap, ConnectorContext } from "../../contract/mod.ts";
import { isInside, realPath, rootOf } from "./place.ts";

/** Which of these paths, as they are written and with their links followed, the grant of a connection's root leaves out. */
export function outsideRoot(paths: readonly string[], config: ConfigMap, context: ConnectorContext): readonly string[] {
  const root = rootOf(config, context).path;
  const real = realPath(root);
  const outside = new Set<string>();
  for (const path of paths) {
    if (!isInside(root, path)) outside.add(path);
    const followed = realPath(path);
    if (!isInside(real, followed)) outside.add(followed);
  }
  return [...outside];
}

/** The outermost folder that has to be made for a path, or the path itself where it is there. */
export function outermostMissing(path: string): string {
  for (let at = path;; at = dirname(at)) {
    const parent = dirname(at);
    if (parent === at || exists(parent)) return at;
  }
}

function exists(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch {
    return false;
  }
}
