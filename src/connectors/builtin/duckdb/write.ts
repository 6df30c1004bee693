import { dirname } from "node:path";
import type { ConfigProblem, ConnectorContext, NativeCopy, NativeOutcome, OutputSpec } from "../../contract/mod.ts";
import { ident, literal, qualified } from "../../../duckdb/mod.ts";
import { realPath } from "../localfiles/place.ts";
import { checkDatabasePath } from "../shared/database_path.ts";
import { attachment, checkFile, type TableName, tableOf, tableSql } from "./database_file.ts";

/** Where an append records which runs of a node have landed, in the schema of the target. */
const ATTEMPTS = "_pz_attempts";

/**
 * The write into one table, as one transaction. A replace makes the table anew; an append adds rows by column name, once
 * for each node and run, and the runs before that it repeats, however often that is; a merge updates rows by key and adds the others. A table that is
 * not there is made from the rows. Append and merge want the columns of the rows in the target with the same types.
 */
export function writeTable(spec: OutputSpec, context: ConnectorContext): NativeOutcome<NativeCopy> {
  const problems: ConfigProblem[] = [];
  const path = checkDatabasePath("duckdb", spec.config, context, problems);
  const table = tableOf(path, spec.entity, problems);
  if (path !== undefined) checkFile(path, problems);
  if (path === undefined || table === undefined || problems.length > 0) return { ok: false, problems };
  const attempts = qualified(table.alias, table.schema, ATTEMPTS);
  return {
    ok: true,
    value: {
      statement: (relation) => statementOf(spec, table, attempts, relation),
      setup: [
        attachment(path),
        ...(spec.mode === "append"
          ? [`CREATE TABLE IF NOT EXISTS ${attempts} (node VARCHAR, run VARCHAR, ordinal INTEGER)`]
          : []),
      ],
      mechanism: "attach",
      folders: [dirname(path)],
      moves: [],
      target: { path: realPath(path), wholeFolder: false, table: `${table.schema}.${table.table}`.toLowerCase() },
    },
  };
}

function statementOf(spec: OutputSpec, table: TableName, attempts: string, relation: string): string {
  const target = tableSql(table);
  if (spec.mode === "replace") return `CREATE OR REPLACE TABLE ${target} AS SELECT * FROM ${relation}`;
  const change = spec.mode === "append" ? append(spec, target, attempts, relation) : [merge(spec, target, relation)];
  return [
    "BEGIN TRANSACTION",
    `CREATE TABLE IF NOT EXISTS ${target} AS SELECT * FROM ${relation} LIMIT 0`,
    compareColumns(spec.entity, target, relation),
    ...change,
    "COMMIT",
  ].join(";\n");
}

function append(spec: OutputSpec, target: string, attempts: string, relation: string): readonly string[] {
  const { node, run, ordinal, prior = [] } = spec.attempt;
  const runs = [run, ...prior.map((one) => one.run)].map((one) => literal(one)).join(", ");
  const isNew = `NOT EXISTS (SELECT 1 FROM ${attempts} WHERE node = ${literal(node)} AND run IN (${runs}))`;
  return [
    `INSERT INTO ${target} BY NAME SELECT * FROM ${relation} WHERE ${isNew}`,
    `INSERT INTO ${attempts} SELECT ${literal(node)}, ${literal(run)}, ${ordinal} WHERE ${isNew}`,
  ];
}

/** One row of each key takes part; which one of several is not promised. */
function merge(spec: OutputSpec, target: string, relation: string): string {
  const keys = spec.keys.map(ident).join(", ");
  const unique = `SELECT * FROM ${relation} QUALIFY row_number() OVER (PARTITION BY ${keys}) = 1`;
  return `MERGE INTO ${target} AS target USING (${unique}) AS source USING (${keys}) ` +
    `WHEN MATCHED THEN UPDATE BY NAME WHEN NOT MATCHED THEN INSERT BY NAME`;
}

/** Stops where a column of the rows is not in the target, or has another type there. */
function compareColumns(entity: string, target: string, relation: string): string {
  const complaint = `error(${literal(`Table "${entity}" does not take these columns: `)} || ` +
    `string_agg(r.column_name || ' ' || r.column_type || ' (' || coalesce('there ' || t.column_type, 'not there') || ')', ', ') || '; cast or leave them out in the SELECT, or change the table')`;
  return `SELECT CASE WHEN count(*) > 0 THEN ${complaint} END FROM (DESCRIBE SELECT * FROM ${relation}) r ` +
    `LEFT JOIN (DESCRIBE ${target}) t ON lower(r.column_name) = lower(t.column_name) ` +
    `WHERE t.column_type IS DISTINCT FROM r.column_type`;
}
