import fc from "fast-check";
import {
  EVENT_ENVELOPE,
  eventDefinition,
  type EventField,
  type EventName,
  type EventShape,
} from "../../../src/events/mod.ts";

/** A value of JSON, as `JSON.parse` gives it. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

const TEXTS: { readonly [field: string]: fc.Arbitrary<string> } = {
  at: fc.constant("2027-03-02T06:15:00.004Z"),
  runId: fc.constant("20270302T061500001Z-9f3c"),
  nodeId: fc.stringMatching(/^[0-9a-f]{16}$/),
  errorCode: fc.stringMatching(/^PZ[0-9]{4}$/),
  instance: fc.string({ minLength: 1, unit: "grapheme" }).filter((text) => /^./.test(text)).map((text) =>
    `conn:${text}`
  ),
};

/** Events of a kind that fit its definition, with their fields in order. */
export function validEvent(event: EventName): fc.Arbitrary<JsonObject> {
  const { fields } = eventDefinition(event);
  const { event: _, ...envelope } = EVENT_ENVELOPE;
  const all: { readonly [name: string]: EventField } = { ...envelope, ...fields };
  return objectOf(all).map((values): JsonObject => {
    const fitted = Object.entries(values).map(([name, value]): [string, Json] => {
      const setWhen = all[name]?.setWhen;
      if (setWhen === undefined) return [name, value];
      if (values[setWhen.field] !== setWhen.is) return [name, null];
      return [name, value ?? (name === "errorCode" ? "PZ0501" : "no")];
    });
    return { event, ...Object.fromEntries(fitted) };
  });
}

/** The event with one thing changed, somewhere in it, that may make it wrong; fields keep their order. */
export function changedEvent(event: JsonObject): fc.Arbitrary<JsonObject> {
  return fc.tuple(fc.constantFrom(...pathsOf(event)), fc.constantFrom(...CHANGES)).map(([path, change]) => {
    const changed = changeAt(event, path, change);
    return typeof changed === "object" && changed !== null && !isList(changed) ? changed : event;
  });
}

const CHANGES: readonly ("drop" | { readonly put: Json })[] = [
  "drop",
  ...[null, true, 0, -1, 0.5, 2 ** 53, "", "x", "failed", "success", "PZ12345", [], [1], {}, { more: 1 }].map((
    put,
  ) => ({
    put,
  })),
];

function objectOf(fields: { readonly [name: string]: EventField }): fc.Arbitrary<JsonObject> {
  const names = Object.keys(fields);
  const required = names.filter((name) => fields[name]?.optional !== true);
  const values = Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, valueOf(name, field)]));
  return fc.record(values, { requiredKeys: required }).map((record) =>
    Object.fromEntries(names.flatMap((name): [string, Json][] => {
      const value = record[name];
      return value === undefined ? [] : [[name, value]];
    }))
  );
}

function valueOf(name: string, field: EventField): fc.Arbitrary<Json> {
  const value = shapeOf(name, field);
  return field.nullable === true ? fc.option(value, { nil: null }) : value;
}

function shapeOf(name: string, shape: EventShape): fc.Arbitrary<Json> {
  switch (shape.type) {
    case "text":
      return TEXTS[name] ?? fc.string({ minLength: shape.empty === true ? 0 : 1, unit: "binary" });
    case "count":
      return fc.nat({ max: Number.MAX_SAFE_INTEGER });
    case "flag":
      return fc.boolean();
    case "word":
      return fc.constantFrom(...Object.keys(shape.words));
    case "list":
      return fc.array(shapeOf("", shape.of), { maxLength: 3 });
    case "object":
      return objectOf(shape.members);
  }
}

/** Every place in an event, and one more in each object, where nothing stands yet. */
function pathsOf(value: Json): (readonly string[])[] {
  if (typeof value !== "object" || value === null) return [];
  const inner = Object.entries(value).flatMap((
    [key, member],
  ) => [[key], ...pathsOf(member).map((rest) => [key, ...rest])]);
  return isList(value) ? inner : [...inner, ["unknown"]];
}

function changeAt(value: Json, [key = "", ...rest]: readonly string[], change: "drop" | { readonly put: Json }): Json {
  if (typeof value !== "object" || value === null) return value;
  const entries: [string, Json][] = Object.entries(value);
  if (!entries.some(([name]) => name === key)) entries.push([key, null]);
  const changed = entries.flatMap(([name, member]): [string, Json][] => {
    if (name !== key) return [[name, member]];
    if (rest.length > 0) return [[name, changeAt(member, rest, change)]];
    return change === "drop" ? [] : [[name, change.put]];
  });
  return isList(value) ? changed.map(([, member]) => member) : Object.fromEntries(changed);
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}
