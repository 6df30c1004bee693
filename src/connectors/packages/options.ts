import { type Schema, Validator } from "@cfworker/json-schema";
import type { ConfigMap, ConfigProblem, ConfigValue } from "../contract/mod.ts";
import type { OptionsSchema } from "./manifest.ts";

/** The options with the schema's defaults in the place of those that are missing. */
export function withDefaults(options: ConfigMap, { properties }: OptionsSchema): ConfigMap {
  const defaults = Object.entries(properties).flatMap(([name, property]) => {
    const value = property["default"];
    return value === undefined || Object.hasOwn(options, name) ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(defaults), ...options };
}

/**
 * What of these options does not fit the schema, PZ0301 each. Options that the schema does not have are none of it.
 *
 * @param side what a problem stands against
 */
export function optionProblems(
  options: ConfigMap,
  { schema, properties, required }: OptionsSchema,
  side: "setting" | "option",
): readonly ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  for (const name of required.filter((name) => !Object.hasOwn(options, name))) {
    problems.push({
      code: "PZ0301",
      message: `Option "${name}" is missing`,
      hint: hintOf(properties[name]),
      [side]: name,
    });
  }
  for (const [name, value] of Object.entries(options)) {
    const property = properties[name];
    if (property === undefined) continue;
    const message = misfit(value, property, schema);
    if (message !== undefined) {
      problems.push({
        code: "PZ0301",
        message: `Option "${name}" does not fit: ${message}`,
        hint: hintOf(property),
        [side]: name,
      });
    }
  }
  if (problems.length > 0) return problems;
  const { valid, errors } = validate(options, { ...schema, additionalProperties: true, required: [] });
  if (valid) return [];
  return [{
    code: "PZ0301",
    message: `The options do not fit together: ${errors.at(-1)?.error ?? "they break the schema"}`,
  }];
}

function misfit(value: ConfigValue, property: ConfigMap, schema: ConfigMap): string | undefined {
  const definitions = schema["$defs"];
  const { valid, errors } = validate(value, definitions === undefined ? property : { ...property, $defs: definitions });
  // The last error is that of the innermost value.
  return valid ? undefined : errors.at(-1)?.error ?? "it breaks the schema";
}

function validate(value: ConfigValue, schema: ConfigMap) {
  // The schema is the package's own JSON, of which the validator takes what it understands.
  return new Validator(schema as Schema, "2020-12", false).validate(plain(value));
}

/** Whole numbers beyond 53 bits count as the nearest that a JSON number gives. */
function plain(value: ConfigValue): unknown {
  if (typeof value === "bigint") return Number(value);
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plain(inner)]));
  }
  return value;
}

function hintOf(property: ConfigMap | undefined): string | undefined {
  const text = property?.["description"];
  return typeof text === "string" && text !== "" ? text : undefined;
}
