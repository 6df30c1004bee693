import { EVENT_ENVELOPE, eventDefinition, type EventName, RUN_EVENTS } from "./schema.ts";
import type { EventField, EventShape } from "./schema_field.ts";

/** A JSON Schema, as plain data. */
export type EventSchema = { readonly [keyword: string]: unknown };

/**
 * The JSON Schema (draft 2020-12) of one line of `--log-format json`: a branch of `oneOf` for each event, `properties`
 * in the order of writing. It lets unknown fields pass, as every reader of events should.
 */
export function eventSchema(): EventSchema {
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "pz run event",
    description: "One line of what `pz run --log-format json` writes to stdout.",
    oneOf: eventNames().map(branchOf),
  };
}

/** The names of all events, in the order in which they are documented. */
export function eventNames(): readonly EventName[] {
  return Object.keys(RUN_EVENTS).filter((name): name is EventName => name in RUN_EVENTS);
}

function branchOf(event: EventName): EventSchema {
  const { doc, fields } = eventDefinition(event);
  const name = { const: event, description: EVENT_ENVELOPE.event.doc };
  const object = objectOf({ ...EVENT_ENVELOPE, ...fields });
  const conditions = Object.entries(fields).flatMap(([field, { setWhen }]) =>
    setWhen === undefined ? [] : [{
      if: { properties: { [setWhen.field]: { const: setWhen.is } } },
      then: { properties: { [field]: { not: { type: "null" } } } },
      else: { properties: { [field]: { type: "null" } } },
    }]
  );
  return {
    title: event,
    description: doc,
    ...object,
    properties: { ...object.properties, event: name },
    ...(conditions.length === 0 ? {} : { allOf: conditions }),
  };
}

function objectOf(fields: { readonly [name: string]: EventField }): {
  readonly type: "object";
  readonly properties: { readonly [name: string]: EventSchema };
  readonly required: readonly string[];
} {
  const entries = Object.entries(fields);
  return {
    type: "object",
    properties: Object.fromEntries(entries.map(([name, field]) => [name, fieldSchema(field)])),
    required: entries.flatMap(([name, { optional }]) => optional === true ? [] : [name]),
  };
}

function fieldSchema(field: EventField): EventSchema {
  const { type, enum: words, ...shape } = shapeSchema(field);
  const nullable = field.nullable === true;
  return {
    description: field.doc,
    type: nullable ? [type, "null"] : type,
    ...(words === undefined ? {} : { enum: nullable ? [...words, null] : words }),
    ...shape,
  };
}

function shapeSchema(shape: EventShape): EventSchema & { readonly type: string; readonly enum?: readonly string[] } {
  switch (shape.type) {
    case "text":
      return {
        type: "string",
        ...(shape.empty === true || shape.pattern !== undefined ? {} : { minLength: 1 }),
        ...(shape.pattern === undefined ? {} : { pattern: shape.pattern }),
      };
    case "count":
      return { type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER };
    case "flag":
      return { type: "boolean" };
    case "word":
      return { type: "string", enum: Object.keys(shape.words) };
    case "list":
      return { type: "array", items: shapeSchema(shape.of) };
    case "object":
      return objectOf(shape.members);
  }
}
