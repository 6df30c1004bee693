import { type Schema, Validator } from "@cfworker/json-schema";
import type { EventLine } from "./cli.ts";

let validator: Validator | undefined;

/** What the published schema says against an event; undefined: nothing. */
export function schemaProblem(event: EventLine): string | undefined {
  validator ??= new Validator(publishedSchema(), "2020-12", false);
  const { valid, errors } = validator.validate(event);
  return valid ? undefined : `the schema refuses it: ${errors.map(({ error }) => error).join(" ")}`;
}

/** fixtures/schemas/run_event.json, the schema that users get. */
export function publishedSchema(): Schema {
  return JSON.parse(Deno.readTextFileSync(new URL("../../fixtures/schemas/run_event.json", import.meta.url)));
}
