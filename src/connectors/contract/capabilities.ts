/** What a connector can do, with the bits that the wire protocol gives them. */
export const CAPABILITIES = {
  ColumnPruning: 1n,
  PredicatePushdown: 2n,
  PartitionedRead: 4n,
  NativeScan: 8n,
  NativeCopy: 16n,
  Merge: 32n,
  Transactional: 64n,
  BoundedWindow: 128n,
  PathTemplating: 256n,
  StreamingPartitions: 512n,
  InclusiveWatermarkBound: 1024n,
  SyncState: 2048n,
  GatedOperations: 4096n,
  StablePartitionIds: 8192n,
  CheckpointableReads: 16384n,
  ReplaceWrites: 32768n,
  CheckpointableWrites: 65536n,
  ChangeCapture: 131072n,
  ApplyDeletes: 262144n,
  TextLengthStats: 524288n,
  ColumnPartitionedWrites: 1048576n,
  NativeOnlyRead: 2097152n,
} as const;

export type Capability = keyof typeof CAPABILITIES;
