import type { CheckNode } from "../../compile/mod.ts";
import { ident, literal, qualified } from "../../duckdb/mod.ts";
import { PzError } from "../../errors/mod.ts";
import type { Check, Value } from "../../project/mod.ts";
import type { NodeContext, NodeOutcome } from "../run_context.ts";
import { integer, rows } from "../statements.ts";

const MAX_SAMPLES = 5;
const MAX_SAMPLE_LENGTH = 400;

/** How a check's violations are counted, told and shown. */
type Probe = {
  /** A query for the number of violations. */
  readonly count: string;
  readonly message: (violations: bigint) => string;
  /** A query whose rows are examples; read only on failure, and only if samples are wanted. */
  readonly samples: string | undefined;
};

/** Counts a check's violations; any makes the node fail with PZ0510 and up to five samples. */
export async function runCheck(context: NodeContext, node: CheckNode): Promise<NodeOutcome> {
  const probe = await probeOf(context, node);
  const violations = await integer(context, probe.count);
  if (violations === 0n) return { rows: 0 };
  const lines = [probe.message(violations)];
  if (node.sampleValues && probe.samples !== undefined) {
    // The whole row as one value, so that the sample names its columns.
    const query = `SELECT CAST(pz_sample AS VARCHAR) FROM (${probe.samples}) AS pz_sample LIMIT ${MAX_SAMPLES}`;
    for (const [sample] of await rows(context, query)) lines.push(`  ${shorten(sample ?? "NULL")}`);
  }
  return { rows: Number(violations), failure: { code: "PZ0510", message: lines.join("\n") } };
}

async function probeOf(context: NodeContext, node: CheckNode): Promise<Probe> {
  const { check, pipeline } = node;
  const relation = qualified("staging", node.relation);
  const named = `[${check.columns.join(", ")}]`;
  switch (check.type) {
    case "not_null": {
      const test = check.columns.map((column) => `${ident(column)} IS NULL`).join(" OR ");
      return {
        count: `SELECT count(*) FROM ${relation} WHERE ${test}`,
        message: (n) => `${plural(n, "row")} of '${pipeline}' ${n === 1n ? "has" : "have"} NULL in ${named}`,
        samples: `SELECT * FROM ${relation} WHERE ${test} LIMIT ${MAX_SAMPLES}`,
      };
    }
    case "unique": {
      const columns = check.columns.map(ident).join(", ");
      const groups = `SELECT ${columns}, count(*) AS "count" FROM ${relation} GROUP BY ${columns} HAVING count(*) > 1`;
      return {
        count: `SELECT count(*) FROM (${groups})`,
        message: (n) =>
          `${plural(n, "value")} of ${named} ${n === 1n ? "stands" : "stand"} in more than one row of '${pipeline}'`,
        samples: `${groups} ORDER BY ALL LIMIT ${MAX_SAMPLES}`,
      };
    }
    case "row_count":
      return await rowCountProbe(context, node, relation);
    case "freshness":
      return freshnessProbe(context, node, relation);
    case "accepted_values": {
      const column = ident(check.columns[0] ?? "");
      const values = await valueList(context, relation, column, check.values ?? []);
      const test = `${column} IS NOT NULL${values === "" ? "" : ` AND ${column} NOT IN (${values})`}`;
      return {
        count: `SELECT count(*) FROM ${relation} WHERE ${test}`,
        message: (n) =>
          `${plural(n, "row")} of '${pipeline}' ${n === 1n ? "has" : "have"} a value in ${named} that is not accepted`,
        samples: `SELECT DISTINCT ${column} FROM ${relation} WHERE ${test} ORDER BY ALL LIMIT ${MAX_SAMPLES}`,
      };
    }
    case "custom_sql": {
      const query = (check.sql ?? "").trim().replace(/(?:\s*;)+$/, "");
      // Only a text that is one statement by itself can't break out of the parentheses around it.
      if (await context.connection.statementCount(query) !== 1) {
        throw new PzError("PZ0510", `Check '${check.name ?? node.name}' must be exactly one SELECT statement`);
      }
      return {
        count: `SELECT count(*) FROM (\n${query}\n) AS pz_check`,
        message: (n) => `${plural(n, "row")} returned by the query of check '${check.name ?? node.name}'`,
        samples: `\n${query}\n`,
      };
    }
  }
}

async function rowCountProbe(context: NodeContext, node: CheckNode, relation: string): Promise<Probe> {
  const { min, max } = node.check;
  const count = await integer(context, `SELECT count(*) FROM ${relation}`);
  const outside = (min !== undefined && count < min) || (max !== undefined && count > max);
  return {
    count: `SELECT ${outside ? 1 : 0}`,
    message: () => `'${node.pipeline}' has ${plural(count, "row")}, expected ${range(min, max)}`,
    samples: undefined,
  };
}

function freshnessProbe({ run }: NodeContext, node: CheckNode, relation: string): Probe {
  const column = node.check.columns[0] ?? "";
  const limit = new Date(run.now() - (node.check.maxAgeMs ?? 0)).toISOString().replace("T", " ").replace("Z", "");
  // Sessions run in UTC, so that a moment with a zone becomes its UTC text.
  const newest = `max(${ident(column)})::TIMESTAMP`;
  return {
    count: `SELECT (${newest} IS NULL OR ${newest} < TIMESTAMP '${limit}')::INTEGER FROM ${relation}`,
    message: () => `The newest value of [${column}] in '${node.pipeline}' is missing or older than ${limit} UTC`,
    samples: `SELECT max(${ident(column)}) AS newest FROM ${relation}`,
  };
}

/** The values as a list of SQL literals; NULL is left out, since NULL passes by itself. */
async function valueList(
  context: NodeContext,
  relation: string,
  column: string,
  values: NonNullable<Check["values"]>,
): Promise<string> {
  // A bare number beside a text column would make DuckDB read every text as a number.
  const typeOf = `SELECT typeof(${column}) FROM (SELECT ${column} FROM ${relation} LIMIT 1)`;
  const isText = values.some(isNumber) && (await rows(context, typeOf))[0]?.[0] === "VARCHAR";
  return values.flatMap((value) => {
    if (value === null) return [];
    return isNumber(value) && !isText ? [String(value)] : [literal(String(value))];
  }).join(", ");
}

function isNumber(value: Value): value is number | bigint {
  return typeof value === "number" || typeof value === "bigint";
}

function range(min: bigint | undefined, max: bigint | undefined): string {
  if (min === undefined) return `at most ${max}`;
  if (max === undefined) return `at least ${min}`;
  return min === max ? `exactly ${min}` : `${min} to ${max}`;
}

function plural(count: bigint, noun: string): string {
  return `${count} ${noun}${count === 1n ? "" : "s"}`;
}

function shorten(text: string): string {
  return text.length <= MAX_SAMPLE_LENGTH ? text : `${text.slice(0, MAX_SAMPLE_LENGTH)}…`;
}
