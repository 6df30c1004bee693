import { join } from "node:path";
import { ordinal } from "../util/mod.ts";
import { blockedFolder } from "./folders.ts";
import { RUN_ID_REGEXP } from "./run_id.ts";

/** Ids of the run folders of a project, newest first; folders with other names are not runs. PZ0531 where a file is in the way. */
export async function listRunIds(projectRoot: string): Promise<readonly string[]> {
  const runs = join(projectRoot, ".pz", "runs");
  const ids: string[] = [];
  try {
    for await (const entry of Deno.readDir(runs)) {
      if (entry.isDirectory && RUN_ID_REGEXP.test(entry.name)) ids.push(entry.name);
    }
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw blockedFolder(runs) ?? error;
  }
  return ids.sort((a, b) => ordinal(b, a));
}
