import type { SinkWriteNode, SourceLoadNode } from "../compile/mod.ts";
import type { ConfigProblem } from "../connectors/mod.ts";
import { type ErrorCode, PzError } from "../errors/mod.ts";

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

/** A refusal that concerns a whole connection, however many of its nodes run into it. */
export function connectionRefusal(
  node: SourceLoadNode | SinkWriteNode,
  code: ErrorCode,
  message: string,
  hint?: string,
): Refusal {
  const { name, position } = node.connection;
  return { error: new PzError(code, message, { ...position, hint }), key: `${code} ${name} ${node.kind}` };
}

/** What a connector says against a dataset or output, at the place where that is declared. */
export function connectorRefusals(
  node: SourceLoadNode | SinkWriteNode,
  problems: readonly ConfigProblem[],
): readonly Refusal[] {
  const name = `${node.connection.name}.${node.entity}`;
  return problems.map(({ code, message, hint }) => refusal(node, code, `${name}: ${message}`, hint));
}
