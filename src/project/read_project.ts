import { basename, dirname, join, resolve } from "node:path";
import { fail, type Outcome, PzError, succeed } from "../errors/mod.ts";
import { nearMiss, ordinal } from "../util/mod.ts";
import { readConnections } from "./connections_file.ts";
import { type Folder, isFile, isFolder, listFiles, listFolder } from "./files.ts";
import { type Environment, interpolatedValues } from "./interpolate.ts";
import type { LoadedState, LoadOptions } from "./load.ts";
import type { Project, ValueMap } from "./model.ts";
import { deepFreeze, recordOf } from "./optional.ts";
import { readPipelines, warnOfExtension, warnOfStrayFiles } from "./pipelines.ts";
import { noProblems, report, warn } from "./problems.ts";
import { type ProjectFile, readProjectFile, readStateOf } from "./project_file.ts";
import { parseVars } from "./vars.ts";
import { readYamlFile } from "./yaml_file.ts";
import type { YamlMap } from "./yaml_node.ts";

const PROJECT_FILE = "project.yml";
const CONNECTIONS_FILE = "connections.yml";

/** See `loadProject`. */
export function readProject(root: string, options: LoadOptions): Outcome<Project> {
  const folder: Folder = { root: resolve(root), problems: noProblems() };
  const environment: Environment = { values: options.env, used: new Set() };
  const { errors, warnings } = folder.problems;
  if (!isFolder(folder.root)) return fail([noSuchFolder(folder.root)]);
  if (folder.root.includes("?")) return fail([unusableName(folder.root)]);
  const names = listFolder(folder, ".").map(({ name }) => name);

  const connectionsRoot = readConnectionsRoot(folder, names);
  const connections = connectionsRoot === undefined
    ? {}
    : readConnections(connectionsRoot, environment, folder.problems);
  // Only what the connections hold is taken for secret: variables of the project are meant to be seen.
  const secrets = [...environment.used].filter((value) => value !== "").sort(ordinal);
  const projectRoot = readProjectRoot(folder, names);
  const project = projectRoot === undefined
    ? undefined
    : readProjectFile(projectRoot, environment, connectionsRoot, folder.problems);
  const overrides = options.vars === undefined ? undefined : parseVars(options.vars);
  if (overrides?.ok === false) errors.push(...overrides.errors);
  reportRetiredFolders(folder);
  const pipelines = readPipelines(folder);
  if (pipelines.length === 0) warnOfStrayFiles(folder, names);
  if (errors.length > 0 || project === undefined) return fail(errors);

  const vars = overrides?.ok === true ? overrides.value : {};
  warnOfUndeclared(folder, vars, project.vars);
  return succeed(
    deepFreeze<Project>({ ...projectOf(folder.root, project, vars), connections, pipelines, secrets }),
    warnings,
  );
}

/** A misspelt variable would leave the one that was meant at its default. */
function warnOfUndeclared(folder: Folder, overrides: ValueMap, declared: ValueMap): void {
  const names = Object.keys(declared);
  for (const name of Object.keys(overrides).filter((name) => !names.includes(name))) {
    const meant = nearMiss(name, names);
    const hint = meant === undefined
      ? `Declare it there with a default, if a pipeline reads it with var('${name}').`
      : `Did you mean '${meant}'?`;
    const message = `--vars sets '${name}', which vars: of project.yml does not declare`;
    warn(folder.problems, "PZ0102", message, { file: PROJECT_FILE }, hint);
  }
}

function projectOf(root: string, file: ProjectFile, overrides: ValueMap): Omit<Project, "connections" | "pipelines"> {
  const { name, version, connectors, engine, keepLast, state, origin, onSourceDrift } = file;
  const vars = recordOf([...Object.entries(file.vars), ...Object.entries(overrides)]);
  return { root, name, version, connectors, vars, engine, keepLast, state, stateOrigin: origin, onSourceDrift };
}

function noSuchFolder(root: string): PzError {
  if (!isFile(root)) {
    const hint = "Name a project's folder with --project, or start one with pz init.";
    return new PzError("PZ0101", `There is no folder '${root}'`, { hint });
  }
  const hint = `Name the folder that holds project.yml: --project ${dirname(root)}`;
  return new PzError("PZ0101", `'${root}' is a file, not a project's folder`, { hint });
}

