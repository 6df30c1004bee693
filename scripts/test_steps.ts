import { join } from "node:path";
import type { Step } from "./test_run.ts";

/** Tests run with code generation from strings off, as the binary does. */
const V8_FLAGS = "--v8-flags=--disallow-code-generation-from-strings";

/** Rooms whose tests need neither DuckDB nor another process. */
const PURE = ["errors", "events", "util"];

/** The steps that look at the source and run nothing of it. */
export function staticSteps(deno: string): Step[] {
  const check = (title: string, ...args: readonly string[]): Step => ({
    title,
    kind: "check",
    command: [deno, ...args],
  });
  return [
    check("check", "check", "-q", "main.ts", "src", "tests", "scripts"),
    check("lint", "lint", "-q"),
    check("fmt", "fmt", "--check"),
    check("layers", "run", "-q", "--no-prompt", "--allow-read", "scripts/layers.ts"),
  ];
}

/** One step for each folder of tests, so that a crash in one costs only its own results. */
export function testSteps(deno: string, root: string, temp: string): Step[] {
  const units = foldersIn(join(root, "tests", "unit")).map((room) => `tests/unit/${room}`);
  // The longest first, so that they don't start when all else has ended.
  return ["tests/spec", "tests/crash", "tests/connectors", ...units]
    .filter((folder) => hasTests(join(root, folder)))
    .map((folder) => testStep(deno, folder, temp));
}

/** The cases that know pz only by its command line, for a binary. */
export function binarySteps(deno: string, root: string, temp: string): Step[] {
  return ["tests/packaging", "tests/spec", "tests/crash"]
    .filter((folder) => hasTests(join(root, folder)))
    .map((folder) => testStep(deno, folder, temp));
}

function testStep(deno: string, folder: string, temp: string): Step {
  const pure = PURE.some((room) => folder === `tests/unit/${room}`);
  const permissions = pure ? ["--allow-read", `--allow-write=${temp}`, "--allow-env"] : [
    "--allow-read",
    "--allow-write",
    "--allow-env",
    "--allow-run",
    "--allow-ffi",
    "--allow-sys",
    "--allow-net=127.0.0.1,localhost,[::1]",
  ];
  return {
    title: folder.replace(/^tests\//, ""),
    kind: "suite",
    command: [deno, "test", "-q", "--no-prompt", "--no-check", ...permissions, V8_FLAGS, folder],
  };
}

function foldersIn(folder: string): string[] {
  return [...Deno.readDirSync(folder)].filter(({ isDirectory }) => isDirectory).map(({ name }) => name).sort();
}

function hasTests(folder: string): boolean {
  return [...Deno.readDirSync(folder)].some(({ name, isDirectory }) =>
    isDirectory ? hasTests(join(folder, name)) : /(^|[._])test\.tsx?$/.test(name)
  );
}
