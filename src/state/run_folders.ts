import { join } from "node:path";
import { ordinal } from "../util/mod.ts";
import { RUN_ID_REGEXP } from "./run_id.ts";

/** Ids of the run folders of a project, newest first; folders with other names are not runs. */
export async function listRunIds(projectRoot: string): Promise<readonly string[]> {
  const ids: string[] = [];
  try {
    for await (const entry of Deno.readDir(join(projectRoot, ".pz", "runs"))) {
      if (entry.isDirectory && RUN_ID_REGEXP.test(entry.name)) ids.push(entry.name);
    }
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  return ids.sort((a, b) => ordinal(b, a));
}
