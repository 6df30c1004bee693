import { block, type BlockRules, blockSchema, type Fields, mapOrReport, readFields } from "./blocks.ts";
import { DEFAULT_ENGINE, engineShape } from "./engine_block.ts";
import { type Environment, interpolatedValues } from "./interpolate.ts";
import type { EngineConfig, Project, ValueMap } from "./model.ts";
import { type Problems, report } from "./problems.ts";
import { dbtKeys, feedsRetired, outputsRetired } from "./retired.ts";
import {
  about,
  coded,
  type JsonSchema,
  listOf,
  reportUnexpected,
  rootScope,
  type Scope,
  scopeOf,
  type Shape,
  text,
  whole,
  word,
} from "./shapes.ts";
import { readState, stateSchema, type StateSetting } from "./state_block.ts";
import { entryOf, type YamlMap, type YamlNode } from "./yaml_node.ts";

const DEFAULT_KEEP_LAST = 10;

const FIELDS = {
  name: about("The project's name.", text()),
  version: about("The project's version.", text()),
  pz: about("The versions of pz that the project is for.", text("a version constraint such as '>=1.0'")),
  connectors: about("Connectors that are not built in.", connectorsShape()),
  vars: about("Values for var() in pipelines.", anything({ type: ["object", "null"] })),
  engine: about("How runs use the machine.", engineShape()),
  retention: about("Runs whose staging is kept; 10 unless set.", coded("PZ0123", retentionShape())),
  state: about("Where positions and results are kept.", anything(stateSchema())),
  on_source_drift: about(
    "What happens where a source without a contract changed its columns.",
    coded("PZ0126", word("ignore", "warn", "fail")),
  ),
} satisfies Fields;

const RULES: BlockRules = {
  required: ["name", "version"],
  refused: { ...dbtKeys, outputs: outputsRetired, feeds: feedsRetired },
};

/** What project.yml says, with defaults filled in. */
export type ProjectFile =
  & Pick<Project, "name" | "version" | "connectors" | "keepLast" | "onSourceDrift">
  & StateSetting
  & { readonly engine: EngineConfig; readonly vars: ValueMap };

/** The JSON Schema of project.yml. */
export function projectSchema(): JsonSchema {
  return blockSchema(FIELDS, RULES, false);
}

/** Reads project.yml, reporting every problem. */
export function readProjectFile(
  root: YamlMap,
  environment: Environment,
  connections: YamlMap | undefined,
  problems: Problems,
): ProjectFile {
  const scope = rootScope(root.position, "PZ0101", problems);
  const { values } = readFields(root, FIELDS, RULES, scope);
  return {
    name: values.name ?? "",
    version: values.version ?? "",
    connectors: values.connectors ?? [],
    vars: readVars(root, scope, environment),
    engine: values.engine ?? DEFAULT_ENGINE,
    keepLast: values.retention === undefined ? DEFAULT_KEEP_LAST : values.retention.keepLast,
    onSourceDrift: values.on_source_drift ?? "ignore",
    ...readStateOf(root, environment, connections, problems),
  };
}

/** Reads only `state:` of project.yml. */
export function readStateOf(
  root: YamlMap,
  environment: Environment,
  connections: YamlMap | undefined,
  problems: Problems,
): StateSetting {
  const scope = rootScope(root.position, "PZ0101", problems);
  const entry = entryOf(root, "state") ?? { key: "state", position: root.position, value: emptyOf(root) };
  return readState(entry.value, scopeOf(scope, entry), environment.values, connections);
}

function emptyOf(root: YamlMap): YamlNode {
  return { kind: "empty", position: root.position };
}

function readVars(root: YamlMap, scope: Scope, environment: Environment): ValueMap {
  const entry = entryOf(root, "vars");
  if (entry === undefined) return {};
  const map = mapOrReport(entry.value, { ...scopeOf(scope, entry), code: "PZ0102" });
  return map === undefined ? {} : interpolatedValues(map.entries, environment, scope.problems);
}

/** A key that is read elsewhere, with more at hand. */
function anything(schema: JsonSchema): Shape<YamlNode> {
  return { schema, read: (node) => node };
}

function connectorsShape(): Shape<Project["connectors"]> {
  const fields = {
    package: about(
      "The package's npm name, or the path of its folder or tarball with ./ in front.",
      text("a package's name or path"),
    ),
    version: about("Of an npm package: the version, exact or a range that the lock pins.", versionShape()),
  };
  const byPath = block(fields, { required: ["package"] });
  const byName = block(fields, { required: ["package", "version"] });
  const item: typeof byPath = {
    schema: byPath.schema,
    read: (node, scope) => (isPackagePath(node) ? byPath : byName).read(node, scope),
  };
  const shape = listOf(item, "a list of packages");
  return {
    schema: shape.schema,
    read(node, scope) {
      const connectors: { package: string; version: string | undefined }[] = [];
      for (const { package: id, version } of shape.read(node, scope) ?? []) {
        if (id === undefined) continue;
        if (connectors.some((other) => other.package.toLowerCase() === id.toLowerCase())) {
          const message = `The package '${id}' stands in '${scope.path}' twice`;
          report(scope.problems, scope.code, message, scope.key, "Keep one version of it.");
        }
        connectors.push({ package: id, version });
      }
      return connectors;
    },
  };
}

function isPackagePath(node: YamlNode): boolean {
  const id = node.kind === "map" ? entryOf(node, "package")?.value : undefined;
  return id?.kind === "scalar" && /^(?:\.{1,2}(?:\/|$)|\/|[A-Za-z]:[\\/])/.test(id.text);
}

/** An unquoted 1.10 is the number 1.1 to every YAML reader, so that a version that looks like a decimal needs quotes. */
function versionShape(): Shape<string> {
  const shape = text("a version");
  return {
    schema: { type: "string" },
    read(node, scope) {
      if (node.kind !== "scalar" || typeof node.value !== "number") return shape.read(node, scope);
      reportUnexpected(node, scope, "a version in quotes", `Write "${node.text}".`);
      return undefined;
    },
  };
}

type Retention = { readonly keepLast: number | undefined };

function retentionShape(): Shape<Retention> {
  const shape = block({ keep_last: about("Runs whose staging is kept.", whole(1)) }, { required: ["keep_last"] });
  const words = ["off", "false", "no"];
  return {
    schema: { anyOf: [shape.schema, { enum: [...words, false] }] },
    read(node, scope) {
      if (node.kind === "scalar" && words.includes(node.text.toLowerCase())) return { keepLast: undefined };
      if (node.kind !== "map") {
        reportUnexpected(node, scope, "a map with 'keep_last', or off");
        return undefined;
      }
      const { keep_last: keepLast } = shape.read(node, scope) ?? {};
      return keepLast === undefined ? undefined : { keepLast };
    },
  };
}
