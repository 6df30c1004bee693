import { eventDefinition, type EventField, type EventName, type EventShape, type StampedEvent } from "../events/mod.ts";

/** One event as compact JSON: `event`, `at`, `runId`, then its fields in their fixed order, nested ones too. */
export function eventJson({ at, runId, event }: StampedEvent): string {
  const { fields } = eventDefinition(event.event);
  return JSON.stringify({ event: event.event, at, runId, ...inOrder(event, fields) });
}

/** The names of an event's fields in their order, without the envelope. */
export function fieldNames(event: EventName): readonly string[] {
  return Object.keys(eventDefinition(event).fields);
}

function inOrder(value: object, fields: { readonly [name: string]: EventField }): { readonly [name: string]: unknown } {
  const values: { readonly [name: string]: unknown } = { ...value };
  const ordered: { [name: string]: unknown } = {};
  for (const [name, field] of Object.entries(fields)) ordered[name] = shaped(values[name], field);
  return ordered;
}

function shaped(value: unknown, shape: EventShape): unknown {
  if (shape.type === "list" && Array.isArray(value)) return value.map((item) => shaped(item, shape.of));
  if (shape.type === "object" && typeof value === "object" && value !== null) return inOrder(value, shape.members);
  return value;
}
