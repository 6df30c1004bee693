import { type ConfigProblem, ConnectorError, type OutputSpec } from "../../contract/mod.ts";

/**
 * The table that an entity names.
 *
 * @throws {ConnectorError} where it names none
 */
export function namedTable<T>(
  { entity }: OutputSpec,
  { table, problems: [problem] }: { readonly table?: T | undefined; readonly problems: readonly ConfigProblem[] },
): T {
  if (table !== undefined && problem === undefined) return table;
  throw new ConnectorError(problem?.message ?? `Entity "${entity}" is no name of a table`, {
    transient: false,
    code: problem?.code,
    hint: problem?.hint,
  });
}

/** The refusal of an output in the table that the connector keeps for itself. */
export function ownTable(name: string): ConnectorError {
  return new ConnectorError(`"${name}" is the connector's own table`, {
    transient: false,
    code: "PZ0301",
    hint: "write to another table",
  });
}

/** @throws {ConnectorError} for the schema policy that no connector has which writes to tables as they are */
export function refuseEvolve({ schemaPolicy }: OutputSpec, connector: string): void {
  if (schemaPolicy !== "evolve") return;
  throw new ConnectorError(`schema_policy "evolve" is not supported by connector '${connector}'`, {
    transient: false,
    code: "PZ0301",
    hint: "use fail_on_change, and change the table yourself",
  });
}

/** What stands against the columns of a table that rows go to, and the next step; undefined: nothing. */
export function misfitOf(
  taken: readonly { readonly name: string }[],
  existing: readonly { readonly name: string; readonly isNeeded: boolean }[],
): { readonly what: string; readonly hint: string } | undefined {
  const names = new Set(taken.map(({ name }) => name));
  if (names.size < taken.length) {
    return { what: "two columns differ in nothing but case", hint: "rename one of them" };
  }
  const lacking = existing.find(({ name, isNeeded }) => isNeeded && !names.has(name));
  return lacking && {
    what: `its column "${lacking.name}" must not be NULL, and the rows have no such column`,
    hint: `add "${lacking.name}" to the SELECT, or give the column a default`,
  };
}
