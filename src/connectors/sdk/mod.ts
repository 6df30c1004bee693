export type { ConnectorHost, ConnectorInstance, ConnectorModule, Partition, Source } from "./connector.ts";
export { arrowSchema, arrowType } from "./arrow_types.ts";
export { BatchBuilder } from "./batch_builder.ts";
export type { CellValue } from "./column_builder.ts";
export { toConnectorError } from "./failure.ts";
export { ConnectorServer } from "./serve.ts";
