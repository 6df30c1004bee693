import type { ConfigProblem } from "../../contract/mod.ts";

export const MAX_CHARACTERS = 64;

/** The table that an entity means: the whole of it is the name, dots included; the database stands in the connection. */
export function tableOf(entity: string): { readonly table?: string; readonly problems: readonly ConfigProblem[] } {
  if (isName(entity)) return { table: entity, problems: [] };
  return {
    problems: [{
      code: "PZ0301",
      message: `Entity "${entity}" can't be the name of a table`,
      hint: `MySQL's names have at most ${MAX_CHARACTERS} characters, do not end in a blank, and hold no emoji`,
    }],
  };
}

/** Whether the server keeps a name as it is. */
export function isName(text: string): boolean {
  return text !== "" && text.length <= MAX_CHARACTERS && !text.endsWith(" ") && !/[\0\u{10000}-\u{10ffff}]/u.test(text);
}

/** A name as a quoted identifier. */
export function ident(name: string): string {
  return `\`${name.replaceAll("`", "``")}\``;
}

const ESCAPES: { readonly [character: string]: string } = { "'": "''", "\\": "\\\\", "\0": "\\0" };

/** A text as a literal; the session takes backslashes as escapes. */
export function literal(text: string): string {
  return `'${text.replaceAll(/['\\\0]/g, (character) => ESCAPES[character] ?? character)}'`;
}
