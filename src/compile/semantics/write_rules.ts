import { type ErrorCode, PzError } from "../../errors/mod.ts";
import type { Value, WriteBlock } from "../../project/mod.ts";
import { nearMiss } from "../../util/mod.ts";
import { placeInWrite, type SinkEntity } from "../entities.ts";
import { dateTokens, tokenProblem } from "./path_tokens.ts";

/**
 * Checks what a write says about its strategy, keys, partitions and path against each other.
 *
 * @param canMerge whether the output's connector has the strategy at all; if not, that is what has to be said first
 */
export function checkWrite(sink: SinkEntity, canMerge: boolean): readonly PzError[] {
  const { write, connection, entity } = sink;
  const name = `${connection.name}.${entity}`;
  const errors: PzError[] = [];
  const add = (code: ErrorCode, key: string, message: string, hint?: string) =>
    errors.push(new PzError(code, `output '${name}': ${message}`, { ...placeInWrite(sink, key), hint }));
  if (write.strategy === "merge" && write.keys.length === 0 && canMerge) {
    const meant = misspelt(write.options, "keys");
    const hint = "name the columns that identify a row, such as keys: ['id']";
    add(
      "PZ0209",
      meant ?? "strategy",
      "strategy 'merge' needs keys",
      meant === undefined ? hint : isMeant(meant, "keys"),
    );
  }
  if (write.strategy !== "merge" && write.keys.length > 0) {
    const meant = misspelt(write.options, "strategy");
    const hint = "use strategy 'merge', or remove keys";
    if (meant === undefined) add("PZ0211", "keys", `keys have no meaning with strategy '${write.strategy}'`, hint);
    // What the strategy should have been decides whether keys have a meaning.
    else add("PZ0301", meant, `unknown option '${meant}'`, isMeant(meant, "strategy"));
  }
  const { partition_by: partitions, path } = write.options;
  const columns = partitions === undefined ? [] : columnNames(partitions);
  if (columns === undefined) {
    add("PZ0219", "partition_by", "partition_by must be a column or a list of different columns");
    return errors;
  }
  const tokens = typeof path === "string" ? dateTokens(path) : [];
  if (tokens.length === 0) return errors;
  const problem = tokenProblem(tokens);
  if (problem !== undefined) add("PZ0218", "path", problem);
  if (columns.length !== 1) {
    const hint = "name the date or timestamp column";
    add("PZ0219", "path", "date tokens in a path need exactly one partition_by column", hint);
  }
  return errors;
}

/** An option that is most likely a key of pz's own. */
function misspelt(options: WriteBlock["options"], key: string): string | undefined {
  return Object.keys(options).find((name) => nearMiss(name, [key]) !== undefined);
}

function isMeant(name: string, key: string): string {
  return `is '${name}' a misspelt '${key}'?`;
}

function columnNames(value: Value): readonly string[] | undefined {
  const list = typeof value === "string" ? [value] : value;
  if (!isList(list) || list.length === 0) return undefined;
  const names = list.filter((item) => typeof item === "string").filter((item) => item.trim() !== "");
  return names.length === list.length && new Set(names).size === names.length ? names : undefined;
}

function isList(value: Value): value is readonly Value[] {
  return Array.isArray(value);
}
