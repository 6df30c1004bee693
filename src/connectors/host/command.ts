import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** How to start a connector child: this program again, with its hidden verb and nothing of the environment. */
export type ChildCommand = {
  readonly path: string;
  readonly args: readonly string[];
  readonly env: { readonly [name: string]: string };
};

/** How a child is to be started. */
export type ChildSettings = {
  /** `require`: it ends at once where the operating system can't confine it. Absent: `auto`. */
  readonly sandbox?: "auto" | "require";
  /** Names of environment variables that it gets, where they are set. */
  readonly env?: readonly string[];
};

/** The hidden verb that makes a process of this program a connector child. */
export const CHILD_VERB = "__connector";

const SOURCE_FLAGS = [
  "run",
  "--quiet",
  "--no-prompt",
  "--cached-only",
  "--allow-ffi",
  "--allow-read",
  "--allow-write",
  "--allow-env",
  "--allow-run",
  "--allow-net",
  "--allow-sys",
  "--v8-flags=--disallow-code-generation-from-strings",
];

/** The command for this program as it runs now: a built executable, or the sources under the runtime. */
export function childCommand({ sandbox = "auto", env = [] }: ChildSettings = {}): ChildCommand {
  const path = Deno.execPath();
  const granted = env.filter((name) => !name.startsWith("PZ_CONNECTOR_"));
  const verb = sandbox === "require" ? [CHILD_VERB, "require"] : [CHILD_VERB];
  if (Deno.build.standalone) return { path, args: verb, env: valuesOf(granted) };
  const root = new URL("../../../", import.meta.url);
  const config = fileURLToPath(new URL("deno.json", root));
  const entry = fileURLToPath(new URL("main.ts", root));
  return {
    path,
    args: [...SOURCE_FLAGS, "--config", config, entry, ...verb],
    env: { ...cachePlace(), ...valuesOf([...granted, "DENO_DIR", "DENO_TLS_CA_STORE"]) },
  };
}

/** Where the runtime keeps its cache on Linux: a child that is confined can't find it out. */
function cachePlace(): { readonly [name: string]: string } {
  const home = Deno.env.get("HOME");
  const caches = Deno.env.get("XDG_CACHE_HOME") ?? (home === undefined ? undefined : join(home, ".cache"));
  return Deno.build.os !== "linux" || caches === undefined ? {} : { DENO_DIR: join(caches, "deno") };
}

/** Windows can't open sockets without a few variables; elsewhere only the named ones pass. */
function valuesOf(names: readonly string[]): { readonly [name: string]: string } {
  const wanted = Deno.build.os === "windows" ? [...names, "SystemRoot", "TEMP", "TMP"] : names;
  return Object.fromEntries(wanted.flatMap((name) => {
    const value = Deno.env.get(name);
    return value === undefined ? [] : [[name, value]];
  }));
}
