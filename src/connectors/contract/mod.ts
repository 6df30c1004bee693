export { CAPABILITIES, type Capability } from "./capabilities.ts";
export * from "./contract.ts";
export { ConnectorError, type DeniedPermission, UNEXPECTED } from "./error.ts";
export { duckDbType } from "./types.ts";
export type { Predicate, ReadHints, TypedText } from "./hints.ts";
