import { fileURLToPath } from "node:url";

/** How to start a connector child: this program again, with its hidden verb and nothing of the environment. */
export type ChildCommand = {
  readonly path: string;
  readonly args: readonly string[];
  readonly env: { readonly [name: string]: string };
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
export function childCommand(): ChildCommand {
  const path = Deno.execPath();
  if (Deno.build.standalone) return { path, args: [CHILD_VERB], env: systemEnv([]) };
  const root = new URL("../../../", import.meta.url);
  const config = fileURLToPath(new URL("deno.json", root));
  const entry = fileURLToPath(new URL("main.ts", root));
  return {
    path,
    args: [...SOURCE_FLAGS, "--config", config, entry, CHILD_VERB],
    env: systemEnv(["DENO_DIR", "DENO_TLS_CA_STORE"]),
  };
}

/** Windows can't open sockets without a few variables; elsewhere only the named ones pass. */
function systemEnv(names: readonly string[]): { readonly [name: string]: string } {
  const wanted = Deno.build.os === "windows" ? [...names, "SystemRoot", "TEMP", "TMP"] : names;
  return Object.fromEntries(wanted.flatMap((name) => {
    const value = Deno.env.get(name);
    return value === undefined ? [] : [[name, value]];
  }));
}
