/** The one place that imports DuckDB's packages for use. Importing this module loads the native library. */
export * as api from "@duckdb/node-api";
export { default as bindings } from "@duckdb/node-bindings";
