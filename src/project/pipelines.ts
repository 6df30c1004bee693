import { type Folder, listFiles, listFolder, readText } from "./files.ts";
import type { PipelineFile } from "./model.ts";
import { checkPipelineName } from "./names.ts";
import { report, warn } from "./problems.ts";
import { didYouMean } from "./shapes.ts";
import { readSidecar, type Sidecar } from "./sidecar.ts";
import { readYamlFile } from "./yaml_file.ts";

const FOLDER = "pipelines";
const SIDECARS = "pipelines/configs";

/** Every pipeline with its sidecar, in the order of their paths. */
export function readPipelines(folder: Folder): readonly PipelineFile[] {
  const files = listFiles(folder, FOLDER).filter(isPipeline);
  const byName = new Map<string, { readonly name: string; readonly file: string }>();
  for (const file of files) {
    const name = stemOf(file);
    const other = byName.get(name.toLowerCase());
    if (other !== undefined) {
      const message = `The pipeline '${name}' has the name of '${other.file}': folders and case make no difference`;
      report(folder.problems, "PZ0110", message, { file }, "Rename one of the two files.");
    } else if (checkPipelineName(name, { file }, folder.problems)) {
      byName.set(name.toLowerCase(), { name, file });
    }
  }
  warnOfSettings(folder);
  const names = files.map(stemOf);
  const sidecars = readSidecars(folder, names);
  return [...byName.values()].flatMap(({ name, file }) => {
    const template = readText(folder, file);
    if (template === undefined) return [];
    const { materialization = "table", tags = [], checks = [] } = sidecars.get(name) ?? {};
    return [{ name, file, template, materialization, tags, checks }];
  });
}

function isPipeline(file: string): boolean {
  return /\.sql$/i.test(file) && !file.split("/").slice(0, -1).includes("configs");
}

function stemOf(file: string): string {
  return file.slice(file.lastIndexOf("/") + 1).replace(/\.sql$/i, "");
}

/** The sidecars by pipeline; `names` are all names that a sidecar may be about. */
function readSidecars(folder: Folder, names: readonly string[]): ReadonlyMap<string, Sidecar> {
  const sidecars = new Map<string, Sidecar>();
  for (const { name, kind } of listFolder(folder, SIDECARS)) {
    const file = `${SIDECARS}/${name}`;
    if (kind !== "file") continue;
    if (/\.yaml$/i.test(name)) warnOfExtension(folder, file);
    if (!/\.yml$/i.test(name)) continue;
    const root = readYamlFile(folder, file);
    const sidecar = root === undefined ? undefined : readSidecar(root, folder.problems);
    if (sidecar === undefined) continue;
    const { pipeline, position } = sidecar;
    const other = sidecars.get(pipeline);
    if (!names.includes(pipeline)) {
      const hint = didYouMean(pipeline, names) ?? `Pipelines: ${names.length === 0 ? "none" : names.join(", ")}.`;
      report(folder.problems, "PZ0111", `There is no pipeline '${pipeline}'`, position, hint);
    } else if (other !== undefined) {
      const message = `The pipeline '${pipeline}' has a second sidecar; the first is '${other.position.file}'`;
      report(folder.problems, "PZ0110", message, position, "Put all settings of a pipeline in one file.");
    } else {
      sidecars.set(pipeline, sidecar);
    }
  }
  return sidecars;
}

/** Warns of YAML files among the pipelines, where no settings are read. */
function warnOfSettings(folder: Folder): void {
  for (const file of listFiles(folder, FOLDER)) {
    if (!/\.ya?ml$/i.test(file) || file.split("/").slice(0, -1).includes("configs")) continue;
    const hint = `Move it to '${SIDECARS}/', and name its pipeline there with 'pipeline:'.`;
    warn(
      folder.problems,
      "PZ0703",
      `'${file}' is not read: settings of pipelines stand in ${SIDECARS}/`,
      { file },
      hint,
    );
  }
}

/** Where pipelines are put by mistake. */
const STRAY_FOLDERS: readonly string[] = ["models", "pipeline", "queries", "sql", "transforms"];

/** Warns of SQL files outside the folder of pipelines, in a project that has no pipeline. */
export function warnOfStrayFiles(folder: Folder, names: readonly string[]): void {
  const stray = [
    ...names.filter((name) => /\.sql$/i.test(name)),
    ...names.filter((name) => STRAY_FOLDERS.includes(name.toLowerCase())).flatMap((name) => listFiles(folder, name)),
  ].filter((file) => /\.sql$/i.test(file));
  const [file, ...more] = stray;
  if (file === undefined) return;
  const others = more.length === 0 ? " is" : ` and ${more.length} more are`;
  const hint = `Move ${more.length === 0 ? "it" : "them"} to '${FOLDER}/'.`;
  warn(folder.problems, "PZ0703", `'${file}'${others} not read: pipelines stand in ${FOLDER}/`, { file }, hint);
}

/** Warns of a file that would be read if its name ended in `.yml`. */
export function warnOfExtension(folder: Folder, file: string): void {
  const hint = `Rename it to '${file.replace(/yaml$/i, "yml")}'.`;
  warn(folder.problems, "PZ0135", `'${file}' is not read: project files end in .yml`, { file }, hint);
}
