import type { SourceLoadNode } from "../../compile/mod.ts";
import { PzError } from "../../errors/mod.ts";
import type { SourcePosition } from "../../project/mod.ts";
import { nearMiss } from "../../util/mod.ts";
import { holdsAll } from "./wider_type.ts";

/** A column with DuckDB's text of its type. */
export type TypedColumn = { readonly name: string; readonly type: string };

/** Where a column of a source's contract is declared. */
function columnPlace(node: SourceLoadNode, column: string): SourcePosition {
  return node.connection.entities[node.entity]?.places?.columns?.[column] ?? node.position;
}

/** PZ0331 for a declared column that a source does not have. */
export function missingColumn(node: SourceLoadNode, column: string, hint: string | undefined): PzError {
  const dataset = `${node.connection.name}.${node.entity}`;
  return new PzError("PZ0331", `column '${column}' of '${dataset}' is declared, but is not there`, {
    ...columnPlace(node, column),
    hint,
  });
}

/**
 * PZ0331 for each column of a contract that the source lacks, or has with a type whose values the declared one can't all
 * hold. Names are compared without case; columns of the source that the contract does not name do not matter.
 */
export function contractDrift(
  node: SourceLoadNode,
  declared: readonly TypedColumn[],
  found: readonly TypedColumn[],
): readonly PzError[] {
  const byName = new Map(found.map((column) => [column.name.toLowerCase(), column]));
  return declared.flatMap(({ name, type }) => {
    const column = byName.get(name.toLowerCase());
    if (column === undefined) {
      const meant = nearMiss(name, found.map((other) => other.name));
      return [
        missingColumn(
          node,
          name,
          meant === undefined ? "remove it, or correct the source" : `did you mean '${meant}'?`,
        ),
      ];
    }
    if (holdsAll(type, column.type)) return [];
    return [
      new PzError(
        "PZ0331",
        `column '${name}' of '${node.connection.name}.${node.entity}': expected ${type}, as declared; found ${column.type}`,
        { ...columnPlace(node, name), hint: "declare the type that is there, or correct the source" },
      ),
    ];
  });
}
