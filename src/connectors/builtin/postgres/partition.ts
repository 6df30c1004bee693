import { ConnectorError } from "../../contract/mod.ts";
import { equalRanges, type Range, rangeCondition } from "../shared/ranges.ts";
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

/** Parts of equal width, at most so many. */
export async function findRanges(
  session: PgSession,
  dataset: Dataset,
  column: DatasetColumn,
  count: number,
): Promise<readonly Range[]> {
  const name = ident(column.name);
  const scale = scaleOf(column, name);
  if (scale === undefined) return equalRanges(column.name, undefined, undefined, count);
  const [row] = await session.query(
    `SELECT floor(${scale.toUnits(`min(${name})`)}::numeric)::text, floor(${scale.toUnits(`max(${name})`)}::numeric)` +
      `::text FROM ${dataset.relation.sql}${scale.filter}`,
  );
  const [least, most] = (row ?? []).map((units) => units === null ? undefined : BigInt(units));
  return equalRanges(column.name, least, most, count);
}

/** The condition that chooses a part's rows; undefined: all of them. */
export function partCondition(dataset: Dataset, range: Range): string | undefined {
  if (range.column === undefined) return undefined;
  const column = partitionColumn(dataset, range.column);
  const name = ident(column.name);
  const scale = scaleOf(column, name);
  return scale === undefined ? undefined : rangeCondition(range, name, scale.bound);
}
