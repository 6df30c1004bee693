export { type ByteSink, Console, type ConsoleOptions } from "./console.ts";
export { PlainRenderer } from "./plain.ts";
export { NdjsonRenderer } from "./ndjson.ts";
export { eventJson, fieldNames } from "./event_fields.ts";
export { grantLine, limitsLine, planChains, planFacts, planTable } from "./plan_table.ts";
export { formatDuration, formatSeconds, formatSize, printable, tableRow } from "./text.ts";
export { type LiveOptions, LiveRenderer } from "./live.ts";
