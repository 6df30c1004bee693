import type { Predicate } from "../dag.ts";
import { child, children, text, texts, type Tree } from "../sql_tree.ts";
import type { SourceLookup } from "./query_reader.ts";
import { type Constant, constantOf } from "./literal.ts";
import { fitted } from "./column_family.ts";
import type { Relation, Scope } from "./scope.ts";

type Comparison = "=" | "<>" | "<" | "<=" | ">" | ">=";

const COMPARISONS: { readonly [type: string]: Comparison } = {
  COMPARE_EQUAL: "=",
  COMPARE_NOTEQUAL: "<>",
  COMPARE_LESSTHAN: "<",
  COMPARE_LESSTHANOREQUALTO: "<=",
  COMPARE_GREATERTHAN: ">",
  COMPARE_GREATERTHANOREQUALTO: ">=",
};

const MIRRORED: { readonly [op in Comparison]: Comparison } = {
  "=": "=",
  "<>": "<>",
  "<": ">",
  "<=": ">=",
  ">": "<",
  ">=": "<=",
};

/** A predicate and the relation whose column it is about. */
export type Found = { readonly relation: Relation; readonly predicate: Predicate };

/** The parts of a condition that must all hold; a BETWEEN is two of them. */
export function conjuncts(condition: Tree | undefined): readonly Tree[] {
  if (condition === undefined) return [];
  if (text(condition, "class") === "CONJUNCTION" && text(condition, "type") === "CONJUNCTION_AND") {
    return children(condition, "children").flatMap(conjuncts);
  }
  const { input, lower, upper } = condition;
  if (
    text(condition, "type") !== "COMPARE_BETWEEN" || input === undefined || lower === undefined || upper === undefined
  ) {
    return [condition];
  }
  return [
    { class: "COMPARISON", type: "COMPARE_GREATERTHANOREQUALTO", left: input, right: lower },
    { class: "COMPARISON", type: "COMPARE_LESSTHANOREQUALTO", left: input, right: upper },
  ];
}

/** A condition on one column of a source that another system understands alike, or undefined. */
export function predicateOf(condition: Tree, scope: Scope, lookup: SourceLookup): Found | undefined {
  const kind = text(condition, "class");
  const type = text(condition, "type");
  if (kind === "COMPARISON") {
    const op = Object.hasOwn(COMPARISONS, type) ? COMPARISONS[type] : undefined;
    const left = child(condition, "left");
    const right = child(condition, "right");
    if (op === undefined || left === undefined || right === undefined) return undefined;
    return comparison(left, op, right, scope, lookup) ?? comparison(right, MIRRORED[op], left, scope, lookup);
  }
  if (kind !== "OPERATOR") return undefined;
  const [subject, ...rest] = children(condition, "children");
  const column = subject === undefined ? undefined : columnOf(subject, scope, lookup);
  if (column === undefined) return undefined;
  const { relation, name } = column;
  if (type === "OPERATOR_IS_NULL") return { relation, predicate: { op: "is_null", column: name } };
  if (type === "OPERATOR_IS_NOT_NULL") return { relation, predicate: { op: "is_not_null", column: name } };
  if (type !== "COMPARE_IN" || rest.length === 0) return undefined;
  const values = rest.map((item) => fittedConstant(constantOf(item), column));
  if (!values.every((value) => value !== undefined)) return undefined;
  return { relation, predicate: { op: "in", column: name, values: values.map(plain) } };
}

function comparison(
  subject: Tree,
  op: Comparison,
  other: Tree,
  scope: Scope,
  lookup: SourceLookup,
): Found | undefined {
  const column = columnOf(subject, scope, lookup);
  const constant = column === undefined ? undefined : fittedConstant(constantOf(other), column);
  if (column === undefined || constant === undefined) return undefined;
  // Other systems sort texts in their own way and may hold more of them for equal, which only `=` survives.
  if (constant.family === "text" && op !== "=") return undefined;
  return { relation: column.relation, predicate: { op, column: column.name, value: plain(constant) } };
}

type Column = { readonly relation: Relation; readonly name: string; readonly type: string | undefined };

function fittedConstant(constant: Constant | undefined, { type }: Column): Constant | undefined {
  if (constant === undefined || type === undefined) return constant;
  return fitted(constant, type);
}

function plain({ type, text }: Constant): { readonly type: string; readonly text: string } {
  return { type, text };
}

/** The column of a source that a name means without doubt. */
function columnOf(tree: Tree, scope: Scope, lookup: SourceLookup): Column | undefined {
  if (text(tree, "class") !== "COLUMN_REF") return undefined;
  const names = texts(tree, "column_names");
  const [first = "", second] = names.map((name) => name.toLowerCase());
  const { relations } = scope;
  const knownIn = (relation: Relation) => relation.source === undefined ? undefined : lookup(relation.source)?.known;
  if (names.length === 2 && second !== undefined) {
    const own = relations.filter(({ alias }) => alias === first);
    // The alias may be hidden by a struct of the same name.
    const hidden = relations.some((relation) => knownIn(relation)?.has(first) === true);
    return own.length === 1 && !hidden ? columnIn(own[0], second, lookup) : undefined;
  }
  if (names.length !== 1 || scope.aliases.has(first)) return undefined;
  const owners = relations.filter((relation) => knownIn(relation)?.has(first) === true);
  const allKnown = relations.every((relation) => knownIn(relation) !== undefined);
  if (allKnown) return owners.length === 1 ? columnIn(owners[0], first, lookup) : undefined;
  return relations.length === 1 && scope.outer === undefined ? columnIn(relations[0], first, lookup) : undefined;
}

function columnIn(relation: Relation | undefined, column: string, lookup: SourceLookup): Column | undefined {
  const use = relation?.source === undefined ? undefined : lookup(relation.source);
  if (relation === undefined || use === undefined) return undefined;
  if (use.known === undefined) return { relation, name: column, type: undefined };
  const known = use.known.get(column);
  return known === undefined ? undefined : { relation, name: known.name, type: known.type };
}
