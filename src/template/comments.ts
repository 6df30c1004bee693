import { outputEnd } from "./delimiters.ts";
import { SqlLexer } from "./sql_lexer.ts";

/** Stands for a brace in a comment: neither a blank nor a quote nor a brace. */
const MASK = ".";

/**
 * The template with every `{` inside an SQL comment or a `{% comment %}` masked, at equal length, so that nothing in a
 * comment is read as a call or a tag. Whether a place is in a comment is decided branch by branch: each branch of an
 * `if` or `case` starts where the tag stands.
 */
export function maskComments(template: string): string {
  const pieces: string[] = [];
  const branches: SqlLexer[] = [];
  let lexer = new SqlLexer();
  let copied = 0;
  const mask = (offset: number) => {
    pieces.push(template.slice(copied, offset), MASK);
    copied = offset + 1;
  };
  const maskAll = (from: number, to: number) => {
    for (let at = template.indexOf("{", from); at !== -1 && at < to; at = template.indexOf("{", at + 1)) mask(at);
  };
  for (let index = 0; index < template.length;) {
    const brace = template.indexOf("{", index);
    if (brace === -1) break;
    lexer.feed(template.slice(index, brace));
    index = brace;
    const two = template.slice(index, index + 2);
    if (lexer.inComment || (two !== "{{" && two !== "{%")) {
      if (lexer.inComment) mask(index);
      lexer.feed("{");
      index++;
      continue;
    }
    const end = two === "{{" ? outputEnd(template, index) : tagEnd(template, index);
    if (end === undefined) break;
    lexer.passOver();
    const name = two === "{{" ? "" : tagName(template.slice(index, end));
    index = end;
    if (name === "raw" || name === "comment") {
      const stop = closingTag(template, `end${name}`, end);
      if (name === "comment") maskAll(end, stop);
      else lexer.feed(template.slice(end, stop));
      index = stop;
    } else if (name === "if" || name === "unless" || name === "case" || name === "for") branches.push(lexer.copy());
    else if (name === "else" || name === "elsif" || name === "when") lexer = branches.at(-1)?.copy() ?? lexer;
    else if (name.startsWith("end")) branches.pop();
  }
  pieces.push(template.slice(copied));
  return pieces.join("");
}

function tagEnd(template: string, begin: number): number | undefined {
  const end = template.indexOf("%}", begin + 2);
  return end === -1 ? undefined : end + 2;
}

function tagName(tag: string): string {
  return /^\{%-?\s*(\w*)/.exec(tag)?.[1] ?? "";
}

/** The offset of a closing tag, or the end of the template. */
function closingTag(template: string, name: string, from: number): number {
  const pattern = new RegExp(`\\{%-?\\s*${name}\\s*-?%\\}`, "g");
  pattern.lastIndex = from;
  return pattern.exec(template)?.index ?? template.length;
}
