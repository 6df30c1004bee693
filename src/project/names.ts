import { PzError } from "../errors/mod.ts";
import type { SourcePosition } from "./model.ts";
import { type Place, type Problems, report } from "./problems.ts";

const IDENTIFIER_REGEXP = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Names become parts of file names, of which systems take 255 bytes; the rest is for what pz adds. */
const MAX_LETTERS = 200;

/** Reports a pipeline's name that can't stand in SQL as it is, or is too long. */
export function checkPipelineName(name: string, place: Place, problems: Problems): boolean {
  if (isTooLong(name)) {
    report(problems, "PZ0136", tooLong("pipeline", name), place, "Rename the file.");
    return false;
  }
  if (IDENTIFIER_REGEXP.test(name)) return true;
  report(
    problems,
    "PZ0136",
    `The pipeline name '${name}' may only hold letters, digits and _, and can't start with a digit`,
    place,
    `Rename the file to '${suggestIdentifier(name)}.sql'.`,
  );
  return false;
}

function isTooLong(name: string): boolean {
  return name.length > MAX_LETTERS;
}

function tooLong(what: string, name: string): string {
  return `The ${what} name '${name.slice(0, 40)}…' has ${name.length} letters: expected at most ${MAX_LETTERS}`;
}

/** Reports a connection's name that can't stand in a relation's name, or is too long. */
export function checkConnectionName(name: string, position: SourcePosition, problems: Problems): boolean {
  if (isTooLong(name)) {
    report(problems, "PZ0136", tooLong("connection", name), position, "Give it a shorter name.");
    return false;
  }
  if (IDENTIFIER_REGEXP.test(name) && !name.includes("__")) return true;
  const rule = IDENTIFIER_REGEXP.test(name)
    ? "can't hold '__', which separates connection and entity in relation names"
    : "may only hold letters, digits and _, and can't start with a digit";
  const hint = `Rename it to '${suggestIdentifier(name).replace(/__+/g, "_")}'.`;
  report(problems, "PZ0136", `The connection name '${name}' ${rule}`, position, hint);
  return false;
}

/** A name close to the one given that is an identifier: `01_load` gives `load_01`, `daily-orders` `daily_orders`. */
export function suggestIdentifier(name: string): string {
  const folded = name.replace(/[^A-Za-z0-9_]+/g, "_");
  const lead = /^[0-9_]*[0-9][0-9_]*/.exec(folded)?.[0] ?? "";
  const rest = folded.slice(lead.length);
  if (lead === "") return folded === "" ? "_" : folded;
  return rest === "" ? `_${folded}` : `${rest}_${lead.replace(/^_+|_+$/g, "")}`;
}

/** What is wrong with an entity's name (PZ0344), or undefined: it can't be empty, hold white space or an empty part. */
export function entityNameError(name: string, position: SourcePosition): PzError | undefined {
  let wrong: string | undefined;
  if (name === "") wrong = "An entity's name can't be empty";
  else if (/\s/.test(name)) wrong = `The entity name '${name}' holds white space`;
  else if (name.split(".").includes("")) wrong = `The entity name '${name}' has an empty part`;
  if (wrong === undefined) return undefined;
  return new PzError("PZ0344", wrong, { ...position, hint: "Write it as in 'orders' or 'public.orders'." });
}
