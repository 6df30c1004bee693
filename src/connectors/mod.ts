export * from "./contract/mod.ts";
export { builtinConnectors, findConnector } from "./builtin/registry.ts";
export { CHILD_VERB, type ChildCommand, childCommand, type ChildSettings } from "./host/command.ts";
export { type SystemLayer, systemLayer } from "./host/landlock.ts";
export type { PartitionRef } from "./host/partition_stream.ts";
export type { ReadStream } from "./host/read_stream.ts";
export { ConnectorSession, type SessionOptions } from "./host/session.ts";
export type { WriteHandle } from "./host/write.ts";
export { selectExact, type TypedColumn } from "./builtin/shared/exact_cast.ts";
