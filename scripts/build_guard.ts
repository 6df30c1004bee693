import { join } from "node:path";

/** Where a blocked import leads: nothing can be there. */
const BLOCKED = "file:///dev/null/blocked-by-pz/";

/** Built-in modules that a connector's own code must not reach at all. */
const FORBIDDEN = ["child_process", "cluster", "inspector", "repl", "vm", "worker_threads"];

/**
 * Writes the configuration that only `deno compile` reads. A compiled program may otherwise import any file of the
 * machine, whatever its permissions: here `file:` leads nowhere, but for the modules inside. Code that does not come
 * from inside gets stand-ins for what could lead around that.
 */
export async function writeGuard(folder: string, modules: readonly string[]): Promise<string> {
  await Deno.writeTextFile(join(folder, "guard_module.js"), GUARD_MODULE);
  await Deno.writeTextFile(join(folder, "guard_process.js"), GUARD_PROCESS);
  const inside = [...modules, "guard_module.js", "guard_process.js"].map((name) => `./${name}`);
  const standIns: [string, string][] = [["module", "./guard_module.js"], ["process", "./guard_process.js"]];
  for (const name of FORBIDDEN) standIns.push([name, `${BLOCKED}${name}`]);
  const builtins = standIns.flatMap(([name, to]) =>
    [`node:${name}`, name].map((key) => ({ key, to, real: `node:${name}` }))
  );
  const config = {
    unstable: ["worker-options"],
    nodeModulesDir: "none",
    imports: {
      "file:///": BLOCKED,
      ...Object.fromEntries(inside.map((name) => [name, name])),
      ...Object.fromEntries(builtins.map(({ key, to }) => [key, to])),
    },
    scopes: { "./": Object.fromEntries(builtins.map(({ key, real }) => [key, real])) },
  };
  const path = join(folder, "deno.json");
  await Deno.writeTextFile(path, JSON.stringify(config, null, 2));
  return path;
}

/** `node:module` for a connector: it can't look for modules, register hooks or list what there is. */
const GUARD_MODULE = `
export function createRequire() {
  return (name) => {
    throw new Error("A connector can't require '" + name + "': import it");
  };
}
export const builtinModules = [];
export default { createRequire, builtinModules };
`;

/** \`node:process\` for a connector: what is left of the global one. */
const GUARD_PROCESS = `
const process = globalThis.process;
export default process;
export const { argv, cwd, env, exit, hrtime, nextTick, platform, stderr, stdin, stdout, version, versions } = process;
`;
