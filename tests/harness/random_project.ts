import type { Files } from "./temp_dir.ts";

export type RandomNode = {
  readonly kind: "SourceLoad" | "Pipeline" | "Check" | "SinkWrite";
  readonly name: string;
  /** Names of the nodes that must have succeeded before this one starts. */
  readonly dependsOn: readonly string[];
};

/** A made-up project that any machine makes the same from the same seed. */
export type RandomProject = {
  readonly files: Files;
  readonly nodes: readonly RandomNode[];
  /** A statement for each source and pipeline, in order, that makes the same relation in raw DuckDB, by the node's name. */
  readonly expected: readonly { readonly node: string; readonly sql: string }[];
  readonly sinks: readonly RandomSink[];
  /** The pipeline that fails when it runs, where one was asked for. */
  readonly failing: string | undefined;
};

export type RandomSink = { readonly file: string; readonly format: "csv" | "parquet"; readonly pipeline: string };

/** How the tests read a CSV file that pz reads or writes: a quoted empty text is a text, an unquoted one is NULL. */
export function readCsv(file: string): string {
  return `read_csv('${file}', header = true, allow_quoted_nulls = false, ` +
    `columns = {'id': 'BIGINT', 'grp': 'VARCHAR', 'val': 'BIGINT'})`;
}

/**
 * Makes a project of `size` nodes (5 at least): CSV sources with a contract, pipelines that filter, scale, unite, join
 * and group sources and each other, checks that hold, sinks to CSV and Parquet. Every relation has the columns
 * `id BIGINT` (unique), `grp VARCHAR`, `val BIGINT`, so that any pipeline can read any other.
 *
 * @param folder absolute path of the folder that the files will be written to, for `expected`
 */
export function randomProject(
  { seed, size, folder, failing = false }: {
    readonly seed: number;
    readonly size: number;
    readonly folder: string;
    readonly failing?: boolean;
  },
): RandomProject {
  const random = generator(seed);
  const sourceCount = Math.max(1, Math.floor(size / 6));
  const pipelineCount = Math.max(2, Math.floor(size / 2) - 1);
  const sources = Array.from({ length: sourceCount }, (_, i) => ({ entity: `s${i}`, node: `src_files__s${i}` }));
  const pipelines = randomPipelines(random, sources, pipelineCount, failing ? Math.floor(pipelineCount / 2) : -1);
  const { checks, sinks } = randomEnds(random, pipelines.map(({ name }) => name), size - sourceCount - pipelineCount);

  const files: { [path: string]: string } = {
    "project.yml": `name: random_${seed}\nversion: "1"\nengine: { threads: ${1 + seed % 4} }\n`,
    "connections.yml": connections(sourceCount),
  };
  for (const { entity } of sources) files[`data/${entity}.csv`] = csv(random, 20 + Math.floor(random() * 60));
  for (const { name, body, reads } of pipelines) {
    const calls = sinks.filter(({ pipeline }) => pipeline === name).map(({ entity, format }) =>
      `{{ sink('lake', '${entity}', format: '${format}', strategy: 'replace') }}`
    );
    const into = calls.length === 0 ? "" : `INSERT INTO ${calls.length === 1 ? calls[0] : `[${calls.join(", ")}]`}\n`;
    files[`pipelines/${name}.sql`] = `${into}${fill(body, reads.map(({ call }) => call))}\n`;
    const own = checks.filter(({ pipeline }) => pipeline === name).map(({ yaml }) => `  - ${yaml}\n`);
    if (own.length > 0) files[`pipelines/configs/${name}.yml`] = `pipeline: ${name}\nchecks:\n${own.join("")}`;
  }
  return {
    files,
    nodes: [
      ...sources.map(({ node }) => ({ kind: "SourceLoad" as const, name: node, dependsOn: [] })),
      ...pipelines.map(({ name, reads }) => ({
        kind: "Pipeline" as const,
        name,
        dependsOn: [...new Set(reads.map(({ node }) => node))],
      })),
      ...checks.map(({ pipeline, name }) => ({ kind: "Check" as const, name, dependsOn: [pipeline] })),
      ...sinks.map(({ pipeline, entity }) => ({
        kind: "SinkWrite" as const,
        name: `lake.${entity}`,
        dependsOn: [pipeline],
      })),
    ],
    expected: [
      ...sources.map(({ entity, node }) => ({ node, select: `FROM ${readCsv(`${folder}/data/${entity}.csv`)}` })),
      ...pipelines.map(({ name, body, reads }) => ({ node: name, select: fill(body, reads.map(({ node }) => node)) })),
    ].map(({ node, select }) => ({ node, sql: `CREATE TABLE ${node} AS ${select}` })),
    sinks: sinks.map(({ pipeline, entity, format }) => ({
      pipeline,
      format,
      file: `out/${entity}/${entity}.${format}`,
    })),
    failing: pipelines.find(({ body }) => body === BROKEN)?.name,
  };
}

