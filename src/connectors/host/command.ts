import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ConnectorProgram, Grant } from "../contract/mod.ts";

/** How to start a connector child: this program again, with its hidden verb and nothing of the environment. */
export type ChildCommand = {
  readonly path: string;
  readonly args: readonly string[];
  readonly env: { readonly [name: string]: string };
};

/** How a child is to be started. */
export type ChildSettings = {
  /** What of a package is to run; a program of its own is started in place of this one. */
  readonly program?: ConnectorProgram | undefined;
  /** `require`: it ends at once where the operating system can't confine it. Absent: `auto`. */
  readonly sandbox?: "auto" | "require";
  /** Names of environment variables that it gets, where they are set. */
  readonly env?: readonly string[];
  /** Of a program of its own: what the operating system confines it to. Absent: it does not. */
  readonly grant?: Grant;
};

/** The hidden verb that makes a process of this program a connector child. */
export const CHILD_VERB = "__connector";

/** Behind the verb: the process confines itself and becomes the program of a package. */
export const LAUNCH = "launch";

/** The variable that says which program that is, and what it may touch. */
export const LAUNCH_VARIABLE = "PZ_CONNECTOR_LAUNCH";

type ProcessProgram = Extract<ConnectorProgram, { readonly kind: "process" }>;

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
export function childCommand(settings: ChildSettings = {}): ChildCommand {
  const { sandbox = "auto", env = [], program } = settings;
  const granted = env.filter((name) => !name.startsWith("PZ_CONNECTOR_"));
  const required = sandbox === "require" ? ["require"] : [];
  if (program?.kind === "process") return programCommand(program, settings, granted, required);
  return ownCommand([CHILD_VERB, ...required], granted, {});
}

/** A package's program; where the system can confine it, this program becomes it after having done that. */
function programCommand(
  { path, folder }: ProcessProgram,
  { grant }: ChildSettings,
  granted: readonly string[],
  required: readonly string[],
): ChildCommand {
  const names = [...granted, ...ORDINARY];
  if (Deno.build.os !== "linux" || grant === undefined) return { path, args: [], env: valuesOf(names) };
  return ownCommand([CHILD_VERB, LAUNCH, ...required], names, {
    [LAUNCH_VARIABLE]: JSON.stringify({ path, folder, grant }),
  });
}

function ownCommand(
  verb: readonly string[],
  names: readonly string[],
  more: { readonly [name: string]: string },
): ChildCommand {
  const path = Deno.execPath();
  if (Deno.build.standalone) return { path, args: verb, env: { ...valuesOf(names), ...more } };
  const root = new URL("../../../", import.meta.url);
  const config = fileURLToPath(new URL("deno.json", root));
  const entry = fileURLToPath(new URL("main.ts", root));
  return {
    path,
    args: [...SOURCE_FLAGS, "--config", config, entry, ...verb],
    env: { ...cachePlace(), ...valuesOf([...names, "DENO_DIR", "DENO_TLS_CA_STORE"]), ...more },
  };
}

/** What every program expects of an environment. */
const ORDINARY = ["PATH", "HOME", "TMPDIR", "LANG", "LC_ALL"];

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
