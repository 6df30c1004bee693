export * from "./model.ts";
export { type LoadedState, type LoadOptions, loadProject, loadSettings, loadState } from "./load.ts";
export { type CallBlock, type CallOptions, READ_KEYS, readBlockFromCall } from "./read_block.ts";
export { WRITE_KEYS, writeBlockFromCall } from "./write_block.ts";
export { entityNameError, suggestIdentifier } from "./names.ts";
export { parseDuration } from "./duration.ts";
export { parseVars } from "./vars.ts";
export { jsonSchemas } from "./schemas.ts";
export type { JsonSchema } from "./shapes.ts";
