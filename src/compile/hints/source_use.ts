import type { Predicate } from "../dag.ts";

/** A column of a contract, under its name in lower case. */
export type KnownColumns = ReadonlyMap<string, { readonly name: string; readonly type: string }>;

/** What one query needs of one source. */
export type SourceUse = {
  /** Lower-case names, a superset of the columns that are read; or every column. */
  readonly columns: ReadonlySet<string> | "all";
  /** Every row that the query needs meets all of them. */
  readonly predicates: readonly Predicate[];
};

/** Collects what a query needs of one source while it is read. */
export class UseCollector {
  readonly known: KnownColumns | undefined;
  readonly #columns = new Set<string>();
  readonly #predicates: Predicate[] = [];
  #all = false;
  #unfiltered = false;
  #references = 0;

  constructor(known: KnownColumns | undefined) {
    this.known = known;
  }

  reference(): void {
    this.#references++;
  }

  column(name: string): void {
    const folded = name.toLowerCase();
    this.#columns.add(folded);
    if (folded !== "rowid") return;
    // The place of a row among the rows changes with the rows that are left out.
    this.everyColumn();
    this.everyRow();
  }

  everyColumn(): void {
    this.#all = true;
  }

  everyRow(): void {
    this.#unfiltered = true;
  }

  predicate(predicate: Predicate): void {
    this.#predicates.push(predicate);
  }

  result(): SourceUse {
    return {
      columns: this.#all || this.#columns.size === 0 ? "all" : this.#columns,
      predicates: this.#unfiltered || this.#references !== 1 ? [] : this.#predicates,
    };
  }
}
