import { type ErrorCode as YamlErrorCode, LineCounter, parseAllDocuments, type YAMLError } from "yaml";
import type { SourcePosition } from "./model.ts";
import { type Problems, report } from "./problems.ts";
import { buildTree } from "./yaml_build.ts";
import type { YamlMap } from "./yaml_node.ts";

const TOO_DEEP = "The YAML is nested too deeply to be read";

/**
 * Parses one YAML file to a tree with positions. Its root is a map; an empty file is an empty map. Undefined where the
 * file can't be used at all, in which case it reported why.
 */
export function parseYaml(text: string, file: string, problems: Problems): YamlMap | undefined {
  try {
    return parseRoot(text, file, problems);
  } catch (error) {
    // The parser recurses, so that absurd nesting ends its stack.
    if (!(error instanceof RangeError)) throw error;
    report(problems, "PZ0101", TOO_DEEP, { file });
    return undefined;
  }
}

function parseRoot(text: string, file: string, problems: Problems): YamlMap | undefined {
  const lineCounter = new LineCounter();
  const documents = [...parseAllDocuments(text, {
    schema: "failsafe",
    merge: false,
    uniqueKeys: false,
    resolveKnownTags: false,
    prettyErrors: false,
    logLevel: "silent",
    lineCounter,
  })];
  const positionAt = (offset: number): SourcePosition => {
    const { line, col } = lineCounter.linePos(offset);
    return { file, line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const [document, second] = documents;
  if (document === undefined) return { kind: "map", entries: [], position: { file, line: 1, column: 1 } };
  if (reportSyntax(document.errors, text, positionAt, problems)) return undefined;
  if (second !== undefined) {
    const place = positionAt(startOfDocument(text, document.range[2], second.range[0]));
    report(problems, "PZ0101", "A second YAML document starts here", place, "Keep one document per file.");
    return undefined;
  }

  const root = buildTree(document.contents, text, positionAt, problems);
  if (root.kind === "map") return root;
  if (root.kind === "empty" || (root.kind === "scalar" && !root.quoted && /^(?:~|null)$/.test(root.text))) {
    return { kind: "map", entries: [], position: root.position };
  }
  const found = root.kind === "list" ? "a list" : "a text";
  report(
    problems,
    "PZ0101",
    `The file must hold a map of keys, not ${found}`,
    root.position,
    "Write 'key: value' lines.",
  );
  return undefined;
}

/** The offset of the `---` between two documents, or of the second one's content where there is none. */
function startOfDocument(text: string, from: number, content: number): number {
  const at = text.indexOf("---", from);
  return at >= 0 && at <= content ? at : content;
}

/** Reports syntax errors, the first of each line, since the later ones mostly follow from it. */
function reportSyntax(
  errors: readonly YAMLError[],
  text: string,
  positionAt: (offset: number) => SourcePosition,
  problems: Problems,
): boolean {
  const lines = new Set<number>();
  for (const error of errors) {
    const place = positionAt(error.pos[0]);
    if (lines.has(place.line)) continue;
    lines.add(place.line);
    const [message, hint] = SYNTAX_TEXTS[error.code] ?? ["This is not valid YAML"];
    const unquoted = error.code === "UNEXPECTED_TOKEN" && text.slice(error.pos[0] - 1, error.pos[0] + 1) === "${";
    const better = unquoted ? 'Inside { } and [ ] put the reference in quotes: "${NAME}".' : hint;
    report(problems, "PZ0101", message, place, better);
    // All that follows comes from the brace that this one seemed to open.
    if (unquoted) break;
  }
  return errors.length > 0;
}

/** Our own words for syntax errors, since the parser's may quote the file, and the file may hold secrets. */
const SYNTAX_TEXTS: { readonly [K in YamlErrorCode]?: readonly [message: string, hint?: string] } = {
  ALIAS_PROPS: ["An alias can't have an anchor or a tag"],
  BAD_ALIAS: ["This is not a valid alias", "Put a text that starts with * or & in quotes."],
  BAD_DQ_ESCAPE: ["Unknown escape sequence in a double-quoted text", "Use single quotes, or \\\\ for a backslash."],
  BAD_INDENT: ["Wrong indentation, or a [ or { that is not closed"],
  BAD_SCALAR_START: ["A text can't start with this character", "Put the text in quotes."],
  BLOCK_AS_IMPLICIT_KEY: [
    "A second 'key: value' on one line, or a wrong indentation",
    "Put a text that holds ': ' in quotes, or start the next key on its own line.",
  ],
  BLOCK_IN_FLOW: ["An indented block can't stand inside { } or [ ]"],
  KEY_OVER_1024_CHARS: ["A key is longer than 1,024 characters"],
  MISSING_CHAR: ["A quote, bracket, comma or colon is missing"],
  MULTILINE_IMPLICIT_KEY: ["A key must stand on one line", "Check the colon and the indentation of the line before."],
  MULTIPLE_ANCHORS: ["A value can have one anchor only"],
  MULTIPLE_TAGS: ["A value can have one tag only"],
  RESOURCE_EXHAUSTION: [TOO_DEEP],
  TAB_AS_INDENT: ["A tab can't indent YAML", "Use spaces."],
  UNEXPECTED_TOKEN: [
    "This doesn't belong here",
    "Check the indentation and the quotes of this line and the one before.",
  ],
};
