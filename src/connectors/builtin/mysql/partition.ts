import { ConnectorError } from "../../contract/mod.ts";
import { findColumn } from "../shared/column_names.ts";
import { equalRanges, type Range, rangeCondition } from "../shared/ranges.ts";
import type { Dataset, DatasetColumn } from "./dataset.ts";
import { ident } from "./name.ts";
import type { MysqlSession } from "./session.ts";

/** Whole units in which the values of a column are divided, and how one of them is written. */
type Scale = { readonly toUnits: (value: string) => string; readonly bound: (units: string) => string };

function scaleOf({ rule: { sort } }: DatasetColumn): Scale | undefined {
  switch (sort) {
    case "integer":
    case "decimal":
      return { toUnits: (value) => value, bound: (units) => `(${units})` };
    case "date":
      return {
        toUnits: (value) => `DATEDIFF(${value}, '1970-01-01')`,
        bound: (units) => `(DATE '1970-01-01' + INTERVAL (${units}) DAY)`,
      };
    case "datetime":
    case "timestamp":
      return {
        toUnits: (value) => `TIMESTAMPDIFF(SECOND, '1970-01-01 00:00:00', ${value})`,
        bound: (units) => `(TIMESTAMP '1970-01-01 00:00:00' + INTERVAL (${units}) SECOND)`,
      };
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
  if (scaleOf(column) === undefined) {
    throw new ConnectorError(`Option "partition_column" is "${wanted}", a column whose values can't be divided`, {
      transient: false,
      code: "PZ0301",
      hint: "name a whole-number, decimal, date, datetime or timestamp column",
    });
  }
  return column;
}

/** Parts of equal width, fewer where the values lie closer together. */
export async function findRanges(
  session: MysqlSession,
  dataset: Dataset,
  column: DatasetColumn,
  count: number,
): Promise<readonly Range[]> {
  const name = ident(column.name);
  const scale = scaleOf(column);
  if (scale === undefined) return [{}];
  const whole = (value: string) => `CAST(FLOOR(${scale.toUnits(value)}) AS CHAR)`;
  const [row] = await session.scan(
    `SELECT ${whole(`MIN(${name})`)}, ${whole(`MAX(${name})`)} FROM ${dataset.relation.sql}`,
  );
  const [least, most] = row ?? [];
  return equalRanges(column.name, bigOf(least), bigOf(most), count);
}

/** A zero date has no units. */
function bigOf(text: string | null | undefined): bigint | undefined {
  return typeof text === "string" && /^-?\d+$/.test(text) ? BigInt(text) : undefined;
}

/** The condition that chooses a part's rows; undefined: all of them. */
export function conditionOf(dataset: Dataset, range: Range): string | undefined {
  if (range.column === undefined || (range.lower === undefined && range.upper === undefined)) return undefined;
  const column = partitionColumn(dataset, range.column);
  const scale = scaleOf(column);
  return scale === undefined ? undefined : rangeCondition(range, ident(column.name), scale.bound);
}
