import type { ConfigProblem } from "../../contract/mod.ts";

/** A table by schema and name, both exactly as the server spells them. */
export type TableName = { readonly schema: string; readonly table: string };

export const MAX_BYTES = 63;

/** The table that an entity means: `table` in schema `public`, or `schema.table`. */
export function tableOf(
  entity: string,
): { readonly table?: TableName; readonly problems: readonly ConfigProblem[] } {
  const parts = entity.split(".");
  if (parts.length > 2 || parts.some((part) => part === "")) {
    return {
      problems: [{
        code: "PZ0301",
        message: `Entity "${entity}" is no name of a table`,
        hint: "write `table` or `schema.table`; the database stands in the connection",
      }],
    };
  }
  const tooLong = parts.find((part) => !isName(part));
  if (tooLong !== undefined) {
    return {
      problems: [{
        code: "PZ0301",
        message: `"${tooLong}" can't be the name of a table or schema`,
        hint: `PostgreSQL's names have at most ${MAX_BYTES} bytes`,
      }],
    };
  }
  const [first = "", second] = parts;
  return {
    table: second === undefined ? { schema: "public", table: first } : { schema: first, table: second },
    problems: [],
  };
}

/** Whether the server keeps a name as it is: a longer one it would cut off without an error. */
export function isName(text: string): boolean {
  return text !== "" && !text.includes("\0") && new TextEncoder().encode(text).length <= MAX_BYTES;
}

/** A name as a quoted identifier. */
export function ident(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** A text as a literal that means the same whatever the session's settings are. */
export function literal(text: string): string {
  const quoted = `'${text.replaceAll("'", "''")}'`;
  return text.includes("\\") ? ` E${quoted.replaceAll("\\", "\\\\")}` : quoted;
}

/** A table as SQL. */
export function qualified({ schema, table }: TableName): string {
  return `${ident(schema)}.${ident(table)}`;
}
