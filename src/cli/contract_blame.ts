import type { CompiledDag, SourceLoadNode } from "../compile/mod.ts";
import { PzError, sortErrors } from "../errors/mod.ts";

/** What a connector says of data that is not there, or not as its contract has it. */
export const MISSING_DATA = "PZ0353";

/**
 * The problems of SQL together with the columns of contracts that the data does not have. Where SQL seems wrong only
 * because a contract misspells a column, its hint says so, and does not offer the misspelt name.
 *
 * @param refusals what the plan says of all nodes
 */
export function withContractBlame(
  dag: CompiledDag,
  sql: readonly PzError[],
  refusals: readonly PzError[],
): readonly PzError[] {
  const blamed = dag.nodes.flatMap((node) => node.kind === "SourceLoad" ? missingColumns(node, refusals) : []);
  const misspelt = new Set(blamed.map(({ name }) => name));
  return sortErrors([...new Set(blamed.map(({ error }) => error)), ...sql.map((error) => explain(error, misspelt))]);
}

/** The columns of a node's contract that a refusal is about. */
function missingColumns(
  { columns = [], connection, entity, position }: SourceLoadNode,
  refusals: readonly PzError[],
): readonly { readonly name: string; readonly error: PzError }[] {
  const places = Object.hasOwn(connection.entities, entity) ? connection.entities[entity]?.places?.columns : undefined;
  return columns.flatMap(({ name }) => {
    const place = places?.[name];
    const error = refusals.find((refused) =>
      refused.code === MISSING_DATA && samePlace(refused, place ?? position) &&
      (place !== undefined || refused.message.includes(`Column "${name}" `))
    );
    return error === undefined ? [] : [{ name, error }];
  });
}

type Place = Pick<PzError, "file" | "line" | "column">;

function samePlace(a: Place, b: Place): boolean {
  return a.file === b.file && a.line === b.line && a.column === b.column;
}

function explain(error: PzError, misspelt: ReadonlySet<string>): PzError {
  const meant = /^did you mean '(?:.*\.)?([^.']+)'\?$/.exec(error.hint ?? "")?.[1];
  if (meant === undefined || !misspelt.has(meant)) return error;
  const { code, message, file, line, column } = error;
  const hint = `'${meant}' stands in columns: but not in the data; correct it there`;
  return new PzError(code, message, { file, line, column, hint });
}
