import { ConnectorError } from "../../contract/mod.ts";

type Named = { readonly name: string };

/** A column by its name: exactly so, or else without case where only one fits. */
export function findColumn<T extends Named>(columns: readonly T[], name: string): T | undefined {
  const exact = columns.find((column) => column.name === name);
  if (exact !== undefined) return exact;
  const lower = name.toLowerCase();
  const alike = columns.filter((column) => column.name.toLowerCase() === lower);
  return alike.length === 1 ? alike[0] : undefined;
}

/**
 * The hinted columns in the hint's order; all where there is no hint, or none of its names is known. All come too where
 * names differ in case alone: DuckDB takes them for one, so that a hint may mean either, and whoever reads refuses them.
 */
export function pruneColumns<T extends Named>(
  columns: readonly T[],
  hint: readonly string[] | undefined,
): readonly T[] {
  if (new Set(columns.map(({ name }) => name.toLowerCase())).size < columns.length) return columns;
  const chosen: T[] = [];
  for (const name of hint ?? []) {
    const column = findColumn(columns, name);
    if (column !== undefined && !chosen.includes(column)) chosen.push(column);
  }
  return chosen.length === 0 ? columns : chosen;
}

/**
 * Makes sure that a relation has columns, each with a name of its own.
 *
 * @throws {ConnectorError}
 */
export function checkNames(columns: readonly Named[], relation: string): void {
  if (columns.length === 0) {
    throw new ConnectorError(`${relation} has no columns`, {
      transient: false,
      hint: "a query must be a SELECT that gives columns",
    });
  }
  const seen = new Set<string>();
  for (const { name } of columns) {
    if (seen.has(name)) {
      throw new ConnectorError(`${relation} gives two columns of the name "${name}"`, {
        transient: false,
        hint: "give each column a name of its own with AS",
      });
    }
    seen.add(name);
  }
}

/**
 * The column of a schema that a merge's key names.
 *
 * @throws {ConnectorError} naming the key that there is no column for
 */
export function keyColumn<T extends Named>(columns: readonly T[], key: string): T {
  const column = columns.find(({ name }) => name === key) ??
    columns.find(({ name }) => name.toLowerCase() === key.toLowerCase());
  if (column !== undefined) return column;
  throw new ConnectorError(`The rows have no column "${key}", which is a key of the merge`, {
    transient: false,
    hint: `the columns are ${columns.map(({ name }) => name).join(", ")}`,
  });
}
