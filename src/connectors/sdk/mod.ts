export type {
  ConnectorHost,
  ConnectorInstance,
  ConnectorModule,
  FileGrowth,
  FileMover,
  GatedOperation,
  Partition,
  Reading,
  Sink,
  Source,
  StoreOptions,
  StoreResult,
  StoreSession,
  WriteSession,
} from "./connector.ts";
export { arrowField, arrowSchema, arrowType } from "./arrow_types.ts";
export { columnReader, columnReaders } from "./batch_reader.ts";
export { type ColumnKind, ColumnReader } from "./column_reader.ts";
export { IntervalReader } from "./fixed_readers.ts";
export { ListReader, MapReader, StructReader, TextReader } from "./nested_readers.ts";
export { BatchBuilder } from "./batch_builder.ts";
export type { CellValue, Interval, StructValue } from "./cell.ts";
export type { ColumnBuilder } from "./column_builder.ts";
export { FixedListBuilder, ListBuilder, MapBuilder, StructBuilder } from "./nested_builders.ts";
export { PackageError, requireNet, toConnectorError } from "./failure.ts";
export { ConnectorServer } from "./serve.ts";
