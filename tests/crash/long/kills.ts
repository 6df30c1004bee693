import assert from "node:assert/strict";
import { join } from "node:path";
import { startPz } from "../../harness/cli.ts";
import { Duck } from "../../harness/duck.ts";
import { type NodeResult, readJournal, readReceipt, runIds } from "../../harness/run_files.ts";
import { TempDir } from "../../harness/temp_dir.ts";
import { type Content, targets, writeInput, writeProject } from "./project.ts";

const KILLS = 50;
/** So many must fall between the first and the last completion. */
const KILLS_WITHIN = 30;
/** One kill in so many comes at any time after the start; the others come after a completion. */
const ANY_TIME_EVERY = 8;
const MIN_RUN_MS = 3000;
/** Rows of the first try to make a run that takes so long. */
const FIRST_ROWS = 200_000;
const JSON_RUN = ["run", "--all", "--log-format", "json"];

/** What a whole run does, and when. */
type Whole = {
  readonly durationMs: number;
  /** From the first to the last completion. */
  readonly spanMs: number;
  readonly nodes: number;
  readonly before: ReadonlyMap<string, Content>;
  readonly after: ReadonlyMap<string, Content>;
};

/** The numbers of what was looked at. */
export type Counts = {
  kills: number;
  within: number;
  announced: number;
  recorded: number;
  tables: number;
  targetsOld: number;
  targetsNew: number;
};

/**
 * Kills runs of at least 3 s at random instants and looks at what is left: what stdout announced is recorded, what is
 * recorded is staged, and every target holds its old rows or its new ones.
 *
 * @param random gives numbers in [0, 1)
 */
export async function killAtRandom(random: () => number, say: (text: string) => void): Promise<Counts> {
  using duck = await Duck.open();
  await using shared = await TempDir.create();
  const input = shared.join("input");
  const whole = await measure(duck, input);
  say(`a whole run: ${Math.round(whole.durationMs)} ms, ${whole.nodes} nodes`);
  const counts = { kills: 0, within: 0, announced: 0, recorded: 0, tables: 0, targetsOld: 0, targetsNew: 0 };
  for (let kill = 0; kill < KILLS; kill++) {
    await using folder = await TempDir.create();
    await writeProject(duck, folder.path, input);
    const stdout = await runAndKill(folder.path, whole, kill % ANY_TIME_EVERY === 0, random);
    await examine(duck, folder.path, stdout, whole, counts);
    if (counts.kills % 10 === 0) say(`${counts.kills} kills, ${counts.within} of them between two completions`);
  }
  assert.ok(counts.within >= KILLS_WITHIN, `only ${counts.within} kills came between two completions`);
  return counts;
}

/** Makes the input so big that a run takes long enough. */
async function measure(duck: Duck, input: string): Promise<Whole> {
  for (let rows = FIRST_ROWS;; rows *= 2) {
    await writeInput(duck, input, { rows });
    await using folder = await TempDir.create();
    await writeProject(duck, folder.path, input);
    const before = await targets(duck, folder.path);
    const start = performance.now();
    await using running = startPz(JSON_RUN, { cwd: folder.path });
    const isEnd = ({ event }: { readonly event?: unknown }) => event === "node_completed";
    assert.ok(await running.until(isEnd));
    const first = performance.now();
    let last = first, nodes = 1;
    while (await running.until(isEnd) !== undefined) [last, nodes] = [performance.now(), nodes + 1];
    const result = await running.finish();
    assert.equal(result.code, 0, result.toString());
    const whole = { durationMs: performance.now() - start, spanMs: last - first, nodes };
    if (whole.durationMs >= MIN_RUN_MS) return { ...whole, before, after: await targets(duck, folder.path) };
  }
}

/** Kills at any time of the run, or a moment after some of its completions, so that the others are still to come. */
async function runAndKill(folder: string, whole: Whole, anyTime: boolean, random: () => number): Promise<string> {
  await using running = startPz(JSON_RUN, { cwd: folder });
  const completions = anyTime ? 0 : 1 + Math.floor(random() * (whole.nodes - 1));
  for (let seen = 0; seen < completions; seen++) await running.until(({ event }) => event === "node_completed");
  const timer = setTimeout(() => {
    try {
      running.kill("SIGKILL");
    } catch { /* it had ended before */ }
  }, random() * (anyTime ? whole.durationMs : whole.spanMs / whole.nodes));
  const { stdout } = await running.finish();
  clearTimeout(timer);
  return stdout;
}

async function examine(duck: Duck, folder: string, stdout: string, whole: Whole, counts: Counts): Promise<void> {
  const announced = completions(stdout);
  counts.kills++;
  counts.announced += announced.length;
  if (announced.length > 0 && announced.length < whole.nodes) counts.within++;

  const recorded = new Map<string, NodeResult>();
  if (runIds(folder).length > 0) { for (const node of recordsOf(folder)) recorded.set(node.id, node); }
  counts.recorded += recorded.size;
  for (const { nodeId, name, status, rows } of announced) {
    const record = recorded.get(nodeId);
    assert.deepEqual([record?.name, record?.status, record?.rows], [name, status, rows], `'${name}' is not recorded`);
  }

  const done = [...recorded.values()].filter(({ status }) => status === "success");
  const staged = await stagedRows(duck, folder, done.filter(({ kind }) => kind !== "SinkWrite"));
  counts.tables += staged;

  for (const [name, content] of await targets(duck, folder)) {
    const [old, renewed] = [whole.before.get(name), whole.after.get(name)];
    const mustBeNew = done.some((node) => node.kind === "SinkWrite" && node.name.endsWith(`.${name}`));
    assert.ok(content === renewed || (content === old && !mustBeNew), `'${name}' holds ${content}, not ${renewed}`);
    if (content === renewed) counts.targetsNew++;
    else counts.targetsOld++;
  }
}

type Completion = {
  readonly nodeId: string;
  readonly name: string;
  readonly status: string;
  readonly rows: number;
};

/** The completions of whole lines. */
function completions(stdout: string): readonly Completion[] {
  const lines = stdout.split("\n").filter((line) => line.endsWith("}"));
  return lines.map((line) => JSON.parse(line)).filter(({ event }) => event === "node_completed");
}

function recordsOf(folder: string): readonly NodeResult[] {
  const records: NodeResult[] = [];
  for (const read of [() => readReceipt(folder).nodes, () => readJournal(folder)]) {
    try {
      records.push(...read());
    } catch (error) {
      // Killed before the first of them was written.
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
  return records;
}

/** Finds the table of each node with its rows; returns how many there are. */
async function stagedRows(duck: Duck, folder: string, nodes: readonly NodeResult[]): Promise<number> {
  if (nodes.length === 0) return 0;
  const runId = runIds(folder).at(-1) ?? "";
  await duck.run(`ATTACH '${join(folder, ".pz", "runs", runId, "staging.duckdb")}' AS left_over`);
  for (const { name, rows } of nodes) {
    const [[count] = []] = await duck.rows(`SELECT count(*) AS n FROM left_over.staging."${name}"`);
    assert.equal(Number(count), rows, `'${name}' has ${count} staged rows`);
  }
  await duck.run("DETACH left_over");
  return nodes.length;
}
