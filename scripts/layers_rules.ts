import { dirname, join } from "node:path/posix";
import { scan, type Token } from "./layers_scan.ts";

/** A broken rule; `line` counts from 1. */
export type Problem = { readonly file: string; readonly line: number; readonly message: string };

/** The rooms that each room may import, through their mod.ts. `errors` and `util` are open to all and know nobody. */
const ROOMS: { readonly [room: string]: readonly string[] } = {
  cli: [
    "render",
    "engine",
    "plan",
    "compile",
    "template",
    "project",
    "connectors",
    "staging",
    "state",
    "events",
    "duckdb",
  ],
  render: ["events"],
  engine: ["plan", "compile", "template", "project", "connectors", "staging", "state", "events", "duckdb"],
  plan: ["compile", "connectors"],
  compile: ["template", "project", "duckdb"],
  template: ["project"],
  project: [],
  connectors: ["duckdb"],
  staging: ["duckdb"],
  state: [],
  events: [],
  duckdb: [],
  errors: [],
  util: [],
};
const OPEN_ROOMS = ["errors", "util"];

/** Rooms whose types, and nothing else, may be imported as well. */
const TYPE_ONLY: { readonly [room: string]: readonly string[] } = { render: ["plan", "compile", "state"] };

/** Files beside mod.ts that other rooms may import: what costs start-up time, and the entry of the connector child. */
const OPEN_FILES = ["src/util/arrow.ts", "src/connectors/child/child.ts"];

/** Where each package is imported, and nowhere else under src/. */
const PACKAGES: { readonly [name: string]: string } = {
  "@cfworker/json-schema": "src/connectors/packages/",
  "@commander-js/extra-typings": "src/cli/",
  "aws4fetch": "src/connectors/builtin/s3/",
  "commander": "src/cli/",
  "@duckdb/node-api": "src/duckdb/",
  "@duckdb/node-bindings": "src/duckdb/",
  "apache-arrow": "src/util/arrow.ts",
  "es-module-lexer": "src/connectors/packages/bundle.ts",
  "liquidjs": "src/template/",
  "mysql2": "src/connectors/builtin/mysql/",
  "pg": "src/connectors/builtin/postgres/",
  "semver": "src/connectors/packages/versions.ts",
  "sucrase": "src/connectors/packages/bundle.ts",
  "tar-stream": "src/connectors/packages/tar.ts",
  "yaml": "src/project/",
};

const EXITS = ["main.ts", "src/connectors/child/child.ts", "src/connectors/child/worker.ts"];
const MAX_LINES = 500;
const SILENCERS = /deno-lint-ignore|@ts-(?:ignore|nocheck|expect-error)/;
const UNFINISHED = /\b(?:TODO|FIXME|XXX|HACK)\b/;
const NOT_AN_OPERAND = new Set(
  "return typeof case in of delete void throw new else do instanceof await yield as is extends".split(" "),
);

/** Members of texts, numbers, dates and the navigator that answer differently in different places. */
const PLACE_MEMBERS =
  /^(?:toLocale\w*|localeCompare|languages?|getTimezoneOffset|to(?:Date|Time)String|[gs]et(?:FullYear|Month|Date|Day|Hours|Minutes))$/;

/** Every rule that a file breaks, by its path from the project's folder with `/` between the parts. */
export function problemsOf(file: string, source: string): Problem[] {
  const tokens = scan(source);
  const code = tokens.filter((token) => token.kind !== "comment");
  const inProduct = file === "main.ts" || file.startsWith("src/");
  return [
    ...nameProblems(file),
    ...sizeProblems(file, source),
    ...commentProblems(file, tokens),
    ...typeProblems(file, code),
    ...(inProduct
      ? [...importProblems(file, code), ...exitProblems(file, code), ...placeProblems(file, code)]
      : testProblems(file, code)),
  ].sort((a, b) => a.line - b.line);
}

function nameProblems(file: string): Problem[] {
  const parts = file.split("/");
  const name = parts.pop() ?? "";
  const bad = [...parts.filter((part) => !/^[a-z0-9_]+$/.test(part)), ...(/^[a-z0-9_.]+$/.test(name) ? [] : [name])];
  return bad.map((part) => ({ file, line: 1, message: `the name '${part}' is not snake_case` }));
}

function sizeProblems(file: string, source: string): Problem[] {
  const lines = source.split("\n").length - (source.endsWith("\n") ? 1 : 0);
  return lines > MAX_LINES ? [{ file, line: MAX_LINES + 1, message: `${lines} lines; at most ${MAX_LINES}` }] : [];
}

function commentProblems(file: string, tokens: readonly Token[]): Problem[] {
  return tokens.filter(({ kind }) => kind === "comment").flatMap(({ text, line }) => [
    ...(SILENCERS.test(text) ? [{ file, line, message: "a comment silences the linter or the type checker" }] : []),
    ...(UNFINISHED.test(text) ? [{ file, line, message: "a comment leaves work for later" }] : []),
  ]);
}

function typeProblems(file: string, code: readonly Token[]): Problem[] {
  return code.flatMap(({ text, kind, line }, index) => {
    const before = code[index - 1];
    const next = code[index + 1];
    if (kind === "word" && text === "any" && !/^\??\.$/.test(before?.text ?? "") && !/^[:(?]$/.test(next?.text ?? "")) {
      return [{ file, line, message: "the type `any`" }];
    }
    if (kind === "punctuation" && text === "!" && before?.line === line && endsOperand(before)) {
      return [{ file, line, message: "the non-null assertion `!`" }];
    }
    return [];
  });
}

function endsOperand({ kind, text }: Token): boolean {
  return kind === "word" ? !NOT_AN_OPERAND.has(text) : kind === "punctuation" && /^[)\]]$/.test(text);
}

