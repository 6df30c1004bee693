import type { SqlAst } from "../../duckdb/mod.ts";
import { child, children, isList, isTree, text, texts, type Tree, walk } from "../sql_tree.ts";

/** A comparison of a column of a source with a value that is made from the source's watermark. */
export type WatermarkComparison = {
  readonly sentinel: string;
  /** The compared column's relation of schema `staging`, in lower case, and its name as the SQL spells it. */
  readonly relation: string;
  readonly column: string;
  /** Whether the value is where the rows end, and not where they begin. */
  readonly upper: boolean;
  readonly inclusive: boolean;
  readonly value: Tree;
  /** The sentinel's own constant. */
  readonly place: Tree;
};

/** A sentinel that no rule fits, with the reason as what stands behind `watermark('c', 'e')`, and the next step. */
export type WatermarkMisuse = {
  readonly sentinel: string;
  readonly place: Tree;
  readonly message: string;
  readonly hint: string;
};

/** A relation in a FROM clause; `source` is its name in schema `staging`, undefined for anything else. */
type Relation = { readonly alias: string; readonly source: string | undefined };

const DIRECTIONS: { readonly [type: string]: { readonly upper: boolean; readonly inclusive: boolean } } = {
  COMPARE_GREATERTHAN: { upper: false, inclusive: false },
  COMPARE_GREATERTHANOREQUALTO: { upper: false, inclusive: true },
  COMPARE_LESSTHAN: { upper: true, inclusive: false },
  COMPARE_LESSTHANOREQUALTO: { upper: true, inclusive: true },
};

const FORM = "write it as in `o.changed_at > {{ watermark('c', 'e') }}`";

/** Every place of the given sentinels in a query: where it is compared as a watermark may be, and where it is not. */
export function watermarkComparisons(
  statement: SqlAst,
  sentinels: ReadonlySet<string>,
): { readonly comparisons: readonly WatermarkComparison[]; readonly misuses: readonly WatermarkMisuse[] } {
  const reader = new WatermarkReader(sentinels);
  reader.read(statement, []);
  return reader;
}

class WatermarkReader {
  readonly comparisons: WatermarkComparison[] = [];
  readonly misuses: WatermarkMisuse[] = [];
  readonly #sentinels: ReadonlySet<string>;

  constructor(sentinels: ReadonlySet<string>) {
    this.#sentinels = sentinels;
  }

  /** @param scope the relations of the nearest SELECT around */
  read(value: SqlAst | undefined, scope: readonly Relation[]): void {
    if (isList(value)) {
      for (const item of value) this.read(item, scope);
    } else if (isTree(value)) {
      const sentinel = this.#sentinelOf(value);
      if (sentinel !== undefined) {
        this.#misuse(sentinel, value, "stands outside of a comparison by >, >=, < or <=", FORM);
      } else if (text(value, "class") === "COMPARISON" && this.#compare(value, scope)) return;
      const inner = text(value, "type") === "SELECT_NODE" ? relationsOf(child(value, "from_table")) : scope;
      for (const member of Object.values(value)) this.read(member, inner);
    }
  }

  /** Takes a comparison with a sentinel on one of its sides, and says whether it is one. */
  #compare(comparison: Tree, scope: readonly Relation[]): boolean {
    const left = child(comparison, "left");
    const right = child(comparison, "right");
    const [onLeft, onRight] = [this.#placesIn(left), this.#placesIn(right)];
    const [place] = [...onLeft, ...onRight];
    if (left === undefined || right === undefined || place === undefined) return false;
    const sentinel = this.#sentinelOf(place) ?? "";
    const mirrored = onLeft.length > 0;
    const [subject, value] = mirrored ? [right, left] : [left, right];
    const problem = onLeft.length + onRight.length > 1
      ? { message: "stands in one comparison with another watermark()", hint: "compare with each by itself" }
      : valueProblem(value);
    const found = problem ?? cursorOf(subject, scope);
    const direction = DIRECTIONS[text(comparison, "type")];
    if ("message" in found) this.#misuse(sentinel, place, found.message, found.hint);
    else if (direction === undefined) {
      this.#misuse(sentinel, place, "is compared by something other than >, >=, < or <=", FORM);
    } else {
      const upper = direction.upper !== mirrored;
      this.comparisons.push({ sentinel, ...found, upper, inclusive: direction.inclusive, value, place });
    }
    return true;
  }

  #misuse(sentinel: string, place: Tree, message: string, hint: string): void {
    this.misuses.push({ sentinel, place, message, hint });
  }

