import { child, children, has, isList, isTree, text, texts, type Tree, walk } from "../sql_tree.ts";
import type { SqlAst } from "../../duckdb/mod.ts";
import { conjuncts, predicateOf } from "./predicate.ts";
import { type JoinCondition, type Relation, type Scope, UnknownForm } from "./scope.ts";
import type { UseCollector } from "./source_use.ts";

/** The source that a relation of schema `staging` is, by its name in lower case. */
export type SourceLookup = (relation: string) => UseCollector | undefined;

const EXPRESSIONS = new Set([
  "BETWEEN",
  "CASE",
  "CAST",
  "COLLATE",
  "COLUMN_REF",
  "COMPARISON",
  "CONJUNCTION",
  "CONSTANT",
  "DEFAULT",
  "FUNCTION",
  "LAMBDA",
  "OPERATOR",
  "PARAMETER",
  "POSITIONAL_REFERENCE",
  "STAR",
  "SUBQUERY",
  "WINDOW",
]);

const JOIN_FORMS = new Set(["REGULAR", "CROSS", "NATURAL", "POSITIONAL", "ASOF", "DEPENDENT"]);

/** Where rows stay whatever a WHERE says. */
type Context = { readonly everyRow: boolean };

const FREE: Context = { everyRow: false };
const EVERY_ROW: Context = { everyRow: true };

/**
 * Reads what a query needs of the sources in it and tells their collectors. Columns are a superset, predicates hold for
 * every row that can matter.
 *
 * @throws {UnknownForm} where the query has a part that is not known; then nothing that was told counts
 */
export class QueryReader {
  readonly #lookup: SourceLookup;
  #read = 0;

  constructor(lookup: SourceLookup) {
    this.#lookup = lookup;
  }

  statement(statement: SqlAst): void {
    this.#query(isTree(statement) ? child(statement, "node") : undefined, undefined, new Set(), FREE);
    let present = 0;
    walk(statement, (tree) => {
      if (isName(tree)) present++;
    });
    // A part that was passed over, or read twice, would make the rest worthless.
    if (present !== this.#read) throw new UnknownForm("a part that was not read");
  }

  #query(node: Tree | undefined, outer: Scope | undefined, ctes: ReadonlySet<string>, context: Context): void {
    if (node === undefined) return;
    const known = new Set(ctes);
    for (const entry of children(child(node, "cte_map"), "map")) {
      const name = text(entry, "key").toLowerCase();
      const body = child(child(child(entry, "value"), "query"), "node");
      const recursive = text(body, "type") === "RECURSIVE_CTE_NODE";
      if (recursive) known.add(name);
      this.#query(body, outer, known, recursive ? EVERY_ROW : context);
      known.add(name);
    }
    switch (text(node, "type")) {
      case "SELECT_NODE":
        return this.#select(node, outer, known, context);
      case "SET_OPERATION_NODE":
        for (const part of [child(node, "left"), child(node, "right"), ...children(node, "children")]) {
          this.#query(part, outer, known, context);
        }
        return this.#members(node["modifiers"], outer, known);
      case "RECURSIVE_CTE_NODE":
        this.#query(child(node, "left"), outer, known, context);
        return this.#query(child(node, "right"), outer, known, context);
      default:
        throw new UnknownForm(`query ${text(node, "type")}`);
    }
  }

  #select(node: Tree, outer: Scope | undefined, ctes: ReadonlySet<string>, around: Context): void {
    const scope: Scope = { relations: [], aliases: aliasesOf(node), outer };
    const context = has(node, "sample") ? EVERY_ROW : around;
    const joins: JoinCondition[] = [];
    this.#from(child(node, "from_table"), scope, ctes, context, joins);
    for (const key of ["select_list", "where_clause", "having", "qualify", "group_expressions", "modifiers"]) {
      this.#members(node[key], scope, ctes);
    }
    if (context.everyRow) return;
    for (const condition of conjuncts(child(node, "where_clause"))) {
      const found = predicateOf(condition, scope, this.#lookup);
      // Rows that an outer join fills up with NULLs meet IS NULL only because a row was left out.
      if (found === undefined || (found.relation.nullable && found.predicate.op === "is_null")) continue;
      this.#filter(found.relation, found.predicate);
    }
    for (const join of joins) this.#joinPredicates(join, scope);
  }