function exitProblems(file: string, code: readonly Token[]): Problem[] {
  if (EXITS.includes(file)) return [];
  return code.flatMap(({ text, line }, index) =>
    text === "exit" && code[index - 1]?.text === "." && /^(?:Deno|process)$/.test(code[index - 2]?.text ?? "")
      ? [{ file, line, message: "only main.ts and the connector child's entry may end the process" }]
      : []
  );
}

/** What reads the language or the time zone of the machine, on which nothing in the product may depend. */
function placeProblems(file: string, code: readonly Token[]): Problem[] {
  return code.flatMap(({ kind, text, line }, index) => {
    const isMember = code[index - 1]?.text === ".";
    const isUsed = kind === "word" && (isMember ? PLACE_MEMBERS.test(text) : text === "Intl");
    return isUsed ? [{ file, line, message: `'${text}' depends on the language or the time zone of the machine` }] : [];
  });
}

function testProblems(file: string, code: readonly Token[]): Problem[] {
  return code.flatMap(({ text, line }, index) => {
    const value = code[index + 1]?.text === ":" ? code[index + 2]?.text : undefined;
    if (/^sanitize(?:Ops|Resources|Exit)$/.test(text) && value === "false") {
      return [{ file, line, message: `'${text}: false' turns a leak check off` }];
    }
    if ((text === "ignore" || text === "only") && value === "true") {
      return [{ file, line, message: `'${text}: true' leaves tests out` }];
    }
    const called = code[index - 1]?.text === "." && code[index + 1]?.text === "(";
    if (called && (text === "only" || text === "ignore") && code[index - 2]?.text === "test") {
      return [{ file, line, message: `'test.${text}' leaves tests out` }];
    }
    return [];
  });
}

type Import = { readonly specifier: string; readonly typesOnly: boolean; readonly line: number };

function importProblems(file: string, code: readonly Token[]): Problem[] {
  return importsOf(code).flatMap(({ specifier, typesOnly, line }) => {
    const message = specifier.startsWith(".")
      ? problemOfRoom(file, join(dirname(file), specifier), typesOnly)
      : problemOfPackage(file, specifier);
    return message === undefined ? [] : [{ file, line, message }];
  });
}

function problemOfPackage(file: string, specifier: string): string | undefined {
  if (specifier.startsWith("node:")) return undefined;
  const name = specifier.split("/").slice(0, specifier.startsWith("@") ? 2 : 1).join("/");
  const home = PACKAGES[name];
  if (home === undefined) return `'${specifier}' is no package of the product`;
  return file.startsWith(home) ? undefined : `'${specifier}' is imported in ${home} only`;
}

function problemOfRoom(file: string, target: string, typesOnly: boolean): string | undefined {
  const from = roomOf(file);
  const to = roomOf(target);
  if (to === undefined) return `'${target}' is outside src/`;
  if (from === to) return undefined;
  if (from !== undefined) {
    const allowed = (ROOMS[from] ?? []).includes(to) || (OPEN_ROOMS.includes(to) && !OPEN_ROOMS.includes(from));
    const asType = (TYPE_ONLY[from] ?? []).includes(to);
    if (!allowed && asType && !typesOnly) return `room '${from}' may import only types of room '${to}'`;
    if (!allowed && !asType) return `room '${from}' may not import room '${to}'`;
  } else if (target !== "src/cli/mod.ts" && !OPEN_FILES.includes(target)) {
    return `main.ts may import only src/cli/mod.ts and the connector child's entry`;
  }
  return target === `src/${to}/mod.ts` || OPEN_FILES.includes(target)
    ? undefined
    : `room '${to}' is imported through its mod.ts only, not '${target}'`;
}

function roomOf(file: string): string | undefined {
  return /^src\/([^/]+)\//.exec(file)?.[1];
}

/** Static imports, re-exports and dynamic imports of literal names. */
function importsOf(code: readonly Token[]): Import[] {
  const found: Import[] = [];
  code.forEach(({ kind, text, line }, index) => {
    if (kind !== "word" || code[index - 1]?.text === ".") return;
    const next = code[index + 1];
    if (text === "import" && next?.text === "(") {
      const specifier = code[index + 2];
      if (specifier?.kind === "string") found.push({ specifier: specifier.text, typesOnly: false, line });
    } else if (text === "import" && next?.kind === "string") {
      found.push({ specifier: next.text, typesOnly: false, line });
    } else if (text === "import" || text === "export") {
      const clause = clauseFrom(code, index + 1);
      if (clause !== undefined) found.push({ ...clause, line });
    }
  });
  return found;
}

/** The rest of `import … from "x"` or `export … from "x"`; undefined where it is neither. */
function clauseFrom(code: readonly Token[], start: number): Omit<Import, "line"> | undefined {
  let at = start;
  const names: Token[] = [];
  while (code[at]?.text !== "from" || code[at + 1]?.kind !== "string") {
    const token = code[at];
    if (token === undefined || !(token.kind === "word" || /^[{},*]$/.test(token.text))) return undefined;
    names.push(token);
    at++;
  }
  const texts = names.map(({ text }) => text);
  const listed = texts[0] === "{" ? texts.slice(1, -1).join(" ").split(",").filter((name) => name.trim() !== "") : [];
  const typesOnly = texts[0] === "type" ||
    (listed.length > 0 && listed.every((name) => name.trim().startsWith("type ")));
  return { specifier: code[at + 1]?.text ?? "", typesOnly };
}
