export * from "./run_event.ts";
export { EventBus, type Subscriber } from "./bus.ts";
export { EVENT_ENVELOPE, type EventDefinition, eventDefinition, type EventName } from "./schema.ts";
export type { EventField, EventShape } from "./schema_field.ts";
export { eventNames, type EventSchema, eventSchema } from "./schema_json.ts";
