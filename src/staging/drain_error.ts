/** Staged data that Arrow can't carry unchanged, or rows that DuckDB lost on their way out. */
export class DrainError extends Error {
  override readonly name = "DrainError";
}
