import { join } from "node:path";
import { isRunLive, RUN_ID_REGEXP, runPaths } from "../../state/mod.ts";
import { ordinal } from "../../util/mod.ts";
import type { NodeContext } from "../run_context.ts";

/** A folder of one attempt of a node, which disposing deletes with all that it holds. */
export type StagedFolder = AsyncDisposable & { readonly path: string };

/** What of an attempt's context says where its files are. */
type Place = Pick<NodeContext, "attempt"> & {
  readonly run: { readonly project: { readonly root: string }; readonly runId: string };
};
type StagedNode = { readonly id: string; readonly connection: { readonly name: string } };

const JOURNALS = "journals";

/** The folder within a run's that a connection's process may use. */
export function connectionFolder(projectRoot: string, runId: string, connection: string): string {
  return join(runPaths(projectRoot, runId).files, connection);
}

/** Makes the empty folder of an attempt. */
export async function openStagedFolder(
  { run: { project, runId }, attempt }: Place,
  node: StagedNode,
): Promise<StagedFolder> {
  const path = join(connectionFolder(project.root, runId, node.connection.name), `${node.id}-${attempt}`);
  await removeTree(path);
  await Deno.mkdir(path, { recursive: true });
  return { path, [Symbol.asyncDispose]: () => removeTree(path) };
}

/** The file in which a connector notes what an attempt would leave behind at its system; its folder is made. */
export async function journalOf(
  { run: { project, runId }, attempt }: Place,
  node: StagedNode,
): Promise<string> {
  const folder = join(connectionFolder(project.root, runId, node.connection.name), JOURNALS);
  await Deno.mkdir(folder, { recursive: true });
  return join(folder, `${node.id}-${attempt}`);
}

/**
 * Journals of attempts that died: those of a node in this run, and those of a connection in runs that live no more, which
 * are this run's from now on. What such runs left of files is deleted.
 */
export async function leftoverJournals(
  { run: { project, runId }, attempt }: Place,
  node: StagedNode,
): Promise<readonly string[]> {
  const own = join(connectionFolder(project.root, runId, node.connection.name), JOURNALS);
  const found = (await namesIn(own)).filter((name) =>
    name.startsWith(`${node.id}-`) && name !== `${node.id}-${attempt}`
  )
    .map((name) => join(own, name));
  for (const dead of await namesIn(join(runPaths(project.root, runId).folder, ".."))) {
    if (dead === runId || !RUN_ID_REGEXP.test(dead)) continue;
    const folder = connectionFolder(project.root, dead, node.connection.name);
    if (!await exists(folder) || await isRunLive(runPaths(project.root, dead).lock)) continue;
    for (const name of await namesIn(join(folder, JOURNALS))) {
      const taken = join(own, `${dead}-${name}`);
      if (await moved(join(folder, JOURNALS, name), taken)) found.push(taken);
    }
    await removeTree(folder);
  }
  return found;
}

/** Whether something stands at a path. */
export async function exists(path: string): Promise<boolean> {
  try {
    await Deno.lstat(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/** False: another node has taken it. */
async function moved(from: string, to: string): Promise<boolean> {
  try {
    await Deno.rename(from, to);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return (await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name).sort(ordinal);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

/** Deletes a folder, if it is there. What can't be deleted is only in the way. */
async function removeTree(path: string): Promise<void> {
  try {
    await Deno.remove(path, { recursive: true });
  } catch { /* `pz clean` tells of it */ }
}
