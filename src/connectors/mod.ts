export * from "./contract/mod.ts";
export { builtinConnectors, findConnector } from "./builtin/registry.ts";
export { CHILD_VERB, type ChildCommand, childCommand, type ChildSettings } from "./host/command.ts";
export { type SystemLayer, systemLayer } from "./host/landlock.ts";
export type { OperationEnd, OperationGate, OperationRequest } from "./host/operation_gate.ts";
export type { PartitionRef } from "./host/partition_stream.ts";
export type { ReadStream } from "./host/read_stream.ts";
export { ConnectorRequests, ConnectorSession, type SessionOptions } from "./host/session.ts";
export type { StoreHandle, StorePlace } from "./host/store_stream.ts";
export type { WriteHandle } from "./host/write.ts";
export { selectExact, type TypedColumn } from "./builtin/shared/exact_cast.ts";
export {
  type ConnectorSet,
  foreignPackages,
  isOwnConnector,
  ownConnectors,
  projectConnectors,
  restoreProject,
} from "./packages/connector_set.ts";
export {
  buildConnector,
  openConnectorFolder,
  scaffoldConnector,
  scaffoldSdk,
  tryConnector,
} from "./packages/author.ts";
export type { VectorResult } from "./conformance/target.ts";
export { childOf } from "./packages/child_of.ts";
export type { DeclaredPackage } from "./packages/lock.ts";
