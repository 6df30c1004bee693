import { join } from "node:path";

/** One node of run_results.json or one line of the journal. */
export type NodeResult = {
  readonly id: string;
  readonly kind: string;
  readonly name: string;
  readonly status: string;
  readonly rows: number;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly partitions?: {
    readonly total: number;
    readonly completed: number;
    readonly reused: number;
    readonly resumed: number;
  };
  readonly delivery?: {
    readonly abort_semantics: string;
    readonly rows_visible: number;
    readonly resumed_rows: number;
  };
};

export type Receipt = {
  readonly runId: string;
  readonly status: string;
  readonly finishedAt?: string;
  readonly interrupted?: boolean;
  readonly nodes: readonly NodeResult[];
};

/** The ids of a project's runs, oldest first. */
export function runIds(project: string): string[] {
  try {
    return [...Deno.readDirSync(join(project, ".pz", "runs"))].map(({ name }) => name).sort();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

/** A file of the newest run, as text. */
export function readRunFile(project: string, name: string): string {
  const runId = runIds(project).at(-1);
  if (runId === undefined) throw new Error(`'${project}' has no run`);
  return Deno.readTextFileSync(join(project, ".pz", "runs", runId, name));
}

/** run_results.json of the newest run. */
export function readReceipt(project: string): Receipt {
  return JSON.parse(readRunFile(project, "run_results.json"));
}

/** The whole lines of the newest run's journal that describe a node; a torn last line is left out. */
export function readJournal(project: string): NodeResult[] {
  const lines = readRunFile(project, "journal.ndjson").split("\n").slice(0, -1);
  return lines.map((line): NodeResult => JSON.parse(line)).filter((entry) => "name" in entry && "status" in entry);
}
