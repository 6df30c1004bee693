import { join } from "node:path";
import { PzError } from "../errors/mod.ts";

/** Whether a folder holds a project. */
export async function isProject(root: string): Promise<boolean> {
  try {
    return (await Deno.stat(join(root, "project.yml"))).isFile;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) return false;
    throw error;
  }
}

/** PZ0101 when a folder holds no project. */
export async function checkProjectFile(root: string): Promise<PzError | undefined> {
  if (await isProject(root)) return undefined;
  return new PzError("PZ0101", "there is no project.yml here", {
    file: "project.yml",
    hint: "run pz in a project's folder, name it with --project, or make one with `pz init`",
  });
}
