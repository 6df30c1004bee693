/**
 * Proves the rules of the house on every TypeScript file: which room may import which, which package lives where, the
 * size and the names of files, and that nothing silences the linter or the type checker. Prints one `file:line:` for
 * each broken rule and exits with 1 where there is any.
 *
 *     deno run --allow-read scripts/layers.ts [folder]
 */
import { join } from "node:path";
import { type Problem, problemsOf } from "./layers_rules.ts";

const FOLDERS = ["src", "tests", "scripts"];

/** The broken rules of a project's folder, by file and line. */
export function checkTree(root: string): Problem[] {
  const files = ["main.ts", ...FOLDERS.flatMap((folder) => typeScriptFiles(root, folder))];
  return files.flatMap((file) => problemsOf(file, Deno.readTextFileSync(join(root, file))));
}

function typeScriptFiles(root: string, folder: string): string[] {
  const entries = [...Deno.readDirSync(join(root, folder))].sort((a, b) => a.name < b.name ? -1 : 1);
  return entries.flatMap(({ name, isDirectory }) => {
    const path = `${folder}/${name}`;
    return isDirectory ? typeScriptFiles(root, path) : /\.[cm]?tsx?$/.test(name) ? [path] : [];
  });
}

if (import.meta.main) {
  const problems = checkTree(Deno.args[0] ?? join(import.meta.dirname ?? ".", ".."));
  const lines = problems.map(({ file, line, message }) => `${file}:${line}: ${message}\n`);
  Deno.stdout.writeSync(new TextEncoder().encode(lines.join("") || "every file keeps the rules of the house\n"));
  Deno.exit(problems.length === 0 ? 0 : 1);
}
