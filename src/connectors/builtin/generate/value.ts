import { ConnectorError, duckDbType } from "../../contract/mod.ts";
import type { CellValue } from "../../sdk/mod.ts";

const NAMES = ["Ada", "Grace", "Edsger", "Barbara", "Donald", "Frances", "Alan", "Radia"];
/** 2024-01-01, as days and as microseconds since 1970. */
const FIRST_DAY = 19_723;
const FIRST_MICROSECOND = 1_704_067_200_000_000n;
const HOUR_MICROSECONDS = 3_600_000_000n;

/**
 * What gives a column of a type its value for a row, counted from 0: row numbers in whole columns, numbers with a
 * fraction, names, every third row false, a day and an hour further for each row.
 *
 * @throws {ConnectorError} for a type without made-up values
 */
export function valueMaker(type: string): (row: number) => CellValue {
  const duck = duckDbType(type);
  switch (duck) {
    case "INTEGER":
      return (row) => row | 0;
    case "BIGINT":
      return (row) => BigInt(row);
    case "DOUBLE":
      return (row) => row / 4;
    case "VARCHAR":
      return (row) => `${NAMES[row % NAMES.length]} ${row}`;
    case "BOOLEAN":
      return (row) => row % 3 !== 0;
    case "DATE":
      return (row) => FIRST_DAY + (row % 366);
    case "TIMESTAMP":
    case "TIMESTAMPTZ":
      return (row) => FIRST_MICROSECOND + BigInt(row) * HOUR_MICROSECONDS;
  }
  const decimal = duck === undefined ? null : /^DECIMAL\((\d+),(\d+)\)$/.exec(duck);
  if (decimal !== null) return decimalMaker(Number(decimal[1]), Number(decimal[2]));
  throw new ConnectorError(`There are no made-up values of the type "${type}"`, {
    transient: false,
    hint: "use int, bigint, double, decimal, varchar, boolean, date or timestamp",
  });
}

/** A list of the row number, the next one and NULL; every tenth row has none, every tenth an empty one. */
export function idsOf(row: number): CellValue {
  if (row % 10 === 7) return null;
  return row % 10 === 8 ? [] : [BigInt(row), BigInt(row + 1), null];
}

/** A name and two opposite numbers; every tenth row has no name. */
export function detailOf(row: number): CellValue {
  const name = row % 10 === 9 ? null : `${NAMES[row % NAMES.length]} ${row}`;
  return { name, amounts: [row / 4, -row / 4] };
}

/** Hundredths of the row number, or whole numbers for a scale below 2, kept within the precision. */
function decimalMaker(precision: number, scale: number): (row: number) => CellValue {
  const limit = 10n ** BigInt(precision);
  const unit = 10n ** BigInt(Math.max(0, scale - 2));
  return (row) => (BigInt(row) * unit) % limit;
}
