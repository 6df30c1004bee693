import { basename, dirname, join, resolve } from "node:path";
import { PzError } from "../../errors/mod.ts";
import { nearMiss, ordinal } from "../../util/mod.ts";
import { EXIT, type ExitCode } from "../exit_codes.ts";
import { type Io, shellWord, shownPath } from "../io.ts";
import { reportErrors } from "../report.ts";
import { PLACEHOLDER_NAME, PLANNED_TEMPLATES, type Template, TEMPLATES } from "../templates/mod.ts";

export type InitOptions = {
  readonly name?: string | undefined;
  /** Undefined: `minimal`. */
  readonly template?: string | undefined;
  readonly listTemplates?: boolean | undefined;
};

const DEFAULT_TEMPLATE = "minimal";

/** `pz init`: makes a new project from a template that pz itself carries, or lists the templates. */
export async function init(io: Io, options: InitOptions): Promise<ExitCode> {
  const { name, listTemplates } = options;
  if (listTemplates) {
    if (name !== undefined) {
      return refuse(
        io,
        new PzError("PZ0132", `--list-templates makes no project, but the name '${name}' was given too`),
      );
    }
    listThem(io);
    return EXIT.ok;
  }
  if (name === undefined || name === "") {
    return refuse(io, new PzError("PZ0132", "no name was given", { hint: "pz init my_project" }));
  }
  const id = options.template ?? DEFAULT_TEMPLATE;
  const template = TEMPLATES.find((candidate) => candidate.id === id);
  if (template === undefined) return refuse(io, noTemplate(id));
  const folder = resolve(io.cwd, name);
  const occupied = await occupiedBy(folder);
  if (occupied !== undefined) {
    return refuse(io, new PzError("PZ0130", `'${name}' is ${occupied}`, { hint: "name a new or an empty folder" }));
  }
  const projectName = sanitizeName(basename(folder));
  if (projectName !== basename(folder)) {
    io.console.err(
      `warning: '${basename(folder)}' is not a valid pz project name (lower-case letters, digits and _); ` +
        `using '${projectName}' instead`,
    );
  }
  await writeTemplate(io, template, folder, projectName);
  io.console.out(`scaffolded a new pz project '${projectName}' at ${folder}`);
  io.console.out(`made ${topNames(template).join(", ")}`);
  io.console.out("next steps:");
  if (folder !== io.cwd) io.console.out(`  cd ${shellWord(shownPath(io, folder))}`);
  for (const step of template.nextSteps) io.console.out(`  ${step}`);
  return EXIT.ok;
}

/** What a template puts into the project's folder, folders with a slash behind them. */
function topNames({ files }: Template): readonly string[] {
  return [...new Set(files.map(({ path }) => path.replace(/\/.*$/, "/")))].sort(ordinal);
}

/** A valid project name: `[a-z0-9_]`, a letter first; what else stands in the raw one becomes `_`. */
export function sanitizeName(raw: string): string {
  const name = raw.toLowerCase().replaceAll(/[^a-z0-9]+/g, "_").replaceAll(/^_+|_+$/g, "");
  return /^[a-z]/.test(name) ? name : `p_${name}`;
}

function noTemplate(id: string): PzError {
  const ids = TEMPLATES.map((candidate) => candidate.id);
  const planned = PLANNED_TEMPLATES.find((candidate) => candidate.id === id);
  if (planned !== undefined) {
    const message = `the template '${id}' needs ${planned.needs}, which this pz does not have yet`;
    return new PzError("PZ0700", message, { hint: `use one of ${ids.join(", ")}` });
  }
  const meant = nearMiss(id, [...ids, ...PLANNED_TEMPLATES.map((candidate) => candidate.id)]);
  const near = meant === undefined ? "" : `did you mean '${meant}'? `;
  return new PzError("PZ0131", `there is no template '${id}'`, { hint: `${near}use one of ${ids.join(", ")}` });
}

function listThem(io: Io): void {
  io.console.out("templates:");
  for (const { id, summary, marker } of TEMPLATES) {
    io.console.out(`  ${id}${id === DEFAULT_TEMPLATE ? " (default)" : ""}`);
    io.console.out(`      ${summary} [${marker}]`);
  }
  for (const { id, summary, needs } of PLANNED_TEMPLATES) {
    io.console.out(`  ${id}`);
    io.console.out(`      ${summary} [not yet: needs ${needs}]`);
  }
}

function refuse(io: Io, error: PzError): ExitCode {
  return reportErrors(io.console, [error]);
}

/** What stands where the project should go; undefined for nothing or an empty folder. */
async function occupiedBy(path: string): Promise<string | undefined> {
  try {
    for await (const _entry of Deno.readDir(path)) return "a folder that is not empty";
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    if (error instanceof Deno.errors.NotADirectory) return "a file, not a folder";
    throw error;
  }
  return undefined;
}

/** Writes all files of a template, or none: what was made before a failure is removed again. */
async function writeTemplate(io: Io, template: Template, folder: string, projectName: string): Promise<void> {
  const made: string[] = [];
  let file = folder;
  try {
    await makeFolders(folder, made);
    for (const { path, content } of template.files) {
      file = join(folder, ...path.split("/"));
      await makeFolders(dirname(file), made);
      made.push(file);
      await Deno.writeTextFile(file, content.replaceAll(PLACEHOLDER_NAME, projectName));
    }
  } catch (error) {
    const left: string[] = [];
    for (const path of made.toReversed()) {
      await Deno.remove(path).catch((failure) => failure instanceof Deno.errors.NotFound || left.push(path));
    }
    io.console.err(
      left.length === 0
        ? `note: '${shownPath(io, file)}' can't be written, so nothing was made`
        : `note: '${shownPath(io, file)}' can't be written; what was made before could not be removed: ${
          left.join(", ")
        }`,
    );
    throw error;
  }
}

/** Makes a folder with those above it and adds those that were not there to `made`, outermost first. */
async function makeFolders(folder: string, made: string[]): Promise<void> {
  if (await Deno.stat(folder).then(() => true, () => false)) return;
  if (dirname(folder) !== folder) await makeFolders(dirname(folder), made);
  await Deno.mkdir(folder);
  made.push(folder);
}
