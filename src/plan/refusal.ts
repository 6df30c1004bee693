import type { SinkWriteNode, SourceLoadNode } from "../compile/mod.ts";
import type { ConfigProblem } from "../connectors/mod.ts";
import { type ErrorCode, PzError } from "../errors/mod.ts";
import { nearMiss } from "../util/mod.ts";

/** Why a node can't run. The same `key` is told only once. */
export type Refusal = { readonly error: PzError; readonly key?: string };

export function refusal(
  node: SourceLoadNode | SinkWriteNode,
  code: ErrorCode,
  message: string,
  hint?: string,
): Refusal {
  return { error: new PzError(code, message, { ...node.position, hint }) };
}

/** A refusal because of one key of a write or read, or of the call that holds it. */
export function keyRefusal(
  node: SourceLoadNode | SinkWriteNode,
  option: string,
  code: ErrorCode,
  message: string,
  hint?: string,
): Refusal {
  return { error: new PzError(code, message, { ...placeOf(node, { option }), hint }) };
}

/** A refusal that concerns a whole connection, however many of its nodes run into it. */
export function connectionRefusal(
  node: SourceLoadNode | SinkWriteNode,
  code: ErrorCode,
  message: string,
  hint?: string,
): Refusal {
  const { name, position } = node.connection;
  return { error: new PzError(code, message, { ...position, hint }), key: `${code} ${name} ${message}` };
}

/**
 * What a connector says against a dataset or output, at the option or column that is to blame, or else where the dataset
 * or output is declared. What it says against a setting of the connection is the same for all its nodes.
 */
export function connectorRefusals(
  node: SourceLoadNode | SinkWriteNode,
  problems: readonly ConfigProblem[],
): readonly Refusal[] {
  const { connection, entity } = node;
  const name = `${connection.name}.${entity}`;
  return problems.map((problem) => {
    const { code, message, hint, setting } = problem;
    if (setting === undefined) {
      return {
        error: new PzError(code, `${name}: ${message}`, {
          ...placeOf(node, problem),
          hint: withEntities(node, problem),
        }),
      };
    }
    const place = connection.places?.[setting] ?? connection.position;
    return {
      error: new PzError(code, `connection '${connection.name}': ${message}`, { ...place, hint }),
      key: `${code} ${connection.name} ${message}`,
    };
  });
}

/** Where the part of a dataset or output stands that a problem is about. */
function placeOf(
  node: SourceLoadNode | SinkWriteNode,
  problem: Pick<ConfigProblem, "option" | "column" | "missingColumn">,
): SinkWriteNode["position"] {
  const declared = node.connection.entities[node.entity];
  const side = node.kind === "SourceLoad" ? "read" : "write";
  // Options of a call stand at the call.
  if (declared?.[side] === undefined) return node.position;
  const { option, column = problem.missingColumn } = problem;
  const places = declared.places;
  return (option === undefined ? undefined : places?.[side][option]) ??
    (column === undefined ? undefined : places?.columns?.[column]) ?? node.position;
}

const MAX_NAMES = 5;

/** The hint of a problem; where an entity that nobody declared is not there, with those that are declared. */
function withEntities(
  node: SourceLoadNode | SinkWriteNode,
  { hint, missingEntity }: ConfigProblem,
): string | undefined {
  const { entities, name } = node.connection;
  if (missingEntity !== true || Object.hasOwn(entities, node.entity)) return hint;
  const declared = Object.values(entities).flatMap((entity) => entity.read === undefined ? [] : [entity.name]);
  const near = nearMiss(node.entity, declared);
  if (near !== undefined) return `did you mean the entity '${near}'?`;
  if (declared.length === 0) return hint;
  const more = declared.length > MAX_NAMES ? ", …" : "";
  const list = declared.slice(0, MAX_NAMES).map((entity) => `'${entity}'`).join(", ");
  return `'${name}' declares ${list}${more}${hint === undefined ? "" : `; ${hint}`}`;
}