  #placesIn(tree: Tree | undefined): readonly Tree[] {
    const places: Tree[] = [];
    walk(tree, (inner) => {
      if (this.#sentinelOf(inner) !== undefined) places.push(inner);
    });
    return places;
  }

  #sentinelOf(tree: Tree): string | undefined {
    if (text(tree, "class") !== "CONSTANT") return undefined;
    const value = child(tree, "value")?.["value"];
    return typeof value === "string" && this.#sentinels.has(value) ? value : undefined;
  }
}

type Problem = { readonly message: string; readonly hint: string };

/** What keeps a value from being computed before the rows are read. */
function valueProblem(value: Tree): Problem | undefined {
  let problem: Problem | undefined;
  walk(value, (tree) => {
    const kind = text(tree, "class");
    if (kind === "COLUMN_REF" || kind === "STAR" || kind === "POSITIONAL_REFERENCE") {
      problem ??= {
        message: `is compared together with '${texts(tree, "column_names").join(".") || "*"}'`,
        hint: "a value beside watermark() is made of constants; put the column alone on the other side",
      };
    } else if (kind === "SUBQUERY" || kind === "WINDOW" || kind === "PARAMETER") {
      problem ??= { message: "is compared together with a subquery or window", hint: FORM };
    }
  });
  return problem;
}

/** The source's column that the other side of a comparison is, or why it is none. */
function cursorOf(subject: Tree, scope: readonly Relation[]): { relation: string; column: string } | Problem {
  const names = texts(subject, "column_names");
  const [first = "", second = "", third = ""] = names;
  if (text(subject, "class") !== "COLUMN_REF" || names.length > 3) {
    return {
      message: "is compared with something other than a column",
      hint: `leave the column as it is, and ${FORM}`,
    };
  }
  if (names.length === 1) {
    const [only] = scope;
    if (only === undefined || scope.length > 1) {
      return { message: `is compared with '${first}', which may be of several relations`, hint: `write o.${first}` };
    }
    return ofSource(only, first);
  }
  const staged = names.length === 3 && first.toLowerCase() === "staging";
  const [alias, column] = staged ? [second, third] : [first, second];
  const relation = scope.find((other) => other.alias === alias.toLowerCase());
  if (relation === undefined || (names.length === 3 && !staged)) {
    return { message: `is compared with '${names.join(".")}', which is no column of a relation here`, hint: FORM };
  }
  return ofSource(relation, column);
}

function ofSource({ alias, source }: Relation, column: string): { relation: string; column: string } | Problem {
  if (source !== undefined) return { relation: source, column };
  return {
    message: `is compared with a column of '${alias}', which is no source`,
    hint: "compare where the source itself is read",
  };
}

function relationsOf(from: Tree | undefined): readonly Relation[] {
  const type = text(from, "type");
  if (from === undefined || type === "EMPTY") return [];
  if (type === "JOIN") return [...relationsOf(child(from, "left")), ...relationsOf(child(from, "right"))];
  const table = text(from, "table_name");
  const named = text(from, "alias") || table || text(child(from, "function"), "function_name");
  const staged = type === "BASE_TABLE" && text(from, "schema_name").toLowerCase() === "staging" &&
    text(from, "catalog_name") === "" && children(from, "column_name_alias").length === 0 &&
    texts(from, "column_name_alias").length === 0;
  return [{ alias: named.toLowerCase(), source: staged ? table.toLowerCase() : undefined }];
}
