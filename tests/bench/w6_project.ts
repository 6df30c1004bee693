import type { Files } from "../harness/temp_dir.ts";

/** A project of tiny pipelines over one CSV file of ten rows, and what its only output must hold. */
export type GraphProject = {
  readonly files: Files;
  /** Nodes of the graph: the pipelines, one load and one write. */
  readonly nodes: number;
  /** The sum of `value` over the ten rows of `out/result/result.parquet`. */
  readonly sum: bigint;
};

const ROWS = 10n;
/** Values stay below this, so that no sum runs over. */
const MODULUS = 1_000_003n;

/** `layers` layers of `width` pipelines, each of which joins two of the layer before, and one that unites the last. */
export function layeredProject(layers: number, width: number): GraphProject {
  const pipelines: { [name: string]: string } = {};
  let values = Array.from({ length: width }, (_, column) => startValues(BigInt(column)));
  for (let column = 0; column < width; column++) {
    pipelines[name(0, column)] = selectFromSource(BigInt(column));
  }
  for (let layer = 1; layer < layers; layer++) {
    const before = values;
    values = before.map((left, column) => left.map((value, row) => mix(value, before[(column + 1) % width]?.[row])));
    for (let column = 0; column < width; column++) {
      pipelines[name(layer, column)] = `SELECT a.id, (a.value + b.value) % ${MODULUS} AS value\n` +
        `FROM ${ref(name(layer - 1, column))} AS a JOIN ${ref(name(layer - 1, (column + 1) % width))} AS b USING (id)`;
    }
  }
  const ends = Array.from({ length: width }, (_, column) => name(layers - 1, column));
  return unite(pipelines, ends, values);
}

/** Pipelines that each read the one before. */
export function chainProject(length: number): GraphProject {
  const pipelines: { [name: string]: string } = { [name(0, 0)]: selectFromSource(0n) };
  for (let link = 1; link < length; link++) {
    pipelines[name(link, 0)] = `SELECT id, (value + 1) % ${MODULUS} AS value FROM ${ref(name(link - 1, 0))}`;
  }
  return project(pipelines, name(length - 1, 0), startValues(BigInt(length - 1)));
}

/** Pipelines that all read the one source, and one that unites them. */
export function starProject(arms: number): GraphProject {
  const pipelines: { [name: string]: string } = {};
  for (let arm = 0; arm < arms; arm++) pipelines[name(arm, 0)] = selectFromSource(BigInt(arm));
  const values = Array.from({ length: arms }, (_, arm) => startValues(BigInt(arm)));
  return unite(pipelines, Object.keys(pipelines), values);
}

/** Adds the pipeline that fills the output: for each row, the sum over some pipelines whose values are given. */
function unite(
  pipelines: { readonly [name: string]: string },
  ends: readonly string[],
  values: readonly (readonly bigint[])[],
): GraphProject {
  const union = ends.map((end) => `SELECT id, value FROM ${ref(end)}`).join(" UNION ALL\n");
  const result = `SELECT id, sum(value)::BIGINT AS value\nFROM (\n${union}\n)\nGROUP BY id`;
  return project({ ...pipelines, result }, "result", values.flat());
}

function project(
  pipelines: { readonly [name: string]: string },
  last: string,
  values: readonly bigint[],
): GraphProject {
  const files: { [path: string]: string } = {
    "project.yml": `name: graph\nversion: "1"\nengine:\n  threads: 2\n  duckdb: { threads: 2 }\n`,
    "connections.yml": `in:\n  connector: localfiles\n  root: data\n  entities:\n` +
      `    rows:\n      read:\n        format: csv\n        columns: { id: bigint, value: bigint }\n` +
      `out:\n  connector: localfiles\n  root: out\n`,
    "data/rows.csv": `id,value\n${startValues(0n).map((value, id) => `${id},${value}\n`).join("")}`,
  };
  const sink = `INSERT INTO {{ sink('out', 'result', format: 'parquet', strategy: 'replace') }}\n`;
  for (const [name, sql] of Object.entries(pipelines)) {
    files[`pipelines/${name}.sql`] = `${name === last ? sink : ""}${sql}\n`;
  }
  return {
    files,
    nodes: Object.keys(pipelines).length + 2,
    sum: values.reduce((sum, value) => sum + value, 0n),
  };
}

function name(layer: number, column: number): string {
  return `p${String(layer).padStart(4, "0")}_${String(column).padStart(3, "0")}`;
}

function ref(pipeline: string): string {
  return `{{ ref('${pipeline}') }}`;
}

function selectFromSource(shift: bigint): string {
  return `SELECT id, (value + ${shift}) % ${MODULUS} AS value FROM {{ source('in', 'rows') }}`;
}

/** The values of the file's rows, shifted. */
function startValues(shift: bigint): bigint[] {
  return Array.from({ length: Number(ROWS) }, (_, row) => (BigInt(row) * 7n + shift) % MODULUS);
}

function mix(a: bigint, b: bigint | undefined): bigint {
  return (a + (b ?? 0n)) % MODULUS;
}