/** DuckDB takes what follows a '?' in the path of its database for no part of the file's name. */
function unusableName(root: string): PzError {
  return new PzError("PZ0101", `The path of the project's folder holds a '?': '${root}'`, {
    hint: "Rename that folder, or move the project: DuckDB can't keep a database below it.",
  });
}

/** See `loadState`. */
export function readStateOnly(root: string, options: Pick<LoadOptions, "env">): Outcome<LoadedState> {
  const folder: Folder = { root: resolve(root), problems: noProblems() };
  const environment: Environment = { values: options.env, used: new Set() };
  const names = listFolder(folder, ".").map(({ name }) => name);
  const projectRoot = readProjectRoot(folder, names);
  const { errors, warnings } = folder.problems;
  if (projectRoot === undefined) return fail(errors);
  const namesConnection = projectRoot.entries.some(({ key, value }) =>
    key === "state" && value.kind === "map" && value.entries.some((entry) => entry.key === "connection")
  );
  const connectionsRoot = namesConnection ? readConnectionsRoot(folder, names) : undefined;
  const { state, origin } = readStateOf(projectRoot, environment, connectionsRoot, folder.problems);
  return errors.length > 0 ? fail(errors) : succeed(deepFreeze({ state, stateOrigin: origin }), warnings);
}

/** See `loadSettings`. */
export function readSettings(path: string, options: Pick<LoadOptions, "env">): Outcome<ValueMap> {
  const folder: Folder = { root: dirname(resolve(path)), problems: noProblems() };
  const root = readYamlFile(folder, basename(path));
  const { errors, warnings } = folder.problems;
  const environment: Environment = { values: options.env, used: new Set() };
  const values = interpolatedValues(root?.entries ?? [], environment, folder.problems);
  return errors.length > 0 ? fail(errors) : succeed(deepFreeze(values), warnings);
}

function readProjectRoot(folder: Folder, names: readonly string[]): YamlMap | undefined {
  if (!names.includes(PROJECT_FILE)) {
    const message = `There is no project.yml in '${folder.root}'`;
    report(folder.problems, "PZ0101", message, { file: PROJECT_FILE }, missingProjectHint(folder.root, names));
    return undefined;
  }
  if (names.includes("project.yaml")) warnOfExtension(folder, "project.yaml");
  return readYamlFile(folder, PROJECT_FILE);
}

function missingProjectHint(root: string, names: readonly string[]): string {
  const wrong = names.find((name) => /^project\.ya?ml$/i.test(name));
  if (wrong !== undefined) return `Rename '${wrong}' to 'project.yml'.`;
  if (names.includes("dbt_project.yml")) {
    return "pz does not read dbt_project.yml: write a project.yml with name and version.";
  }
  for (let above = dirname(root); above !== dirname(above); above = dirname(above)) {
    if (isFile(join(above, PROJECT_FILE))) {
      return `The project is in '${above}': run pz there, or name it with --project.`;
    }
  }
  return "Name a project's folder with --project, or start one with pz init.";
}

/** The root of connections.yml, an empty one where there is no such file. */
function readConnectionsRoot(folder: Folder, names: readonly string[]): YamlMap | undefined {
  if (names.includes("connections.yaml")) warnOfExtension(folder, "connections.yaml");
  if (names.includes(CONNECTIONS_FILE)) return readYamlFile(folder, CONNECTIONS_FILE);
  if (names.includes("profiles.yml")) {
    const hint =
      "Write each connection there as '<name>: { connector: … }'; what differs from place to place is ${NAME}.";
    warn(folder.problems, "PZ0703", "'profiles.yml' is not read: connections stand in connections.yml", {
      file: "profiles.yml",
    }, hint);
  }
  return { kind: "map", entries: [], position: { file: CONNECTIONS_FILE, line: 1, column: 1 } };
}

/** Before connections.yml, each connection had a file in `sources/` or `sinks/`. */
function reportRetiredFolders(folder: Folder): void {
  for (const [name, side] of [["sources", "read"], ["sinks", "write"]] as const) {
    for (const file of listFiles(folder, name).filter((path) => /\.ya?ml$/i.test(path))) {
      const stem = file.slice(file.lastIndexOf("/") + 1).replace(/\.ya?ml$/i, "");
      report(
        folder.problems,
        "PZ0346",
        `'${file}' is not read: all connections stand in connections.yml`,
        { file },
        `Move it: '${stem}: { connector: …, entities: { <name>: { ${side}: … } } }', and remove the file.`,
      );
    }
  }
}
