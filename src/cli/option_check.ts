import type { CompiledDag, SinkWriteNode, SourceLoadNode } from "../compile/mod.ts";
import type { ConnectorDescription, ConnectorSet } from "../connectors/mod.ts";
import { PzError, sortErrors } from "../errors/mod.ts";
import { READ_KEYS, type SourcePosition, type ValueMap, WRITE_KEYS } from "../project/mod.ts";
import { nearMiss } from "../util/mod.ts";

/** Options that the planner judges, whatever the connector calls its own. */
const PLANNED_READ_OPTIONS = ["partition_column", "partitions", "files_per_partition"];
const PLANNED_WRITE_OPTIONS = ["partition_by"];

/**
 * PZ0301 for each option of a connection, a read or a write of the given nodes that its connector does not know: an
 * option that nobody reads is a mistake that nobody sees.
 */
export function checkOptions(
  dag: CompiledDag,
  effective: Iterable<string>,
  connectors: ConnectorSet,
): readonly PzError[] {
  const wanted = new Set(effective);
  const problems = new Map<string, PzError>();
  for (const node of dag.nodes) {
    if (!wanted.has(node.id) || (node.kind !== "SourceLoad" && node.kind !== "SinkWrite")) continue;
    const connector = connectors.find(node.connection.connector);
    if (connector === undefined || connector === "planned") continue;
    for (const problem of problemsOf(node, connector)) problems.set(problem.message, problem);
  }
  return sortErrors([...problems.values()]);
}

function problemsOf(node: SourceLoadNode | SinkWriteNode, connector: ConnectorDescription): PzError[] {
  const { connection, entity } = node;
  const read = node.kind === "SourceLoad";
  const options = read ? node.read.options : node.write.options;
  const known = read ? connector.readOptions : connector.writeOptions;
  const planned = read ? PLANNED_READ_OPTIONS : PLANNED_WRITE_OPTIONS;
  const declared = connection.entities[entity];
  const inFile = read ? declared?.read !== undefined : declared?.write !== undefined;
  return [
    ...unknownOptions(connection.config, connector.connectionOptions, {
      where: `connection '${connection.name}'`,
      what: `connector '${connector.name}' has no such option of a connection`,
      placeOf: (name) => connection.places?.[name] ?? connection.position,
      belongsTo: (name) => sidesOf(name, connector),
    }),
    ...unknownOptions(options, known === undefined ? undefined : [...new Set([...known, ...planned])], {
      where: `${read ? "source" : "sink"} '${connection.name}.${entity}'`,
      what: `connector '${connector.name}' has no such option of a ${read ? "read" : "write"}`,
      own: read ? READ_KEYS : WRITE_KEYS,
      placeOf: (name) => (inFile ? declared?.places?.[read ? "read" : "write"][name] : undefined) ?? node.position,
    }),
  ];
}

/** Where an option of entities, not of connections, is to be put; undefined for any other. */
function sidesOf(name: string, { readOptions = [], writeOptions = [] }: ConnectorDescription): string | undefined {
  if (name === "read" || name === "write") return "put it under 'entities:' and the name of an entity";
  const sides = [
    ...([...readOptions, ...READ_KEYS].includes(name) ? [{ key: "read", call: "source()" }] : []),
    ...([...writeOptions, ...WRITE_KEYS].includes(name) ? [{ key: "write", call: "sink()" }] : []),
  ];
  if (sides.length === 0) return undefined;
  const keys = sides.map(({ key }) => `'${key}:'`).join(" or ");
  return `put it under 'entities:', the entity's name and ${keys}, or into the call of ${
    sides.map(({ call }) => call).join(" or ")
  }`;
}

/** What options of pz's connectors are called elsewhere. */
const OTHER_NAMES: { readonly [option: string]: readonly string[] } = {
  database: ["dbname", "db", "catalog"],
  user: ["username", "login", "role", "uid"],
  password: ["pass", "pwd", "passwd"],
  host: ["hostname", "server", "address"],
  ssl_mode: ["sslmode", "ssl", "tls"],
  path: ["file", "filename", "file_path", "location", "glob", "database", "db", "dbname"],
  root: ["path", "dir", "directory", "folder", "base_path"],
  delimiter: ["sep", "separator", "delim"],
};

/** What elsewhere holds all of a connection. */
const ADDRESSES: ReadonlySet<string> = new Set(["url", "uri", "dsn", "conn_string", "connection_string"]);
const ADDRESS_PARTS = ["host", "port", "database", "user", "password"];

/** What an unknown option most likely meant, in words. */
function meantOption(name: string, known: readonly string[]): string | undefined {
  const word = name.toLowerCase();
  if (ADDRESSES.has(word) && ADDRESS_PARTS.every((part) => known.includes(part))) {
    return `give ${ADDRESS_PARTS.slice(0, -1).join(", ")} and ${ADDRESS_PARTS.at(-1)} one by one`;
  }
  if (word === "schema" && known.includes("database")) return "name it in the entity, as in 'sales.orders'";
  const meant = known.find((option) => OTHER_NAMES[option]?.includes(word)) ?? nearMiss(name, known);
  return meant === undefined ? undefined : `did you mean '${meant}'?`;
}

function unknownOptions(
  options: ValueMap,
  known: readonly string[] | undefined,
  place: {
    readonly where: string;
    readonly what: string;
    /** Keys of pz's own that may stand there too. */
    readonly own?: readonly string[];
    readonly placeOf: (name: string) => SourcePosition;
    /** Where an unknown one would be known, in words. */
    readonly belongsTo?: (name: string) => string | undefined;
  },
): PzError[] {
  if (known === undefined) return [];
  const all = [...place.own ?? [], ...known];
  return Object.keys(options).filter((name) => !known.includes(name)).map((name) => {
    const meant = meantOption(name, all) ?? place.belongsTo?.(name);
    const hint = meant !== undefined
      ? meant
      : all.length === 0
      ? "remove it"
      : `the ${all.length === 1 ? "only option is" : "options are"} ${all.join(", ")}`;
    return new PzError("PZ0301", `unknown option '${name}' of ${place.where}: ${place.what}`, {
      ...place.placeOf(name),
      hint,
    });
  });
}