  #joinPredicates({ condition, left, right, type }: JoinCondition, scope: Scope): void {
    for (const part of conjuncts(condition)) {
      const found = predicateOf(part, scope, this.#lookup);
      if (found === undefined) continue;
      const { relation, predicate } = found;
      const optional = (type === "LEFT" && right.has(relation)) || (type === "RIGHT" && left.has(relation));
      const filters = type === "INNER" || optional || ((type === "SEMI" || type === "ANTI") && right.has(relation));
      if (!filters || (relation.nullable && (!optional || predicate.op === "is_null"))) continue;
      this.#filter(relation, predicate);
    }
  }

  #filter(relation: Relation, predicate: Parameters<UseCollector["predicate"]>[0]): void {
    if (relation.source !== undefined && relation.filterable) this.#lookup(relation.source)?.predicate(predicate);
  }

  /** Adds the relations of a FROM clause to the scope and returns them. */
  #from(
    tree: Tree | undefined,
    scope: Scope,
    ctes: ReadonlySet<string>,
    context: Context,
    joins: JoinCondition[],
  ): ReadonlySet<Relation> {
    const type = text(tree, "type");
    if (tree === undefined || type === "EMPTY" || type === "EMPTY_FROM") return new Set();
    switch (type) {
      case "BASE_TABLE":
        return this.#table(tree, scope);
      case "JOIN":
        return this.#join(tree, scope, ctes, context, joins);
      case "SUBQUERY":
        this.#query(child(child(tree, "subquery"), "node"), scope, ctes, has(tree, "sample") ? EVERY_ROW : context);
        break;
      case "TABLE_FUNCTION":
        this.#tableFunction(child(tree, "function"), scope, ctes);
        break;
      case "EXPRESSION_LIST":
        this.#members(tree["values"], scope, ctes);
        break;
      default:
        throw new UnknownForm(`relation ${type}`);
    }
    const alias = text(tree, "alias") || text(child(tree, "function"), "function_name");
    return addRelation(scope, { alias: alias.toLowerCase(), source: undefined, nullable: false, filterable: false });
  }

  #table(tree: Tree, scope: Scope): ReadonlySet<Relation> {
    this.#read++;
    const table = text(tree, "table_name").toLowerCase();
    const staged = text(tree, "schema_name").toLowerCase() === "staging" && text(tree, "catalog_name") === "";
    const use = staged ? this.#lookup(table) : undefined;
    const sampled = has(tree, "sample") || has(tree, "at_clause");
    use?.reference();
    if (has(tree, "column_name_alias")) {
      use?.everyColumn();
      use?.everyRow();
    }
    return addRelation(scope, {
      alias: (text(tree, "alias") || table).toLowerCase(),
      source: use === undefined ? undefined : table,
      nullable: false,
      filterable: !sampled,
    });
  }

  #join(
    tree: Tree,
    scope: Scope,
    ctes: ReadonlySet<string>,
    context: Context,
    joins: JoinCondition[],
  ): ReadonlySet<Relation> {
    const type = text(tree, "join_type") || "INNER";
    const form = text(tree, "ref_type") || "REGULAR";
    if (!JOIN_FORMS.has(form)) throw new UnknownForm(`join ${form}`);
    const left = this.#from(child(tree, "left"), scope, ctes, context, joins);
    const right = this.#from(child(tree, "right"), scope, ctes, context, joins);
    const both = new Set([...left, ...right]);
    const full = type === "OUTER" || type === "FULL";
    if (type === "LEFT" || full) { for (const relation of right) relation.nullable = true; }
    if (type === "RIGHT" || full) { for (const relation of left) relation.nullable = true; }
    if (form === "POSITIONAL") { for (const relation of both) relation.filterable = false; }
    // A row that is left out on the right would make way for another one.
    if (form === "ASOF") { for (const relation of right) relation.filterable = false; }
    for (const { source } of both) {
      if (source === undefined) continue;
      if (form === "NATURAL") this.#lookup(source)?.everyColumn();
      for (const column of texts(tree, "using_columns")) this.#lookup(source)?.column(column);
    }
    const condition = child(tree, "condition");
    if (condition !== undefined) {
      this.#expression(condition, scope, ctes);
      if (form === "REGULAR") joins.push({ condition, left, right, type });
    }
    return both;
  }

  #tableFunction(call: Tree | undefined, scope: Scope, ctes: ReadonlySet<string>): void {
    const name = text(call, "function_name");
    // These run SQL that stands in a text.
    if (name === "query" || name === "query_table") throw new UnknownForm(`${name}()`);
    this.#members(call?.["children"], scope, ctes);
  }

  #expression(tree: Tree, scope: Scope | undefined, ctes: ReadonlySet<string>): void {
    const kind = text(tree, "class");
    if (kind !== "" && !EXPRESSIONS.has(kind)) throw new UnknownForm(`expression ${kind}`);
    switch (kind) {
      case "COLUMN_REF":
        this.#read++;
        return this.#column(texts(tree, "column_names"), scope);
      case "POSITIONAL_REFERENCE":
        return this.#everyColumn(scope, undefined);
      case "SUBQUERY":
        this.#query(child(child(tree, "subquery"), "node"), scope, ctes, FREE);
        break;
      case "STAR":
        this.#star(text(tree, "relation_name").toLowerCase(), scope);
        break;
    }
    for (const [key, value] of Object.entries(tree)) {
      if (kind === "SUBQUERY" && key === "subquery") continue;
      this.#members(value, scope, ctes);
    }
  }

  #members(value: SqlAst | undefined, scope: Scope | undefined, ctes: ReadonlySet<string>): void {
    if (isList(value)) {
      for (const item of value) this.#members(item, scope, ctes);
    } else if (isTree(value)) {
      const node = child(value, "node");
      if (node === undefined) this.#expression(value, scope, ctes);
      else this.#query(node, scope, ctes, FREE);
    }
  }

  #star(relation: string, scope: Scope | undefined): void {
    for (let around = scope; around !== undefined; around = around.outer) {
      this.#everyColumn(around, relation === "" ? undefined : relation);
      if (relation === "") return;
    }
  }

  #everyColumn(scope: Scope | undefined, alias: string | undefined): void {
    for (const { alias: own, source } of scope?.relations ?? []) {
      if (source !== undefined && (alias === undefined || own === alias)) this.#lookup(source)?.everyColumn();
    }
  }

  /**
   * A name may mean a column of any relation around it, or a member of a struct in one: all of these are kept, unless a
   * contract says that the qualified column exists.
   */
  #column(names: readonly string[], scope: Scope | undefined): void {
    const [first = ""] = names;
    const folded = names.map((name) => name.toLowerCase());
    for (let around = scope; around !== undefined; around = around.outer) {
      let certain = false;
      for (const { alias, source } of around.relations) {
        const use = source === undefined ? undefined : this.#lookup(source);
        const place = folded.slice(0, 3).indexOf(alias);
        const column = place < 0 ? undefined : names[place + 1];
        if (use === undefined || (column === undefined && place >= 0 && names.length > 1)) continue;
        if (column !== undefined) {
          use.column(column);
          certain ||= use.known?.has(column.toLowerCase()) === true;
        } else if (alias === folded[0] && use.known?.has(alias) !== true) use.everyColumn();
      }
      if (certain) return;
      for (const { alias, source } of around.relations) {
        const own = alias === folded[0] && names.length > 1;
        if (source !== undefined && !own) this.#lookup(source)?.column(first);
      }
    }
  }
}

/** Whether an object names a table or a column. */
function isName(tree: Tree): boolean {
  return text(tree, "type") === "BASE_TABLE" || text(tree, "class") === "COLUMN_REF";
}

function addRelation(scope: Scope, relation: Relation): ReadonlySet<Relation> {
  scope.relations.push(relation);
  return new Set([relation]);
}

/** Names of a SELECT list that stand for anything but a column of that name. */
function aliasesOf(node: Tree): ReadonlySet<string> {
  const aliases = new Set<string>();
  for (const item of children(node, "select_list")) {
    const alias = text(item, "alias").toLowerCase();
    const itself = text(item, "class") === "COLUMN_REF" && texts(item, "column_names").at(-1)?.toLowerCase() === alias;
    if (alias !== "" && !itself) aliases.add(alias);
  }
  return aliases;
}
