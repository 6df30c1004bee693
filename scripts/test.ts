/**
 * The test command: formatting, lint, types and layers, then every test. Its last line is `N passed, N failed`, where
 * each of the static steps counts as a test; the exit code is 1 when anything failed.
 *
 *     deno task test                 everything that a change must pass
 *     deno task test unit/duckdb     the steps whose title begins so
 *     deno task test --tests-only    no static steps
 *     deno task test --binary        the black-box cases on the binary PZ_TEST_BINARY, else dist/pz
 *     deno task test --places        the cases that could depend on a place, in Sydney in Turkish and in Los Angeles
 */
import { resolve } from "node:path";
import { endRunningSteps, leftOver, runSteps, type StepResult } from "./test_run.ts";
import { binarySteps, placedSteps, staticSteps, testSteps } from "./test_steps.ts";

const STEP_DEADLINE_MS = 10 * 60_000;
const STOP_SIGNALS = Deno.build.os === "windows" ? ["SIGINT"] as const : ["SIGINT", "SIGTERM"] as const;
/** Time zones and languages far from one another, for `--places`. */
const PLACES: readonly { readonly [name: string]: string }[] = [
  { TZ: "Australia/Sydney", LANG: "tr_TR.UTF-8", LC_ALL: "tr_TR.UTF-8" },
  { TZ: "America/Los_Angeles" },
];
const BUILD_HINT = "build it with `deno task build`, then `deno task test --binary`";

/** What the plain command does not run, and how to run it. */
const LEFT_OUT = [
  `the black-box cases on the binary: ${BUILD_HINT}`,
  "the suites in other time zones and languages: `deno task test:places`",
  "runs killed at random, and the order of many rows: `deno task test:crash`",
  "many first starts at once, and the soak, on the binary: `deno task test:cold`, `deno task soak`",
  "the benchmarks: `deno task bench`",
];

async function main(args: readonly string[]): Promise<number> {
  const root = resolve(import.meta.dirname ?? ".", "..");
  const deno = Deno.execPath();
  const onBinary = args.includes("--binary");
  const inPlaces = args.includes("--places");
  const wanted = args.filter((arg) => !arg.startsWith("--"));
  const env: { [name: string]: string } = {};
  if (onBinary) {
    const binary = resolve(root, Deno.env.get("PZ_TEST_BINARY") ?? "dist/pz");
    if (!isFile(binary)) {
      say(`there is no binary at '${binary}'; ${BUILD_HINT}\n`);
      return report(0, 1);
    }
    env["PZ_TEST_BINARY"] = binary;
  }

  const temp = Deno.makeTempDirSync({ prefix: "pz-test-" });
  env["TMPDIR"] = env["TEMP"] = env["TMP"] = temp;
  const stop = (): never => {
    endRunningSteps();
    Deno.removeSync(temp, { recursive: true });
    Deno.exit(130);
  };
  for (const signal of STOP_SIGNALS) Deno.addSignalListener(signal, stop);
  try {
    const steps = (onBinary ? binarySteps(deno, root, temp) : inPlaces ? placedSteps(deno, root, temp) : [
      ...(args.includes("--tests-only") ? [] : staticSteps(deno)),
      ...testSteps(deno, root, temp),
    ]).filter(({ title }) => wanted.length === 0 || wanted.some((start) => title.startsWith(start)));
    const results: StepResult[] = [];
    for (const place of inPlaces ? PLACES : [{}]) {
      if (inPlaces) say(`${Object.entries(place).map(([name, value]) => `${name}=${value}`).join(" ")}\n`);
      await runSteps(steps, {
        cwd: root,
        env: { ...env, ...place },
        deadlineMs: STEP_DEADLINE_MS,
        width: Math.min(2, navigator.hardwareConcurrency),
        onResult: (result) => {
          results.push(result);
          say(describe(result));
        },
      });
    }
    return summarize(results, leftOver(temp), onBinary || inPlaces ? [] : LEFT_OUT);
  } finally {
    for (const signal of STOP_SIGNALS) Deno.removeSignalListener(signal, stop);
    Deno.removeSync(temp, { recursive: true });
  }
}

function summarize(results: readonly StepResult[], litter: readonly string[], notes: readonly string[]): number {
  let passed = results.reduce((sum, result) => sum + result.passed, 0);
  let failed = results.reduce((sum, result) => sum + result.failed, 0);
  if (litter.length === 0) passed++;
  else {
    failed++;
    say(`FAIL  tests left temporary files behind:\n${litter.map((path) => `  ${path}\n`).join("")}`);
  }
  const ignored = results.flatMap(({ step, ignored }) => ignored.map((title) => `${step.title}: ${title}`));
  for (const note of [...ignored, ...notes]) say(`left out: ${note}\n`);
  return report(passed, failed);
}

function describe({ step, passed, failed, output, seconds }: StepResult): string {
  const counts = step.kind === "check" ? "" : ` ${passed} passed, ${failed} failed`;
  const line = `${failed === 0 ? "ok   " : "FAIL "} ${step.title}${counts} (${seconds.toFixed(1)} s)\n`;
  return failed === 0 ? line : `${line}${output.trimEnd().replaceAll(/^/gm, "  | ")}\n`;
}

function report(passed: number, failed: number): number {
  say(`${passed} passed, ${failed} failed\n`);
  return failed === 0 ? 0 : 1;
}

function say(text: string): void {
  const bytes = new TextEncoder().encode(text);
  for (let written = 0; written < bytes.length;) written += Deno.stdout.writeSync(bytes.subarray(written));
}

function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}

if (import.meta.main) Deno.exit(await main(Deno.args));
