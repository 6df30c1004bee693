import { type BlockRules, blockSchema, type Fields, mapOrReport, readFields, type ValuesOf } from "./blocks.ts";
import type { StateConfig } from "./model.ts";
import { withoutUndefined } from "./optional.ts";
import { type Problems, report, warn } from "./problems.ts";
import { about, didYouMean, flag, type JsonSchema, type Scope, text, whole, word } from "./shapes.ts";
import { entryOf, type YamlMap, type YamlNode } from "./yaml_node.ts";

const BACKENDS = ["local", "http", "sqlserver", "postgres"] as const;
type Backend = typeof BACKENDS[number];

const FIELDS = {
  backend: about("Where state is kept; local unless set.", word(...BACKENDS)),
  connection: about("The connection whose database keeps the state.", text("a connection's name")),
  schema: about("The database schema of the state's tables; pz unless set.", text("a schema's name")),
  artifacts: about("Keep the results of runs there too; true unless set.", flag()),
  events: about("Keep the events of runs there too; false unless set.", flag()),
  url: about("The address of the state service.", text("an http or https address")),
  timeout_seconds: about("How long one request may take.", whole(1)),
} satisfies Fields;
const SQL_KEYS = ["backend", "connection", "schema", "artifacts", "events"];
const KEYS: { readonly [B in Backend]: readonly string[] } = {
  local: ["backend"],
  http: ["backend", "url", "artifacts", "events", "timeout_seconds"],
  sqlserver: SQL_KEYS,
  postgres: SQL_KEYS,
};
const RULES: BlockRules = {
  code: "PZ0124",
  secret: true,
  refused: {
    token: {
      code: "PZ0124",
      message: "'state.token' can't stand in a file",
      hint: "Set the PZ_STATE_TOKEN environment variable.",
    },
  },
};

/** Where the state is kept, and which setting said so: `project.yml`, a variable's name, or `default`. */
export type StateSetting = { readonly state: StateConfig; readonly origin: string };

type Values = ValuesOf<typeof FIELDS>;
type Env = { readonly [name: string]: string };

/** The JSON Schema of `state:`. */
export function stateSchema(): JsonSchema {
  return blockSchema(FIELDS, RULES, false);
}

/**
 * Reads `state:`; a key that is not there comes from its `PZ_STATE_…` variable. No message holds a value.
 *
 * @param connections the root of connections.yml, undefined where it can't be read
 */
export function readState(
  node: YamlNode,
  outer: Scope,
  env: Env,
  connections: YamlMap | undefined,
): StateSetting {
  const scope: Scope = { ...outer, code: "PZ0124", secret: true };
  const fallback: StateSetting = { state: { backend: "local" }, origin: "default" };
  const map: YamlMap | undefined = node.kind === "empty"
    ? { kind: "map", entries: [], position: node.position }
    : mapOrReport(node, scope);
  if (map === undefined) return fallback;
  const { values } = readFields(map, FIELDS, RULES, scope);
  const written = entryOf(map, "backend");
  if (written !== undefined && values.backend === undefined) return fallback;

  const variable = setting(env, "PZ_STATE_BACKEND");
  const backend = values.backend ?? backendOf(variable, scope);
  if (backend === undefined) return fallback;
  const origin = values.backend !== undefined ? "project.yml" : variable !== undefined ? "PZ_STATE_BACKEND" : "default";
  for (const entry of map.entries) {
    if (!Object.hasOwn(FIELDS, entry.key) || KEYS[backend].includes(entry.key)) continue;
    const message = `'${scope.path}.${entry.key}' has no meaning for the backend '${backend}'`;
    report(scope.problems, "PZ0124", message, entry.position, `Its keys are ${KEYS[backend].join(", ")}.`);
  }
  if (backend === "local") return { state: { backend }, origin };
  const state = backend === "http"
    ? httpState(values, map, scope, env)
    : sqlState(backend, values, map, scope, env, connections);
  return { state, origin };
}

