import type { DuckDbError } from "../duckdb/mod.ts";
import { nearMiss } from "../util/mod.ts";
import type { CompiledDag } from "./dag.ts";
import { reservedWordHint } from "./reserved_words.ts";
import { COMMENTS } from "./sink_prefix.ts";

/** What a pipeline is, for texts that are something else. */
export const ONE_SELECT = "a pipeline is exactly one SELECT";

/** First words of statements other than a query, with what a pipeline has in their place. */
const STATEMENTS: ReadonlyMap<string, string> = new Map([
  ["create", "its result is kept as a table without CREATE"],
  ["insert", "`INSERT INTO {{ sink('connection', 'entity') }} SELECT …` loads it"],
  ["merge", "`INSERT INTO {{ sink('connection', 'entity', strategy: 'merge', keys: ['id']) }} SELECT …` merges it"],
  ...["update", "delete", "drop", "alter", "truncate", "copy", "set", "use", "attach", "install", "load", "pragma"].map(
    (word) => [word, ""] as const,
  ),
]);

/** Signatures of a function that fit into a hint. */
const MAX_SIGNATURES = 4;
const MAX_NAMES = 5;

/**
 * The next step after DuckDB's refusal of a SQL text; undefined where nothing more can be said.
 *
 * @param offset the place in the SQL that is to blame
 * @param hintForTable what to write in place of a relation that does not exist
 */
export function hintFor(
  error: DuckDbError,
  sql: string,
  offset: number,
  hintForTable: (name: string) => string,
): string | undefined {
  const { kind, message } = error;
  const rest = sql.slice(offset);
  if (kind === "Parser" || kind === "Syntax" || message.startsWith("syntax error")) {
    return statementHint(rest) ?? reservedWordHint(sql, offset);
  }
  const table = /^Table with name "?(.+?)"? does not exist/.exec(message)?.[1];
  if (table !== undefined) return hintForTable(table);
  const call = /^(?:Table|Scalar) Function with name "?(ref|source|sink|var|env|env_var)"? does not exist/i.exec(
    message,
  )?.[1];
  if (call !== undefined) return callHint(call.toLowerCase(), rest);
  if (message.startsWith("No function matches")) return signatureHint(message);
  const [, word = ""] = NAMED_REGEXP.exec(message) ?? /"([^"]+)"/.exec(message) ?? [];
  return nameHint(word, namesIn(error), kind);
}

/** What to write where a call lacks its braces. */
function callHint(name: string, rest: string): string {
  const [written = `${name}(…)`] = /^\w+\([^(){}\n]{0,80}\)/.exec(rest) ?? [];
  return name === "sink" ? `${ONE_SELECT}; ${STATEMENTS.get("insert")}` : `write {{ ${written} }}`;
}

/** What DuckDB's messages call the name that they are about, where they hold several or quote none. */
const NAMED_REGEXP = /(?:column named|with name|column) "?([^"\s]+)"?/;

function statementHint(rest: string): string | undefined {
  if (/^\{?#/.test(rest)) return `a comment is no {# … #}: ${COMMENTS}`;
  const hint = STATEMENTS.get(/^[A-Za-z]+/.exec(rest)?.[0].toLowerCase() ?? "");
  if (hint === undefined) return undefined;
  return hint === "" ? ONE_SELECT : `${ONE_SELECT}; ${hint}`;
}

function signatureHint(message: string): string {
  const [, list = ""] = message.split("Candidate functions:");
  const signatures = list.split("\n").map((line) => line.trim()).filter((line) => line !== "");
  return signatures.length === 0 || signatures.length > MAX_SIGNATURES
    ? "cast the values to types that go together, such as x::BIGINT"
    : `there is ${signatures.join(", ")}`;
}

/** The names that DuckDB holds for what was meant, best first; some of its messages have them as text only. */
function namesIn({ candidates, message }: DuckDbError): readonly string[] {
  if (candidates.length > 0) return candidates;
  const list = /^Candidate (?:bindings|tables): (.*)$/m.exec(message)?.[1] ?? "";
  return [...list.matchAll(/"([^"]+)"/g)].map(([, name = ""]) => name);
}

function nameHint(word: string, names: readonly string[], kind: string): string | undefined {
  const bare = new Map(names.map((name) => [name.split(".").at(-1) ?? name, name]));
  const near = nearMiss(word, bare.keys());
  if (near !== undefined) return `did you mean '${bare.get(near) ?? near}'?`;
  // What DuckDB takes for similar names of functions and types seldom helps; the columns in reach always do.
  if (kind !== "Binder" || names.length === 0) return undefined;
  const nearest = names.slice(0, MAX_NAMES).map((name) => `'${name}'`).join(", ");
  return names.length === 1 ? `the nearest name there is ${nearest}` : `the nearest names there are ${nearest}`;
}

/** What to write in the pipeline `own` in place of a relation that does not exist. */
export function tableHint(name: string, own: string, { nodes, project }: CompiledDag): string {
  const wanted = name.toLowerCase();
  const pipelines = project.pipelines.map((pipeline) => pipeline.name).filter((other) => other !== own);
  const pipeline = pipelines.find((known) => known.toLowerCase() === wanted);
  if (pipeline !== undefined) return `write {{ ref('${pipeline}') }}`;
  for (const { name: connection, entities } of Object.values(project.connections)) {
    const rest = wanted.startsWith(`${connection.toLowerCase()}.`) ? name.slice(connection.length + 1) : undefined;
    const entity = rest ?? Object.keys(entities).find((known) => known.toLowerCase() === wanted);
    if (entity !== undefined) return `write {{ source('${connection}', '${entity}') }}`;
  }
  for (const node of nodes) {
    if (node.kind === "SourceLoad" && [node.entity, node.relation].some((known) => known.toLowerCase() === wanted)) {
      return `write {{ source('${node.connection.name}', '${node.entity}') }}`;
    }
  }
  const near = nearMiss(name, pipelines);
  return near !== undefined
    ? `did you mean {{ ref('${near}') }}?`
    : "a pipeline reads data by {{ source('connection', 'entity') }} and other pipelines by {{ ref('name') }}";
}
