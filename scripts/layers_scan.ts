/** A piece of TypeScript source; `line` counts from 1. */
export type Token = {
  readonly kind: "word" | "punctuation" | "string" | "template" | "number" | "regexp" | "comment";
  /** As it stands in the file; of a string, what is between its quotes. */
  readonly text: string;
  readonly line: number;
};

const BEFORE_REGEXP = new Set(
  "return typeof case in of delete void throw new else do instanceof await yield".split(" "),
);

/**
 * Splits TypeScript source into tokens, comments included. It knows as much of the language as telling code from text
 * takes: strings, templates with nested code, regular expressions, comments.
 */
export function scan(source: string): Token[] {
  const tokens: Token[] = [];
  /** For each open `${`, how many braces are open inside it. */
  const templates: number[] = [];
  let at = 0;
  let line = 1;
  let before: Token | undefined;

  const take = (kind: Token["kind"], length: number, text = source.slice(at, at + length)): void => {
    const token = { kind, text, line };
    tokens.push(token);
    if (kind !== "comment") before = token;
    line += countLines(source, at, at + length);
    at += length;
  };

  while (at < source.length) {
    const rest = source.slice(at, at + 3);
    const first = rest.charAt(0);
    if (/\s/.test(first)) {
      if (first === "\n") line++;
      at++;
    } else if (rest.startsWith("//")) {
      const end = source.indexOf("\n", at);
      take("comment", (end === -1 ? source.length : end) - at);
    } else if (rest.startsWith("/*")) {
      take("comment", source.indexOf("*/", at + 2) + 2 - at);
    } else if (first === '"' || first === "'") {
      const end = endOfText(source, at + 1, first);
      take("string", end + 1 - at, source.slice(at + 1, end));
    } else if (first === "`" || (first === "}" && templates.at(-1) === 0)) {
      if (first === "}") templates.pop();
      const end = endOfText(source, at + 1, "`", "${");
      if (source.charAt(end) === "$") templates.push(0);
      take("template", end + (source.charAt(end) === "$" ? 2 : 1) - at);
    } else if (first === "/" && startsRegExp(before)) {
      take("regexp", /^\/(?:\[(?:[^\]\\\n]|\\.)*\]|[^/\\[\n]|\\.)+\/\w*/.exec(source.slice(at))?.[0].length ?? 1);
    } else if (/[\p{ID_Start}$_#]/u.test(first)) {
      take("word", /^[\p{ID_Continue}$#]+/u.exec(source.slice(at, at + 256))?.[0].length ?? 1);
    } else if (/\d/.test(first)) {
      take("number", /^[\w.]+/.exec(source.slice(at, at + 256))?.[0].length ?? 1);
    } else {
      const depth = templates.at(-1);
      if (depth !== undefined && (first === "{" || first === "}")) {
        templates[templates.length - 1] = depth + (first === "{" ? 1 : -1);
      }
      take("punctuation", /^(?:!==?|===?|=>|\?\.(?!\d)|\.\.\.)/.exec(rest)?.[0].length ?? 1);
    }
  }
  return tokens;
}

function startsRegExp(before: Token | undefined): boolean {
  if (before === undefined) return true;
  if (before.kind === "word") return BEFORE_REGEXP.has(before.text);
  if (before.kind === "template") return before.text.endsWith("${");
  return before.kind === "punctuation" && !/^[)\]}]$/.test(before.text);
}

/** The index of the first of some ends that no backslash precedes. */
function endOfText(source: string, from: number, ...ends: readonly string[]): number {
  let at = from;
  while (at < source.length && !ends.some((end) => source.startsWith(end, at))) {
    at += source.charAt(at) === "\\" ? 2 : 1;
  }
  return at;
}

function countLines(source: string, from: number, to: number): number {
  let lines = 0;
  for (let at = source.indexOf("\n", from); at !== -1 && at < to; at = source.indexOf("\n", at + 1)) lines++;
  return lines;
}
