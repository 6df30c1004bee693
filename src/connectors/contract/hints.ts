/**
 * A typed predicate tree over a dataset's columns; values are SQL-exact texts with their DuckDB type. Every row that
 * matters meets it, and the engine filters again: a connector may leave out any part, and must leave out a part whose
 * column it does not have or does not compare as DuckDB compares the given type.
 */
export type Predicate =
  | { readonly op: "and"; readonly args: readonly Predicate[] }
  | { readonly op: "=" | "<>" | "<" | "<=" | ">" | ">="; readonly column: string; readonly value: TypedText }
  | { readonly op: "in"; readonly column: string; readonly values: readonly TypedText[] }
  | { readonly op: "is_null" | "is_not_null"; readonly column: string };
export type TypedText = { readonly type: string; readonly text: string };

/**
 * What of a dataset is needed. `columns` (only for connectors with ColumnPruning): the schema and every batch hold these,
 * in this order, names compared without case; a name that the dataset does not have is ignored. `predicate` only for
 * connectors with PredicatePushdown.
 */
export type ReadHints = { readonly columns?: readonly string[]; readonly predicate?: Predicate };
