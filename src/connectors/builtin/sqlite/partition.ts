import { ConnectorError } from "../../contract/mod.ts";
import { findColumn } from "../shared/column_names.ts";
import { equalRanges, type Range, rangeCondition } from "../shared/ranges.ts";
import type { Database, SqliteValue } from "./database.ts";
import type { Dataset } from "./dataset.ts";
import { ident } from "./name.ts";

const ROWID_NAMES: readonly string[] = ["rowid", "_rowid_", "oid"];

/** What a dataset is divided by: a column of whole numbers, or the number by which SQLite knows a row. */
export type Divider = { readonly name: string; readonly sql: string };

/** @throws {ConnectorError} for a column that is not there or can't be divided */
export function dividerOf(dataset: Dataset, wanted: string): Divider {
  const column = findColumn(dataset.columns, wanted);
  if (column !== undefined && column.affinity === "integer") return { name: column.name, sql: ident(column.name) };
  if (column === undefined && dataset.rowid !== undefined && ROWID_NAMES.includes(wanted.toLowerCase())) {
    return { name: dataset.rowid, sql: dataset.rowid };
  }
  throw new ConnectorError(
    column === undefined
      ? `Option "partition_column" is "${wanted}", and "${dataset.table}" has no such column`
      : `Option "partition_column" is "${wanted}", a column whose values can't be divided`,
    {
      transient: false,
      code: "PZ0301",
      hint: `name a column of whole numbers${dataset.rowid === undefined ? "" : `, or ${dataset.rowid}`}`,
    },
  );
}

/** Parts of equal width, fewer where the values lie closer together. */
export function findRanges(database: Database, dataset: Dataset, divider: Divider, count: number): readonly Range[] {
  const [row] = database.rows(
    `SELECT MIN(${divider.sql}), MAX(${divider.sql}) FROM ${
      ident(dataset.table)
    } WHERE typeof(${divider.sql}) = 'integer'`,
  );
  return equalRanges(divider.name, wholeOf(row?.[0]), wholeOf(row?.[1]), count);
}

function wholeOf(value: SqliteValue | undefined): bigint | undefined {
  return typeof value === "bigint" ? value : undefined;
}

/** The condition that chooses a part's rows; undefined: all of them. */
export function conditionOf(dataset: Dataset, range: Range): string | undefined {
  if (range.column === undefined || (range.lower === undefined && range.upper === undefined)) return undefined;
  return rangeCondition(range, dividerOf(dataset, range.column).sql, (units) => `(${units})`);
}
