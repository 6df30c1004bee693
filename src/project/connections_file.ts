import { editDistance } from "../util/mod.ts";
import {
  block,
  type BlockRules,
  blockSchema,
  type Fields,
  mapOrReport,
  readFields,
  reportUnknownKey,
} from "./blocks.ts";
import { entitiesShape } from "./entities.ts";
import { type Environment, interpolatedValues } from "./interpolate.ts";
import type { Connection, RateLimit } from "./model.ts";
import { checkConnectionName } from "./names.ts";
import { recordOf, withoutUndefined } from "./optional.ts";
import { type Problems, report } from "./problems.ts";
import { outputsRetired } from "./retired.ts";
import { retryShape } from "./retry_block.ts";
import {
  about,
  coded,
  flag,
  type JsonSchema,
  rootScope,
  type Scope,
  scopeOf,
  type Shape,
  text,
  whole,
} from "./shapes.ts";
import { entryOf, placesOf, type YamlEntry, type YamlMap } from "./yaml_node.ts";

const RATE_LIMIT = block({
  requests_per_minute: about("Operations a minute, over all entities and attempts.", whole(1, 1_000_000)),
  burst: about("Operations that may start at once; a second's worth unless set.", whole(1, 1_000_000)),
}, { code: "PZ0318", required: ["requests_per_minute"] });

/** The keys of a connection that pz owns; all others are the connector's. */
const CONNECTION_FIELDS = {
  connector: about("The connector's name.", text("a connector's name such as localfiles")),
  entities: about("What is known about single entities, such as tables or files.", entitiesShape()),
  max_concurrency: about("Nodes of this connection that may run at once.", coded("PZ0122", whole(1))),
  rate_limit: about("Paces the connector's operations.", rateLimitShape()),
  retry: about("How failed operations are repeated.", retryShape()),
  allow_unsigned_extensions: about("Load a DuckDB extension that is not signed.", flag()),
} satisfies Fields;

const CONNECTION_RULES: BlockRules = { required: ["connector"] };

/** The JSON Schema of connections.yml. */
export function connectionsSchema(): JsonSchema {
  return { type: "object", additionalProperties: blockSchema(CONNECTION_FIELDS, CONNECTION_RULES, true) };
}

/** Reads connections.yml; each usable connection under its name, and every problem reported. */
export function readConnections(
  root: YamlMap,
  environment: Environment,
  problems: Problems,
): { readonly [name: string]: Connection } {
  const scope = rootScope(root.position, "PZ0101", problems);
  const connections: [string, Connection][] = [];
  for (const entry of root.entries) {
    if (entry.key === "outputs") {
      report(problems, outputsRetired.code, outputsRetired.message, entry.position, outputsRetired.hint);
      continue;
    }
    checkConnectionName(entry.key, entry.position, problems);
    const connection = readConnection(entry, scopeOf(scope, entry), environment);
    if (connection !== undefined) connections.push([entry.key, connection]);
  }
  return recordOf(connections);
}

function readConnection(entry: YamlEntry, scope: Scope, environment: Environment): Connection | undefined {
  const map = mapOrReport(entry.value, scope, CONNECTION_RULES);
  if (map === undefined || isWrapper(entry, map, scope) || isProfile(entry, map, scope)) return undefined;
  const { values, rest } = readFields(map, CONNECTION_FIELDS, CONNECTION_RULES, scope, true);
  const options = rest.filter((option) => !isMisspelt(option, map, scope));
  const { config, filled } = readConfig(options, environment, scope);
  const { connector, entities = recordOf([]), max_concurrency: maxConcurrency, rate_limit: rateLimit } = values;
  if (connector === undefined) return undefined;
  return {
    name: entry.key,
    connector,
    config,
    ...(Object.keys(filled).length === 0 ? {} : { filled }),
    entities,
    ...withoutUndefined({ maxConcurrency, rateLimit, retry: values.retry }),
    allowUnsignedExtensions: values.allow_unsigned_extensions ?? false,
    position: entry.position,
    places: placesOf(map),
  };
}

/** The connector's settings, and the texts that variables brought into each. */
function readConfig(
  options: readonly YamlEntry[],
  { values, used }: Environment,
  scope: Scope,
): Required<Pick<Connection, "config" | "filled">> {
  const settings: [string, Connection["config"][string]][] = [];
  const filled: [string, readonly string[]][] = [];
  for (const option of options) {
    const own = new Set<string>();
    settings.push(...Object.entries(interpolatedValues([option], { values, used: own }, scope.problems)));
    const texts = [...own].filter((text) => text !== "");
    texts.forEach((text) => used.add(text));
    if (texts.length > 0) filled.push([option.key, texts]);
  }
  return { config: Object.fromEntries(settings), filled: recordOf(filled) };
}

/** Older layouts had a key around all connections. */
function isWrapper(entry: YamlEntry, map: YamlMap, scope: Scope): boolean {
  const wraps = /^(?:connections|sources|sinks)$/.test(entry.key) && map.entries.length > 0 &&
    map.entries.every(({ value }) => value.kind === "map");
  if (!wraps) return false;
  report(
    scope.problems,
    "PZ0101",
    `'${entry.key}' is no connection, but wraps others`,
    entry.position,
    `Connections stand at the top level: remove '${entry.key}:' and indent less.`,
  );
  return true;
}

/** A connection as other tools describe one: `type` for its connector, or several targets under `outputs`. */
function isProfile(entry: YamlEntry, map: YamlMap, scope: Scope): boolean {
  if (entryOf(map, "connector") !== undefined) return false;
  const type = entryOf(map, "type");
  const outputs = entryOf(map, "outputs");
  const place = type ?? outputs;
  if (place === undefined) return false;
  report(
    scope.problems,
    "PZ0101",
    `Missing key 'connector' in '${entry.key}'`,
    place.position,
    type !== undefined
      ? "Write 'connector:' in place of 'type:'."
      : "A connection has no targets: put its settings under its name, and write what differs as ${NAME}.",
  );
  return true;
}

/** A key one edit away from one of pz's own is no option of a connector. */
function isMisspelt(option: YamlEntry, connection: YamlMap, scope: Scope): boolean {
  const own = Object.keys(CONNECTION_FIELDS);
  const near = own.find((key) => editDistance(option.key.toLowerCase(), key) === 1);
  if (near === undefined) return false;
  // What stands in place of the required key was reported with it.
  const reported = near === "connector" && entryOf(connection, near) === undefined;
  if (!reported) reportUnknownKey(option, own, scope);
  return true;
}

function rateLimitShape(): Shape<RateLimit> {
  return {
    schema: RATE_LIMIT.schema,
    read(node, scope) {
      const { requests_per_minute: requestsPerMinute, burst } = RATE_LIMIT.read(node, scope) ?? {};
      if (requestsPerMinute === undefined) return undefined;
      return { requestsPerMinute, burst: burst ?? Math.max(1, Math.floor(requestsPerMinute / 60)) };
    },
  };
}
