import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { type Outcome, PzError } from "../../../src/errors/mod.ts";
import { type LoadOptions, loadProject, type Project } from "../../../src/project/mod.ts";

/** The files of a project by path; bytes stand for a file that is no plain UTF-8. */
export type Files = { readonly [path: string]: string | Uint8Array };

/** A project.yml that is complete. */
export const MINIMAL = "name: demo\nversion: 1.0.0\n";

/** Runs something in a folder with these files, and removes it. */
export async function withFiles<T>(files: Files, body: (root: string) => Promise<T> | T): Promise<T> {
  const root = Deno.makeTempDirSync({ prefix: "pz-project-" });
  try {
    for (const [path, content] of Object.entries(files)) {
      Deno.mkdirSync(dirname(join(root, path)), { recursive: true });
      if (typeof content === "string") Deno.writeTextFileSync(join(root, path), content);
      else Deno.writeFileSync(join(root, path), content);
    }
    return await body(root);
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
}

/** Loads a project of these files; project.yml is the minimal one unless given. */
export function load(files: Files, options: Partial<LoadOptions> = {}): Promise<Outcome<Project>> {
  return withFiles({ "project.yml": MINIMAL, ...files }, (root) => loadProject(root, { env: {}, ...options }));
}

/** The project, which must load. */
export async function loaded(files: Files, options: Partial<LoadOptions> = {}): Promise<Project> {
  const outcome = await load(files, options);
  if (!outcome.ok) assert.fail(outcome.errors.map(place).join("\n"));
  return outcome.value;
}

/** Every error as `CODE file:line:column message`, in the order reported. */
export async function errorsOf(files: Files, options: Partial<LoadOptions> = {}): Promise<string[]> {
  const outcome = await load(files, options);
  return outcome.ok ? [] : outcome.errors.map(place);
}

/** Every warning of a project that loads, in the same form. */
export async function warningsOf(files: Files, options: Partial<LoadOptions> = {}): Promise<string[]> {
  const outcome = await load(files, options);
  if (!outcome.ok) assert.fail(outcome.errors.map(place).join("\n"));
  return outcome.warnings.map(place);
}

/** `CODE file:line:column message`. */
export function place({ code, file, line, column, message }: PzError): string {
  const at = [file, line, column].filter((part) => part !== undefined).join(":");
  return `${code} ${at === "" ? "" : `${at} `}${message}`;
}

/** `CODE file:line:column` of each. */
export function places(texts: readonly string[]): string[] {
  return texts.map((text) => text.split(" ").slice(0, 2).join(" "));
}

/** Without the null prototypes of records, to compare with literals. */
export function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, plain(member)]));
}

/** A text with `§` before the one place that matters: the text without it, and that place as `line:column`. */
export function marked(text: string): { readonly text: string; readonly at: string } {
  const before = text.slice(0, text.indexOf("§")).split("\n");
  return { text: text.replace("§", ""), at: `${before.length}:${(before.at(-1)?.length ?? 0) + 1}` };
}
