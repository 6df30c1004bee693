import { basename, dirname, join } from "node:path";
import type { CompiledDag } from "../compile/mod.ts";
import type { NativeCopy } from "../connectors/mod.ts";
import { isRunLive, RUN_ID_REGEXP, runPaths } from "../state/mod.ts";
import { ordinal, syncFolder } from "../util/mod.ts";
import { publication } from "./publication.ts";
import { ASIDE, TRASH } from "./publish.ts";

type Move = NativeCopy["moves"][number];

/** Something that a run left beside a sink's target. */
type Leftover = {
  readonly path: string;
  /** The final name that it belongs to. */
  readonly target: string;
  readonly kind: "aside" | "temporary";
  /** Whether the run is one of this project's; the work of others is none of our business. */
  readonly ours: boolean;
};

/**
 * Repairs what died runs left beside the outputs of a project. To be done before anything looks at the project's data:
 * one of its own outputs may be a source of it as well. Returns what could not be repaired, for people.
 */
export async function recoverOutputs({ project, nodes }: CompiledDag, runId: string): Promise<readonly string[]> {
  const troubles: string[] = [];
  for (const move of nodes.flatMap((node) => movesOf(node, project.root, runId))) {
    try {
      await recoverTargets(project.root, runId, [move]);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      troubles.push(`What an earlier run left beside '${move.to}' was not put in order: ${reason}`);
    }
  }
  return troubles;
}

/** The moves by which an output is published; whether it can be written at all is looked at later. */
function movesOf(node: CompiledDag["nodes"][number], projectRoot: string, run: string): readonly Move[] {
  return node.kind === "SinkWrite" ? publication(node, projectRoot, run)?.moves ?? [] : [];
}

/**
 * Repairs what died runs left beside the targets of these moves, whose temporary names carry this run's id. A folder
 * that was put aside for a swap which never happened gets its name back; other temporary names of runs of this project
 * that live no more are deleted. Whatever belongs to a run that lives is left alone.
 */
export async function recoverTargets(projectRoot: string, runId: string, moves: readonly Move[]): Promise<void> {
  for (const move of moves) {
    const leftovers = await findLeftovers(projectRoot, runId, move);
    for (const { path, target, kind, ours } of leftovers) {
      if (kind === "aside" && !exists(target)) {
        Deno.renameSync(path, target);
        syncFolder(dirname(target));
      } else if (ours) {
        await discard(path, kind);
      }
    }
  }
}

/** An aside is complete as long as it has its name: it loses the name before its content. */
async function discard(path: string, kind: Leftover["kind"]): Promise<void> {
  const doomed = kind === "aside" ? `${path}${TRASH}` : path;
  if (kind === "aside") Deno.renameSync(path, doomed);
  await Deno.remove(doomed, { recursive: true });
}

/** Leftovers of the newest run first. */
async function findLeftovers(projectRoot: string, runId: string, { from, to }: Move): Promise<readonly Leftover[]> {
  const sample = basename(from);
  const [prefix = ""] = sample.split(runId);
  if (prefix === sample) return [];
  const found: (Leftover & { readonly run: string })[] = [];
  for (const name of namesIn(dirname(from))) {
    // The file of an append may be named by an earlier run; the temporary name ends with the run that writes it.
    const [first = "", run = first] = [name.match(RUN_IDS)?.[0], name.match(RUN_IDS)?.at(-1)];
    if (!name.startsWith(prefix + first) || first === "" || run === runId || !isOfShape(name, sample)) continue;
    const paths = runPaths(projectRoot, run);
    if (await isRunLive(paths.lock)) continue;
    found.push({
      path: join(dirname(from), name),
      target: join(dirname(to), basename(to).replaceAll(runId, first)),
      kind: name.endsWith(ASIDE) ? "aside" : "temporary",
      ours: exists(paths.folder),
      run,
    });
  }
  return found.sort((a, b) => ordinal(b.run, a.run) || ordinal(b.path, a.path));
}

const RUN_IDS = new RegExp(RUN_ID_REGEXP.source.slice(1, -1), "g");

/** Whether a name is a temporary name of a run, of whichever attempt, put aside or not. */
function isOfShape(name: string, sample: string): boolean {
  const neutral = (text: string) => text.replaceAll(RUN_IDS, "*").replace(/\*-\d+(?=\.[a-z]+$)/, "*");
  const plain = [TRASH, ASIDE].reduce((rest, end) => rest.endsWith(end) ? rest.slice(0, -end.length) : rest, name);
  return neutral(plain) === neutral(sample);
}

function namesIn(folder: string): readonly string[] {
  try {
    return [...Deno.readDirSync(folder)].map(({ name }) => name);
  } catch (error) {
    // Where a file stands in the way no run has left anything.
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) return [];
    throw error;
  }
}

function exists(path: string): boolean {
  try {
    Deno.lstatSync(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}
