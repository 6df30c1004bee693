import { isSecretKey } from "../util/mod.ts";
import type { ValueMap } from "./model.ts";
import { type Problems, report, warn } from "./problems.ts";
import { typeInterpolated } from "./scalars.ts";
import { valueMapOf, type YamlEntry, type YamlNode, type YamlScalar } from "./yaml_node.ts";

/** The process environment, and every value of it that went into the project. */
export type Environment = { readonly values: { readonly [name: string]: string }; readonly used: Set<string> };

/** `$${` is an escaped `${`; `${` with what follows is a reference, if it is one. */
const REFERENCE_REGEXP = /\$\$\{|\$\{(?:([A-Za-z_][A-Za-z0-9_]*)\})?/g;

/** The plain values of entries with every `${NAME}` in their texts filled in; unset names are PZ0103. */
export function interpolatedValues(
  entries: readonly YamlEntry[],
  environment: Environment,
  problems: Problems,
): ValueMap {
  const filled = entries.map((entry) => ({
    ...entry,
    value: interpolateNode(entry.value, environment, problems, isSecretKey(entry.key)),
  }));
  return valueMapOf(filled, problems);
}

/** @param secret whether the key says that its value is secret, and so may be a text of any form */
function interpolateNode(node: YamlNode, environment: Environment, problems: Problems, secret: boolean): YamlNode {
  switch (node.kind) {
    case "empty":
      return node;
    case "scalar":
      if (typeof node.value !== "string") return node;
      warnOfOtherForms(node, environment, problems, secret);
      return node.text.includes("${") ? fill(node, environment, problems) : node;
    case "list":
      return { ...node, items: node.items.map((item) => interpolateNode(item, environment, problems, secret)) };
    case "map":
      return {
        ...node,
        entries: node.entries.map((entry) => ({
          ...entry,
          value: interpolateNode(entry.value, environment, problems, secret || isSecretKey(entry.key)),
        })),
      };
  }
}

/** Warns of a reference in the form of a shell, of a call or of a template, which stays as it is. */
function warnOfOtherForms(node: YamlScalar, environment: Environment, problems: Problems, secret: boolean): void {
  const tell = (name: string, message: string) =>
    warn(problems, "PZ0133", message, node.position, `Write \${${name}} for the environment variable.`);
  const name = /^\$([A-Za-z_][A-Za-z0-9_]*)$/.exec(node.text)?.[1];
  // A password may begin with a dollar sign, and stands in no message.
  const isMeant = name !== undefined &&
    (Object.hasOwn(environment.values, name) || (!secret && /^[A-Z0-9_]+$/.test(name)));
  if (isMeant) tell(name, `'$${name}' stays as it is`);
  const called = /^env(?:_var)?\(\s*['"]?([A-Za-z_][A-Za-z0-9_]*)['"]?\s*\)$/.exec(node.text)?.[1];
  if (called !== undefined) tell(called, `'env(${called})' stays as it is: calls stand in pipelines only`);
  const variable = /^\{\{\s*env(?:_var)?\(\s*['"](\w+)['"]/.exec(node.text)?.[1];
  if (variable !== undefined) tell(variable, "'{{ … }}' stays as it is: templates are filled in in pipelines only");
}

function fill(node: YamlScalar, environment: Environment, problems: Problems): YamlScalar {
  const text = node.text.replace(REFERENCE_REGEXP, (match: string, name: string | undefined) => {
    if (match === "$${") return "${";
    if (name === undefined) {
      warn(
        problems,
        "PZ0103",
        "'${' starts no reference here and stays as it is",
        node.position,
        "Write ${NAME} with letters, digits and _ only; there is no form with a default. A '${' of its own is '$${'.",
      );
      return match;
    }
    if (!Object.hasOwn(environment.values, name)) {
      report(problems, "PZ0103", `The environment variable '${name}' is not set`, node.position, `Set ${name}.`);
      return "";
    }
    const value = environment.values[name] ?? "";
    environment.used.add(value);
    return value;
  });
  return { ...node, text, value: node.quoted ? text : typeInterpolated(text), exact: true };
}

/** Warns of every reference below a node where none is filled in. */
export function warnOfReferences(node: YamlNode, problems: Problems): void {
  if (node.kind === "list") node.items.forEach((item) => warnOfReferences(item, problems));
  if (node.kind === "map") node.entries.forEach((entry) => warnOfReferences(entry.value, problems));
  if (node.kind !== "scalar") return;
  const name = /(?<!\$)\$\{([A-Za-z_][A-Za-z0-9_]*)\}/.exec(node.text)?.[1];
  if (name === undefined) return;
  warn(
    problems,
    "PZ0133",
    `'\${${name}}' stays as it is: environment variables are not filled in under 'entities'`,
    node.position,
    "Move the setting to the connection, or pass env() or var() in the call.",
  );
}
