/** W1: a flat CSV of mixed types, every row and column through. */
export type Workload = { readonly rows: number; readonly csv: string };

/** What is written. */
export type Format = "parquet" | "csv";

/** `engine.staging`. */
export type Staging = "auto" | "always";

/** Name and type of each column, in the file's order. */
export const COLUMNS: readonly (readonly [name: string, type: string])[] = [
  ["id", "BIGINT"],
  ["customer_id", "BIGINT"],
  ["code", "VARCHAR"],
  ["status", "VARCHAR"],
  ["amount", "DECIMAL(18,2)"],
  ["score", "DOUBLE"],
  ["created_at", "TIMESTAMP"],
  ["due", "DATE"],
  ["flag", "BOOLEAN"],
  ["note", "VARCHAR"],
];

/** Writes the CSV from integer arithmetic on the row number, the same in every version of DuckDB. */
export function generateSql({ rows, csv }: Workload): string {
  return `COPY (
    WITH numbers AS (SELECT i, (i * 2654435761) % 4294967296 AS mix FROM range(${rows}) t(i))
    SELECT i AS id,
      mix % 1000003 AS customer_id,
      'C' || lpad((mix % 9973)::VARCHAR, 6, '0') AS code,
      ['new', 'paid', 'sent, partial', 'O''Neil "x"', 'straße', 'done', 'done'][(mix % 7)::INTEGER + 1] AS status,
      ((mix % 10000000) / 100.0)::DECIMAL(18, 2) AS amount,
      CASE WHEN mix % 11 <> 0 THEN (mix % 100000) / 7.0 END AS score,
      TIMESTAMP '2020-01-01' + to_microseconds(i * 37000000) AS created_at,
      DATE '2019-01-01' + (mix % 2000)::INTEGER AS due,
      mix % 2 = 0 AS flag,
      CASE WHEN mix % 13 <> 0 THEN repeat('n', (mix % 60)::INTEGER) END AS note
    FROM numbers
  ) TO '${csv}' (FORMAT csv, HEADER)`;
}

/** What raw DuckDB runs for the same result: one statement with declared columns; a quoted empty text is a text. */
export function rawSql({ csv }: Pick<Workload, "csv">, target: string, format: Format): string {
  const options = format === "parquet" ? "FORMAT parquet" : "FORMAT csv, HEADER true";
  return `COPY (SELECT * FROM ${readBack(csv, "csv")}) TO '${target}' (${options})`;
}

/** A relation of what stands in a file, with its types. */
export function readBack(file: string, format: Format): string {
  if (format === "parquet") return `read_parquet('${file}')`;
  const columns = COLUMNS.map(([name, type]) => `'${name}': '${type}'`).join(", ");
  return `read_csv('${file}', header = true, allow_quoted_nulls = false, columns = {${columns}})`;
}

/** The pz project for the same result; it stands in a folder of its own beside the CSV's. */
export function pzProject(
  folder: string,
  { staging, format }: { readonly staging: Staging; readonly format: Format },
): { readonly [path: string]: string } {
  const columns = COLUMNS.map(([name, type]) => `          ${name}: "${type.toLowerCase()}"\n`).join("");
  return {
    "project.yml":
      `name: bench\nversion: "1"\nengine:\n  threads: 2\n  staging: ${staging}\n  duckdb: { threads: 2 }\n`,
    "connections.yml":
      `in:\n  connector: localfiles\n  root: ${folder}\n  entities:\n    rows:\n      read:\n        format: csv\n` +
      `        columns:\n${columns}out:\n  connector: localfiles\n  root: out\n`,
    "pipelines/copy_rows.sql": `INSERT INTO {{ sink('out', 'rows', format: '${format}', strategy: 'replace') }}\n` +
      `SELECT * FROM {{ source('in', 'rows') }}\n`,
  };
}
