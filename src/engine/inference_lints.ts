import type { SourceLoadNode } from "../compile/mod.ts";
import type { GuessedDates, NativeScan } from "../connectors/mod.ts";
import { ident, literal, qualified } from "../duckdb/mod.ts";
import type { NodeContext } from "./run_context.ts";
import { rows } from "./statements.ts";

/** The greatest number up to which DOUBLE holds every whole number, and the first that HUGEINT does not hold. */
const EXACT = "9007199254740992";
const BEYOND_HUGEINT = "170141183460469231731687303715884105728";

/** Rows that clear most columns, so that the others are few when all rows are looked at. */
const SAMPLE_ROWS = 20_480;

/** A column of a doubtful type, what each of its values must be like to be doubtful, and what some value must be. */
type Suspect = { readonly column: string; readonly every: string; readonly some: string };

/**
 * Publishes what is doubtful about types that DuckDB guessed: whole numbers that may have lost digits, and dates whose
 * day and month could be swapped. Looks at all rows only where the first ones clear not every column of such types.
 */
export async function publishInferenceLints(
  context: NodeContext,
  node: SourceLoadNode,
  { guessedDates = [] }: NativeScan,
): Promise<void> {
  const doubles = (await doubleColumns(context, node.relation)).map(lossyInteger);
  const dates = guessedDates.flatMap(({ columns }) => columns).map(ambiguousDate);
  const relation = qualified("staging", node.relation);
  const sample = `(SELECT * FROM ${relation} LIMIT ${SAMPLE_ROWS})`;
  const suspects = await keep(context, sample, [...doubles, ...dates], ({ every }) => `bool_and(${every})`, true);
  const found = new Set(
    await keep(context, relation, suspects, ({ every, some }) => `bool_and(${every}) AND bool_or(${some})`, false),
  );
  const lossy = doubles.filter((suspect) => found.has(suspect)).map(({ column }) => column);
  const ambiguous = new Set(dates.filter((suspect) => found.has(suspect)).map(({ column }) => column));
  const of = { nodeId: node.id, connection: node.connection.name, entity: node.entity };
  const { bus } = context.run;
  if (lossy.length > 0) bus.publish({ event: "lossy_integer_inference_detected", ...of, columns: lossy });
  for (const { columns, format } of ambiguousFamilies(guessedDates, ambiguous)) {
    bus.publish({ event: "ambiguous_date_inference_detected", ...of, columns, format });
  }
}

/** The suspects for which a test over rows is true, or `unknown` where no row has a value. */
async function keep(
  context: NodeContext,
  from: string,
  suspects: readonly Suspect[],
  test: (suspect: Suspect) => string,
  unknown: boolean,
): Promise<readonly Suspect[]> {
  if (suspects.length === 0) return [];
  const tests = suspects.map((suspect) => `coalesce(${test(suspect)}, ${unknown})`);
  const [flags = []] = await rows(context, `SELECT ${tests.join(", ")} FROM ${from}`);
  return suspects.filter((_, index) => flags[index] === "true");
}

async function doubleColumns(context: NodeContext, relation: string): Promise<readonly string[]> {
  const found = await rows(
    context,
    "SELECT column_name FROM duckdb_columns() WHERE database_name = current_database() AND schema_name = 'staging' " +
      `AND table_name = ${literal(relation)} AND data_type = 'DOUBLE' ORDER BY column_index`,
  );
  return found.map(([name]) => name ?? "");
}

function lossyInteger(column: string): Suspect {
  const size = `abs(${ident(column)})`;
  const every = `${size} < ${BEYOND_HUGEINT}::DOUBLE AND ${size} = trunc(${size})`;
  return { column, every, some: `${size} > ${EXACT}::DOUBLE` };
}

/** No value shows which number is the day, and for some value it matters. */
function ambiguousDate(column: string): Suspect {
  const [day, month] = [`day(${ident(column)})`, `month(${ident(column)})`];
  return { column, every: `${day} <= 12`, some: `${day} <> ${month}` };
}

function ambiguousFamilies(guessed: readonly GuessedDates[], ambiguous: ReadonlySet<string>): readonly GuessedDates[] {
  return guessed
    .map(({ columns, format }) => ({ columns: columns.filter((name) => ambiguous.has(name)), format }))
    .filter(({ columns }) => columns.length > 0);
}
