import { join } from "node:path";

/** One thing that the test command runs. */
export type Step = {
  readonly title: string;
  readonly command: readonly string[];
  /** `suite`: a test run that counts its own tests. `check`: one test, which passes when the exit code is 0. */
  readonly kind: "suite" | "check";
};

export type StepResult = {
  readonly step: Step;
  readonly passed: number;
  readonly failed: number;
  /** Titles of the tests that the suite itself left out. */
  readonly ignored: readonly string[];
  readonly output: string;
  readonly seconds: number;
};

export type Counts = { readonly passed: number; readonly failed: number; readonly ignored: readonly string[] };

/**
 * The counts of a finished test run, from its uncoloured report. A run that ended badly without a failed test (it
 * crashed, it was killed, nothing loaded) counts as one failure, so that no exit code is lost.
 */
export function countTests(output: string, exitCode: number): Counts {
  const summary = [...output.matchAll(/^(?:ok|FAILED) \| (\d+) passed(?: \(.*?\))? \| (\d+) failed/gm)].at(-1);
  const passed = Number(summary?.[1] ?? 0);
  const failed = Number(summary?.[2] ?? 0);
  const ignored = [...output.matchAll(/^(.*) \.\.\. ignored/gm)].map(([, title]) => title ?? "");
  return { passed, failed: failed === 0 && (exitCode !== 0 || summary === undefined) ? 1 : failed, ignored };
}

/** The steps that run now. */
const running = new Set<Deno.ChildProcess>();

/** Ends every running step with all that it started. A step leads a process group of its own, which no Ctrl-C reaches. */
export function endRunningSteps(): void {
  for (const child of running) endGroup(child);
}

/** Whether each step leads a process group of its own. */
const OWN_GROUP = Deno.build.os !== "windows";

/** Runs a step to its end, at most `deadlineMs`; its output is kept, not shown. */
export async function runStep(
  step: Step,
  options: { readonly cwd: string; readonly env: { readonly [name: string]: string }; readonly deadlineMs: number },
): Promise<StepResult> {
  const [program = "", ...args] = step.command;
  const started = performance.now();
  const child = new Deno.Command(program, {
    args,
    cwd: options.cwd,
    env: { ...options.env, NO_COLOR: "1" },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
    detached: OWN_GROUP,
  }).spawn();
  running.add(child);
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    endGroup(child);
  }, options.deadlineMs);
  const { code, signal, stdout, stderr } = await child.output();
  clearTimeout(timer);
  running.delete(child);
  const decoder = new TextDecoder();
  const seconds = (performance.now() - started) / 1000;
  const output = decoder.decode(stdout) + decoder.decode(stderr) +
    (late ? `killed after ${Math.round(options.deadlineMs / 1000)} s\n` : signal === null ? "" : `died of ${signal}\n`);
  const counts = step.kind === "suite"
    ? countTests(output, code)
    : { passed: code === 0 ? 1 : 0, failed: code === 0 ? 0 : 1, ignored: [] };
  return { step, ...counts, output, seconds };
}

/** Ends a step with all that it started, so that what hangs in a test doesn't go on without it. */
function endGroup(child: Deno.ChildProcess): void {
  if (OWN_GROUP) Deno.kill(-child.pid, "SIGKILL");
  else child.kill("SIGKILL");
}

/** Runs steps, `width` at a time; `onResult` sees each as it ends. */
export async function runSteps(
  steps: readonly Step[],
  options: Parameters<typeof runStep>[1] & { readonly width: number; readonly onResult: (result: StepResult) => void },
): Promise<void> {
  const waiting = [...steps];
  const worker = async (): Promise<void> => {
    for (let step = waiting.shift(); step !== undefined; step = waiting.shift()) {
      options.onResult(await runStep(step, options));
    }
  };
  await Promise.all(Array.from({ length: options.width }, worker));
}

/** What tests left in the folder that they had for temporary files. */
export function leftOver(folder: string): string[] {
  return [...Deno.readDirSync(folder)].map(({ name }) => join(folder, name)).sort();
}
