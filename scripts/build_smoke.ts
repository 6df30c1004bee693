import { join } from "node:path";

const PROJECT: { readonly [path: string]: string } = {
  "project.yml": `name: smoke\nversion: "1"\n`,
  "connections.yml": "lake: { connector: localfiles, root: out }\n",
  "one.sql": "INSERT INTO {{ sink('lake', 'one', format: 'csv', strategy: 'replace') }}\nSELECT 1 AS one\n",
};

/**
 * Starts a new executable as a user would: it must know its version, and unpack and load its own DuckDB for a run.
 *
 * @throws {Error} when it does something else
 */
export async function smokeTest(executable: string, version: string): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "pz-smoke-" });
  try {
    for (const [path, text] of Object.entries(PROJECT)) {
      const target = path.endsWith(".sql") ? join(folder, "pipelines", path) : join(folder, path);
      await Deno.mkdir(join(target, ".."), { recursive: true });
      await Deno.writeTextFile(target, text);
    }
    const said = await output(executable, ["--version"], folder);
    if (said.trim() !== version) throw new Error(`the executable calls itself '${said.trim()}', not '${version}'`);
    await output(executable, ["run", "--all"], folder);
    const rows = await Deno.readTextFile(join(folder, "out", "one", "one.csv"));
    if (rows.replaceAll("\r", "") !== "one\n1\n") throw new Error(`the executable wrote '${rows}'`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function output(executable: string, args: readonly string[], folder: string): Promise<string> {
  const systemRoot = Deno.env.get("SystemRoot"); // without it a program can't start on Windows
  const { code, stdout, stderr } = await new Deno.Command(executable, {
    args: [...args],
    cwd: folder,
    clearEnv: true,
    env: { PZ_CACHE_DIR: join(folder, "cache"), ...(systemRoot === undefined ? {} : { SystemRoot: systemRoot }) },
    stdin: "null",
  }).output();
  const decoder = new TextDecoder();
  if (code !== 0) throw new Error(`the executable failed at ${args.join(" ")}: ${decoder.decode(stderr)}`);
  return decoder.decode(stdout);
}
