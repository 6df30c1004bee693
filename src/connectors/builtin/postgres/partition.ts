import { ConnectorError } from "../../contract/mod.ts";
import { type Dataset, type DatasetColumn, findColumn } from "./dataset.ts";
import { ident } from "./name.ts";
import type { PgSession } from "./session.ts";

/** Whole units in which the values of a column are divided, and how one of them is written. */
type Scale = {
  readonly toUnits: (value: string) => string;
  readonly bound: (units: string) => string;
  readonly filter: string;
};

const NUMBERS: Scale = { toUnits: (value) => value, bound: (units) => `(${units})`, filter: "" };

function scaleOf({ typeName }: DatasetColumn, name: string): Scale | undefined {
  switch (typeName) {
    case "int2":
    case "int4":
    case "int8":
      return NUMBERS;
    case "numeric":
      // Infinities and NaN are no end of a range; they lie in the last partition.
      return { ...NUMBERS, filter: ` WHERE ${name}::text NOT IN ('NaN', 'Infinity', '-Infinity')` };
    case "date":
      return {
        toUnits: (value) => `(${value} - DATE '1970-01-01')`,
        bound: (units) => `(DATE '1970-01-01' + (${units}))`,
        filter: ` WHERE isfinite(${name})`,
      };
    case "timestamp":
    case "timestamptz": {
      const epoch = typeName === "timestamp" ? "TIMESTAMP '1970-01-01'" : "TIMESTAMPTZ '1970-01-01 00:00:00+00'";
      return {
        toUnits: (value) => `floor(extract(epoch FROM ${value}))`,
        bound: (units) => `(${epoch} + (${units}) * INTERVAL '1 second')`,
        filter: ` WHERE isfinite(${name})`,
      };
    }
    default:
      return undefined;
  }
}

/** A part of a read: rows of one snapshot whose values lie in [lower, upper), or are NULL. */
export type Range = {
  /** Undefined: a snapshot of the part's own. */
  readonly snapshot?: string;
  readonly column?: string;
  /** In whole units; absent: no bound. */
  readonly lower?: string;
  readonly upper?: string;
};

/** The part as the id of a partition. */
export function rangeId(range: Range): string {
  return JSON.stringify(range);
}

/** @throws {ConnectorError} for an id that `rangeId` never gave */
export function rangeOf(id: string): Range {
  const value: unknown = JSON.parse(id);
  if (typeof value !== "object" || value === null) throw unknownId();
  const members: { [name: string]: string } = {};
  for (const [name, member] of Object.entries(value)) {
    const isBound = name === "lower" || name === "upper";
    if (typeof member !== "string" || (isBound && !/^-?\d+$/.test(member))) throw unknownId();
    if (name === "snapshot" && !/^[0-9A-F-]+$/.test(member)) throw unknownId();
    members[name] = member;
  }
  return members;
}

function unknownId(): ConnectorError {
  return new ConnectorError("A partition that this connector did not plan", { transient: false, code: "PZ0357" });
}

/** The column by whose values a dataset is divided. */
export function partitionColumn(dataset: Dataset, wanted: string): DatasetColumn {
  const column = findColumn(dataset.columns, wanted);
  if (column === undefined) {
    throw new ConnectorError(
      `Option "partition_column" is "${wanted}", and ${dataset.relation.name} has no such column`,
      {
        transient: false,
        code: "PZ0301",
        hint: `its columns are ${dataset.columns.map(({ name }) => name).join(", ")}`,
      },
    );
  }
  if (scaleOf(column, "") === undefined) {
    throw new ConnectorError(`Option "partition_column" is "${wanted}", a column whose values can't be divided`, {
      transient: false,
      code: "PZ0301",
      hint: "name a whole-number, numeric, date or timestamp column",
    });
  }
  return column;
}

/** The bounds between `count` parts of equal width, fewer where the values lie closer together. */
export async function findBounds(
  session: PgSession,
  dataset: Dataset,
  column: DatasetColumn,
  count: number,
): Promise<readonly bigint[]> {
  const name = ident(column.name);
  const scale = scaleOf(column, name);
  if (scale === undefined) return [];
  const [row] = await session.query(
    `SELECT floor(${scale.toUnits(`min(${name})`)}::numeric)::text, floor(${scale.toUnits(`max(${name})`)}::numeric)` +
      `::text FROM ${dataset.relation.sql}${scale.filter}`,
  );
  const [least, most] = row ?? [];
  if (least === undefined || least === null || most === undefined || most === null) return [];
  const low = BigInt(least);
  const span = BigInt(most) - low + 1n;
  const bounds = new Set<bigint>();
  for (let part = 1n; part < BigInt(count); part++) {
    const bound = low + (span * part) / BigInt(count);
    if (bound > low) bounds.add(bound);
  }
  return [...bounds];
}

/** The condition that chooses a part's rows; undefined: all of them. */
export function rangeCondition(dataset: Dataset, { column: wanted, lower, upper }: Range): string | undefined {
  if (wanted === undefined || (lower === undefined && upper === undefined)) return undefined;
  const column = partitionColumn(dataset, wanted);
  const name = ident(column.name);
  const scale = scaleOf(column, name);
  if (scale === undefined) return undefined;
  if (lower === undefined) {
    return upper === undefined ? undefined : `(${name} < ${scale.bound(upper)} OR ${name} IS NULL)`;
  }
  const from = `${name} >= ${scale.bound(lower)}`;
  return upper === undefined ? from : `${from} AND ${name} < ${scale.bound(upper)}`;
}
