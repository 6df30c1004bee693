import type { ConfigProblem } from "../../contract/mod.ts";

/** The table or view that an entity means: the whole of it is the name, dots included. */
export function tableOf(entity: string): { readonly table?: string; readonly problems: readonly ConfigProblem[] } {
  if (entity !== "" && !entity.includes("\0") && !/^sqlite_/i.test(entity)) return { table: entity, problems: [] };
  return {
    problems: [{
      code: "PZ0301",
      message: `Entity "${entity}" can't be the name of a table`,
      hint: "names that begin with sqlite_ are SQLite's own",
    }],
  };
}

/** A name as a quoted identifier. */
export function ident(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** A text without U+0000 as a literal. */
export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
