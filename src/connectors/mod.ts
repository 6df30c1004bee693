export * from "./contract/mod.ts";
export { builtinConnectors, findConnector } from "./builtin/registry.ts";
export { CHILD_VERB, type ChildCommand } from "./host/command.ts";
export { ConnectorSession, type PartitionRef, type ReadStream, type SessionOptions } from "./host/session.ts";
