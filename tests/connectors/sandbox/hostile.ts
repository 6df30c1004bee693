import { type Attempt, must, type Targets, unknownMember } from "./attempt.ts";
import { BUILTINS, INSPECTOR, WASM_ATTEMPTS } from "./attempts_code.ts";
import { FILES, IMPORTS, PROC, SYMLINKS } from "./attempts_files.ts";
import { ENVIRONMENT, FFI, WORKERS } from "./attempts_native.ts";
import { connected, DNS, HOSTS, SIGNALS, SPAWN } from "./attempts_net.ts";
import { CODE, SYSTEM } from "./attempts_system.ts";

/** All that a hostile connector tries; those that spoil the process itself are the last. */
export const ATTEMPTS: readonly Attempt[] = [
  ...FILES,
  ...SYMLINKS,
  ...PROC,
  ...IMPORTS,
  ...HOSTS,
  ...DNS,
  ...SPAWN,
  ...SIGNALS,
  ...FFI,
  ...WORKERS,
  ...ENVIRONMENT,
  ...INSPECTOR,
  ...BUILTINS,
  ...WASM_ATTEMPTS,
  ...CODE,
  ...SYSTEM,
];

/** The name by which a child loads the hostile connector. */
export const HOSTILE = "hostile";

type Spec = { readonly options: { readonly [name: string]: unknown } };

/**
 * A connector that tries what the options of a dataset name, and plans a partition `escaped` when that has worked. It
 * has no rows to read. It stands alone, so that it can be loaded as the code of a package.
 */
export const connector = {
  name: HOSTILE,
  version: "1.0.0",
  capabilities: [],
  open: () => ({ source: { schema: refuse, plan, read: refuse } }),
};

function refuse(): never {
  throw new Error("the hostile connector has no rows");
}

async function plan({ options }: Spec): Promise<readonly { readonly id: string }[]> {
  const abuse = ABUSES[String(options["abuse"])];
  if (abuse !== undefined) await abuse(options["targets"]);
  if (options["then"] === "wait") await new Promise(() => {});
  const attempt = ATTEMPTS.find(({ kind, name }) => `${kind}: ${name}` === options["attempt"]);
  if (attempt === undefined) return [{ id: "idle" }];
  await attempt.run(targetsOf(options["targets"]));
  return [{ id: "escaped" }];
}

function targetsOf(text: unknown): Targets {
  return JSON.parse(String(text));
}

/** Everything that the grant allows, each of which must work. */
async function useGrant({ granted, grantedPort }: Targets): Promise<void> {
  await Deno.readTextFile(`${granted}/data.txt`);
  await Deno.mkdir(`${granted}/a/b`, { recursive: true });
  await Deno.writeTextFile(`${granted}/a/b/new.tmp`, "new");
  await Deno.rename(`${granted}/a/b/new.tmp`, `${granted}/a/new`);
  await Deno.truncate(`${granted}/a/new`, 1);
  must(await Deno.readTextFile(`${granted}/a/new`) === "n");
  await Deno.remove(`${granted}/a`, { recursive: true });
  (await Deno.connect({ hostname: "127.0.0.1", port: grantedPort })).close();
  must(Deno.env.get("PZ_GRANTED") === "yes");
}

/** Connects to a granted host by its name, by each way that drivers use. */
async function useName({ grantedPort }: Targets): Promise<void> {
  (await Deno.connect({ hostname: "localhost", port: grantedPort })).close();
  await connected((await import("node:net")).connect(grantedPort, "localhost"));
  must((await fetch(`http://localhost:${grantedPort}/`, { redirect: "manual" })).status === 302);
}

/** What a connector can do to its own process, and what it may. */
const ABUSES: { readonly [name: string]: (targets: unknown) => unknown } = {
  use: (targets) => useGrant(targetsOf(targets)),
  "use a name": (targets) => useName(targetsOf(targets)),
  spin: () => {
    for (;;);
  },
  memory: () => {
    const kept: unknown[] = [];
    for (;;) kept.push(new Array(1 << 17).fill(kept.length + 0.5));
  },
  exit: () => Deno.exit(7),
  "exit by node:process": async () => (await import("node:process")).exit(8),
  close: () => unknownMember(globalThis, "close")(),
  "flood stdout": () => flood(Deno.stdout),
  "flood stdout by its number": async () => {
    const { writeSync } = await import("node:fs");
    flood({ writeSync: (bytes) => writeSync(1, bytes) });
  },
  "flood stderr": () => flood(Deno.stderr),
  "a promise that nobody waits for": () => void Promise.reject(new Error("left alone")),
};

function flood(stream: { writeSync(bytes: Uint8Array): number }): void {
  const bytes = new Uint8Array(1 << 20).fill(65);
  for (let count = 0; count < 64; count++) stream.writeSync(bytes);
}