/** How pz spells a relation, and the name of the node that makes it. */
type Relation = { readonly call: string; readonly node: string };
type RandomPipeline = { readonly name: string; readonly body: string; readonly reads: readonly Relation[] };

function randomPipelines(
  random: () => number,
  sources: readonly { readonly entity: string; readonly node: string }[],
  count: number,
  broken: number,
): RandomPipeline[] {
  const relations: Relation[] = sources.map(({ entity, node }) => ({
    call: `{{ source('files', '${entity}') }}`,
    node,
  }));
  return Array.from({ length: count }, (_, i) => {
    const name = `p${String(i).padStart(2, "0")}`;
    const body = i === broken ? BROKEN : pick(random, OPERATIONS);
    const own = sources[i] === undefined ? pick(random, relations) : relations[i];
    const reads = [own ?? pick(random, relations), ...(body.includes("§1") ? [pick(random, relations)] : [])];
    relations.push({ call: `{{ ref('${name}') }}`, node: name });
    return { name, body, reads };
  });
}

function randomEnds(random: () => number, pipelines: readonly string[], count: number): {
  checks: { pipeline: string; name: string; yaml: string }[];
  sinks: { pipeline: string; entity: string; format: "csv" | "parquet" }[];
} {
  const checks: { pipeline: string; name: string; yaml: string }[] = [];
  const sinks: { pipeline: string; entity: string; format: "csv" | "parquet" }[] = [];
  while (checks.length + sinks.length < count) {
    const pipeline = pick(random, pipelines);
    const [yaml, suffix] = pick(random, CHECKS);
    const name = `check_${pipeline}_${suffix}`;
    if (sinks.length === 0 || random() < 0.5 || checks.some((check) => check.name === name)) {
      sinks.push({ pipeline, entity: `out${sinks.length}`, format: random() < 0.5 ? "csv" : "parquet" });
    } else {
      checks.push({ pipeline, name, yaml: fill(yaml, [`staging.${pipeline}`]) });
    }
  }
  return { checks, sinks };
}

/** Checks that hold for every relation, and the end of their nodes' names. */
const CHECKS: readonly (readonly [yaml: string, suffix: string])[] = [
  ["not_null: [id]", "not_null_id"],
  ["unique: [id]", "unique_id"],
  ["row_count: { min: 0 }", "row_count"],
  ["custom_sql: { name: negative_id, sql: 'select id from §0 where id < 0' }", "negative_id"],
];

/** SELECTs over `§0` and perhaps `§1`. */
const OPERATIONS: readonly string[] = [
  "SELECT id, grp, val FROM §0 WHERE id % 3 <> 1",
  "SELECT id, grp, (val * 5 + 7) % 1000003 AS val FROM §0",
  "SELECT id, min(grp) AS grp, (sum(val) % 1000003)::BIGINT AS val " +
  "FROM (SELECT * FROM §0 UNION ALL SELECT * FROM §1) u GROUP BY id",
  "SELECT a.id, a.grp, ((a.val + b.val) % 1000003)::BIGINT AS val FROM §0 a JOIN §1 b ON a.id = b.id",
  "SELECT min(id) AS id, grp, (sum(val) % 1000003)::BIGINT AS val FROM §0 GROUP BY grp",
  "WITH big AS (SELECT * FROM §0 WHERE val >= 4)\nSELECT id, upper(grp) AS grp, val FROM big",
];

/** Binds, and fails as soon as it reads a row. */
const BROKEN = "SELECT id, grp, CAST('x' || id AS BIGINT) AS val FROM §0";

function fill(text: string, values: readonly string[]): string {
  return values.reduce((filled, value, index) => filled.replaceAll(`§${index}`, value), text);
}

function pick<T>(random: () => number, items: readonly T[]): T {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) throw new Error("nothing to pick from");
  return item;
}

function connections(sources: number): string {
  const entities = Array.from(
    { length: sources },
    (_, i) => `    s${i}:\n      read: { columns: { id: bigint, grp: varchar, val: bigint } }\n`,
  );
  return `files:\n  connector: localfiles\n  root: data\n  entities:\n${entities.join("")}` +
    `lake:\n  connector: localfiles\n  root: out\n`;
}

function csv(random: () => number, rows: number): string {
  const words = ["", "Ωmega", "a,b", 'say ""hi""', "naïve", "東京", "x"];
  const lines = Array.from(
    { length: rows },
    (_, id) => `${id},"${pick(random, words)}",${Math.floor(random() * 100000)}\n`,
  );
  return `id,grp,val\n${lines.join("")}`;
}

/** Numbers in [0, 1) from a 32-bit seed (mulberry32), the same on every machine. */
export function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
