import { BINARY, type PzResult } from "../../harness/cli.ts";
import { Duck } from "../../harness/duck.ts";
import { listFiles, TempDir, writeFiles } from "../../harness/temp_dir.ts";
import { runWithFault } from "../fault_run.ts";
import type { Place, Target } from "./target.ts";

/** What to do at a point. */
export const ACTIONS = ["kill", "int", "throw", "full"] as const;
export type Action = typeof ACTIONS[number];

/** What a run that nothing happens to leaves, and the points that it passes, with how often. */
export type Whole = {
  readonly content: string;
  readonly litter: readonly string[];
  readonly points: ReadonlyMap<string, number>;
};

/** What one cell of the matrix shows. */
export type CellEnd = {
  /** How the run with the fault ended: `exit 1`, `SIGKILL`. */
  readonly ended: string;
  /** How many retries it took. */
  readonly retries: number;
  /** What is wrong; empty: nothing. */
  readonly faults: readonly string[];
};

const RUN = ["run", "--all"];
const MAX_RETRIES = 3;
let count = 0;

/** Points that only a retry passes. */
export const RETRY_POINTS = ["staging_copied", "staging_pruned"];

/** Runs a target's project undisturbed. */
export async function runWhole(target: Target): Promise<Whole> {
  return await inPlace(target, async (place) => {
    const log = `${place.folder}/reached.log`;
    const result = await runWithFault(RUN, { cwd: place.folder, log, ...envOf(target) });
    if (result.code !== 0) throw new Error(`${target.name}: ${result}`);
    const points = new Map<string, number>();
    for (const point of Deno.readTextFileSync(log).trim().split("\n")) points.set(point, (points.get(point) ?? 0) + 1);
    return { content: await target.content(place), litter: await target.litter(place), points };
  });
}

/** What happens in a run, and what in its first retry: `point:nth:action`. */
export type Faults = { readonly run: string; readonly retry?: string };

/** Runs a target's project with something happening at a point, retries until all is done, and compares. */
export async function runCell(target: Target, whole: Whole, at: Faults): Promise<CellEnd> {
  return await inPlace(target, async (place) => {
    const faults: string[] = [];
    let child: Deno.ChildProcess | undefined;
    const log = `${place.folder}/reached.log`;
    const first = await runWithFault(RUN, {
      cwd: place.folder,
      fault: at.run,
      log,
      ...envOf(target),
      onStart: (started) => child = started,
    });
    if (!Deno.readTextFileSync(log).includes("!")) faults.push("the point was not reached");
    faults.push(...await orphans(place.folder, child?.pid));
    let last = first;
    let said = `${first.stdout}${first.stderr}`;
    let retries = 0;
    if (at.retry !== undefined) {
      Deno.removeSync(log);
      last = await runWithFault(["retry"], { cwd: place.folder, fault: at.retry, log, ...envOf(target) });
      said += `${last.stdout}${last.stderr}`;
      retries++;
      if (!Deno.readTextFileSync(log).includes("!")) faults.push("the point was not reached in the retry");
    }
    while (last.code !== 0 && retries < MAX_RETRIES) {
      last = await retry(place, target);
      said += `${last.stdout}${last.stderr}`;
      retries++;
    }
    if (last.code !== 0) faults.push(`it did not end well: ${last}`);
    if (target.judge !== undefined) faults.push(...target.judge(place, whole.content, said));
    else {
      const content = await target.content(place);
      if (content !== whole.content) faults.push(`the target has ${content} instead of ${whole.content}`);
    }
    const litter = await target.litter(place);
    if (String(litter) !== String(whole.litter)) faults.push(`left behind: ${litter} instead of ${whole.litter}`);
    faults.push(...await spilled(place.folder));
    return { ended: first.signal ?? `exit ${first.code}`, retries, faults };
  });
}

/** A retry; where the run died before it was one, a run. */
async function retry(place: Place, target: Target): Promise<PzResult> {
  const result = await runWithFault(["retry"], { cwd: place.folder, ...envOf(target) });
  return result.stderr.includes("PZ0502") ? await runWithFault(RUN, { cwd: place.folder, ...envOf(target) }) : result;
}

function envOf({ env }: Target): { readonly env?: { readonly [name: string]: string } } {
  return env === undefined ? {} : { env };
}

async function inPlace<T>(target: Target, work: (place: Place) => Promise<T>): Promise<T> {
  using duck = await Duck.open();
  await using folder = await TempDir.create();
  const place = { folder: folder.path, name: `t${Deno.pid}_${++count}`, duck };
  await writeFiles(folder.path, target.files(place));
  await target.prepare(place);
  return await work(place);
}

const PATIENCE_MS = 3000;
const PAUSE_MS = 20;

/** Processes that outlive a run: those that work in its folder. */
async function orphans(folder: string, pid: number | undefined): Promise<readonly string[]> {
  if (Deno.build.os !== "linux") return [];
  const end = Date.now() + PATIENCE_MS;
  for (;;) {
    // Deno itself may only look there with every permission that there is.
    const { stdout } = await new Deno.Command("find", {
      args: ["/proc", "-maxdepth", "2", "-name", "cwd", "-lname", folder],
      stdout: "piped",
      stderr: "null",
    }).output();
    const found = new TextDecoder().decode(stdout).split("\n").filter((path) =>
      path !== "" && path !== `/proc/${pid}/cwd`
    );
    if (found.length === 0) return [];
    if (Date.now() > end) return found.map((path) => `a process lives on: ${path}`);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}

/** Files below the project that no run needs any more. */
async function spilled(folder: string): Promise<readonly string[]> {
  const files = await listFiles(folder);
  return files
    .filter((name) => name.startsWith(".pz/tmp/") || /\/spill\//.test(name) || name.endsWith(".tmp"))
    // The newest receipt may be one whose writer was killed.
    .filter((name) => !name.startsWith(".pz/runs/"))
    .map((name) => `left behind: ${name}`);
}

/** For a table's title. */
export const UNDER_TEST = BINARY === undefined ? "source" : "binary";