function httpState(values: Values, map: YamlMap, scope: Scope, env: Env): StateConfig {
  const { problems } = scope;
  for (const key of ["artifacts", "events"] as const) {
    if (values[key] ?? flagOf(env, `PZ_STATE_${key.toUpperCase()}`, scope)) {
      const place = entryOf(map, key)?.value.position ?? scope.key;
      const hint = "Remove it: run results and events stay on the machine that ran.";
      report(problems, "PZ0124", `'${key}' can't be true with the backend 'http'`, place, hint);
    }
  }
  const url = values.url ?? setting(env, "PZ_STATE_URL");
  const place = entryOf(map, "url")?.value.position ?? scope.key;
  const parsed = url === undefined || !URL.canParse(url) ? undefined : new URL(url);
  if (url === undefined) {
    report(problems, "PZ0125", "The backend 'http' has no address", place, "Add 'url:' or set PZ_STATE_URL.");
  } else if (parsed === undefined || !/^https?:$/.test(parsed.protocol)) {
    const hint = "Write it as in 'https://state.example.com/team'.";
    report(problems, "PZ0125", "The address of the state service must be a full http or https address", place, hint);
  } else if (parsed.protocol === "http:" && setting(env, "PZ_STATE_TOKEN") !== undefined && !isLoopback(parsed)) {
    const message = "The state token would go over http, where anyone on the way can read it";
    warn(problems, "PZ0530", message, place, "Use https.");
  }
  const timeoutSeconds = values.timeout_seconds ?? wholeOf(env, "PZ_STATE_TIMEOUT_SECONDS", scope);
  return { backend: "http", ...withoutUndefined({ url, timeoutSeconds }) };
}

function sqlState(
  backend: "sqlserver" | "postgres",
  values: Values,
  map: YamlMap,
  scope: Scope,
  env: Env,
  connections: YamlMap | undefined,
): StateConfig {
  const { problems } = scope;
  const { connection } = values;
  const entry = entryOf(map, "connection");
  if (connection !== undefined && entry !== undefined) {
    if (connections !== undefined) checkConnection(connection, backend, connections, entry.value, problems);
  } else if (entry === undefined && setting(env, "PZ_STATE_CONNECTION_STRING") === undefined) {
    const hint = `Add 'connection:' with a ${backend} connection, or set PZ_STATE_CONNECTION_STRING.`;
    report(problems, "PZ0125", `The backend '${backend}' has no connection`, scope.key, hint);
  }
  const artifacts = values.artifacts ?? flagOf(env, "PZ_STATE_ARTIFACTS", scope) ?? true;
  const events = values.events ?? flagOf(env, "PZ_STATE_EVENTS", scope) ?? false;
  if (events && !artifacts) {
    const place = (entryOf(map, "events") ?? entryOf(map, "artifacts"))?.value.position ?? scope.key;
    report(problems, "PZ0124", "'events' can't be kept without 'artifacts'", place, "Set artifacts: true.");
  }
  const schema = values.schema ?? setting(env, "PZ_STATE_SCHEMA") ?? "pz";
  return { backend, ...withoutUndefined({ connection }), schema, artifacts, events };
}

function checkConnection(name: string, backend: string, root: YamlMap, node: YamlNode, problems: Problems): void {
  const entry = entryOf(root, name);
  if (entry === undefined) {
    const names = root.entries.map(({ key }) => key);
    const hint = didYouMean(name, names) ?? "Add it to connections.yml.";
    report(problems, "PZ0125", "The state's connection is not in connections.yml", node.position, hint);
    return;
  }
  const connector = entry.value.kind === "map" ? entryOf(entry.value, "connector")?.value : undefined;
  if (connector?.kind !== "scalar" || connector.text === backend) return;
  const message = `The state's connection must have the connector '${backend}'`;
  report(problems, "PZ0125", message, node.position, `Name a connection with 'connector: ${backend}'.`);
}

function isLoopback({ hostname }: URL): boolean {
  return hostname === "localhost" || hostname === "[::1]" || hostname.startsWith("127.");
}

/** A variable's value; an empty one counts as not set. */
function setting(env: Env, name: string): string | undefined {
  const value = Object.hasOwn(env, name) ? env[name] : undefined;
  return value === "" ? undefined : value;
}

function backendOf(variable: string | undefined, scope: Scope): Backend | undefined {
  if (variable === undefined) return "local";
  const backend = BACKENDS.find((name) => name === variable);
  if (backend === undefined) reportVariable("PZ_STATE_BACKEND", `one of ${BACKENDS.join(", ")}`, scope);
  return backend;
}

function flagOf(env: Env, name: string, scope: Scope): boolean | undefined {
  const value = setting(env, name)?.toLowerCase();
  if (value === undefined) return undefined;
  if (value !== "true" && value !== "false") reportVariable(name, "true or false", scope);
  return value === "true";
}

function wholeOf(env: Env, name: string, scope: Scope): number | undefined {
  const value = setting(env, name);
  if (value === undefined) return undefined;
  if (/^[1-9][0-9]{0,8}$/.test(value)) return Number(value);
  reportVariable(name, "a whole number of at least 1", scope);
  return undefined;
}

function reportVariable(name: string, expected: string, scope: Scope): void {
  const message = `The environment variable '${name}' must be ${expected}`;
  report(scope.problems, "PZ0124", message, { file: scope.key.file }, `Correct ${name} or unset it.`);
}
