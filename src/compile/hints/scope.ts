import type { Tree } from "../sql_tree.ts";

/** One relation in a FROM clause. */
export type Relation = {
  /** Lower case. */
  readonly alias: string;
  /** The source that it is, or undefined for anything derived. */
  readonly source: string | undefined;
  /** Whether an outer join may fill it with NULLs. */
  nullable: boolean;
  /** Whether rows may be left out of it before the query runs. */
  filterable: boolean;
};

/** The relations that the expressions of one SELECT see, its own before those around it. */
export type Scope = {
  readonly relations: Relation[];
  /** Names of the SELECT list, lower case, that stand for something other than a column of that name. */
  readonly aliases: ReadonlySet<string>;
  readonly outer: Scope | undefined;
};

/** A join condition and what stands on its two sides. */
export type JoinCondition = {
  readonly condition: Tree;
  readonly left: ReadonlySet<Relation>;
  readonly right: ReadonlySet<Relation>;
  readonly type: string;
};

/** Thrown where a query has a form that is not known well enough to say what it reads. */
export class UnknownForm extends Error {
  override readonly name = "UnknownForm";
}
