export { ident, literal, qualified } from "./quote.ts";
export { type AllowedPaths, DuckDbDatabase, FILE_CATALOG, openDuckDb, type OpenDuckDbOptions } from "./database.ts";
export {
  DuckDbConnection,
  type ResultColumn,
  type SqlTree,
  type StatementOptions,
  type TypedColumn,
} from "./connection.ts";
export { DuckDbError } from "./error.ts";
export type { SqlAst } from "./ast.ts";
export type { FillRows, LoadColumn, LoadTarget, RowLoad } from "./row_load.ts";
export type { RowChunk, RowRead } from "./row_read.ts";
export type { DuckType } from "./type_tree.ts";
export { hasValue, type VectorReader } from "./vector_reader.ts";
export { type Numbers, VECTOR_ROWS, VectorWriter } from "./vector.ts";
export { runsOnLoopThread } from "./execute.ts";
export { type MachineLimits, machineLimits } from "./machine_limits.ts";
