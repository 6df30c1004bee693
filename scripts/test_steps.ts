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

/** These take longest and start first, so that they don't run on when all else has ended. */
const LONGEST = ["random_runs", "fused_runs", "newcomer_mistakes", "places"].map((name) =>
  `tests/spec/${name}_test.ts`
);

/** Rooms in which a time zone or a language could change a byte of what is written. */
const PLACED_ROOMS = ["compile", "project", "render", "state", "template"];

/** One step for each folder of unit tests and each file of the others, so that a crash costs only its own results. */
export function testSteps(deno: string, root: string, temp: string): Step[] {
  const units = foldersIn(join(root, "tests", "unit")).map((room) => `tests/unit/${room}`);
  return [
    ...filesOf(root, ["tests/spec", "tests/crash", "tests/connectors"]),
    ...units.filter((folder) => testFiles(root, folder).length > 0),
  ].map((path) => testStep(deno, path, temp));
}

/** The cases that know pz only by its command line, and those of connectors that start a binary where one is named. */
export function binarySteps(deno: string, root: string, temp: string): Step[] {
  const connectors = filesOf(root, ["tests/connectors"])
    .filter((path) => /\bBINARY\b/.test(Deno.readTextFileSync(join(root, path))));
  return [...filesOf(root, ["tests/packaging", "tests/spec", "tests/crash"]), ...connectors]
    .map((path) => testStep(deno, path, temp));
}

/** The cases whose outcome must not depend on where they run. */
export function placedSteps(deno: string, root: string, temp: string): Step[] {
  return [...filesOf(root, ["tests/spec"]), ...PLACED_ROOMS.map((room) => `tests/unit/${room}`)]
    .map((path) => testStep(deno, path, temp));
}

/** The test files of folders whose tests start whole processes: each is a step, so that none waits for the others. */
function filesOf(root: string, folders: readonly string[]): string[] {
  const files = folders.flatMap((folder) => testFiles(root, folder));
  return [...LONGEST.filter((file) => files.includes(file)), ...files.filter((file) => !LONGEST.includes(file))];
}

function testStep(deno: string, path: string, temp: string): Step {
  const pure = PURE.some((room) => path === `tests/unit/${room}`);
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
    title: path.replace(/^tests\//, "").replace(/_test\.ts$/, ""),
    kind: "suite",
    command: [deno, "test", "-q", "--no-prompt", "--no-check", ...permissions, V8_FLAGS, path],
  };
}

function foldersIn(folder: string): string[] {
  return [...Deno.readDirSync(folder)].filter(({ isDirectory }) => isDirectory).map(({ name }) => name).sort();
}

/** Every test file below a folder, by its path from the root, in the order of code units. */
function testFiles(root: string, folder: string): string[] {
  const entries = [...Deno.readDirSync(join(root, folder))].sort((a, b) => a.name < b.name ? -1 : 1);
  return entries.flatMap(({ name, isDirectory }) => {
    const path = `${folder}/${name}`;
    return isDirectory ? testFiles(root, path) : name.endsWith("_test.ts") ? [path] : [];
  });
}
