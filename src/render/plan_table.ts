import type { Plan, PlannedNode } from "../plan/mod.ts";
import { formatGigabytes, tableRow } from "./text.ts";

const WIDTHS = [13, 24, 0];

/** The rows of the plan's table, header first: strategy, node, reason and what was pushed into the source. */
export function planTable(nodes: readonly PlannedNode[]): readonly string[] {
  return [
    tableRow(WIDTHS, ["strategy", "node", "reason"]),
    ...nodes
      .filter((node) => node.kind !== "Check")
      .map((node) => tableRow(WIDTHS, [node.strategy, node.name, `${node.reason}${pushedSuffix(node)}`])),
  ];
}

/**
 * For each output that a source feeds, what on its way is one statement of DuckDB's (an end that a connector's process
 * reads or writes stands in brackets), or why it is staged; of the shown nodes only.
 */
export function planChains({ chains }: Plan, shown: readonly PlannedNode[]): readonly string[] {
  const names = new Map(shown.map(({ id, name }) => [id, name]));
  return chains.flatMap(({ nodes, obstacle, from, to }) => {
    const ends = new Set([from, to]);
    const all = [from, ...nodes, to].flatMap((id) => id ?? []);
    const shownNames = all.flatMap((id) => {
      const name = names.get(id);
      return name === undefined ? [] : ends.has(id) ? `[${name}]` : name;
    });
    const output = shownNames.at(-1);
    if (output === undefined || shownNames.length < all.length) return [];
    return obstacle === undefined ? `fused: ${shownNames.join(" -> ")}` : `staged: ${output}, since ${obstacle}`;
  });
}

/** Under the table: memory, DuckDB's limits and what each connection may touch. */
export function planFacts(plan: Plan): readonly string[] {
  const { memoryBudget: budget, limits } = plan;
  const duckdb = budget.duckdbBytes === null
    ? `unset${budget.duckdbDisclaimer === null ? "" : ` (${budget.duckdbDisclaimer})`}`
    : formatGigabytes(budget.duckdbBytes);
  const lines = [
    `memory budget: ~${formatGigabytes(budget.totalBytes)} (duckdb ${duckdb} + channels ` +
    `${formatGigabytes(budget.channelBytes)} + overhead ${Math.round(budget.fixedOverheadBytes / 1024 ** 2)}MB)`,
    limitsLine(plan),
  ];
  if (limits.tempDirectory !== undefined) lines.push(`duckdb temp directory: ${limits.tempDirectory}`);
  if (budget.duckdbThreadsDisclaimer !== null) lines.push(`note: ${budget.duckdbThreadsDisclaimer}`);
  for (const grant of plan.grants) lines.push(grantLine(grant));
  return lines;
}

/** DuckDB's memory limit and threads. */
export function limitsLine({ limits }: Plan): string {
  return `duckdb limits: memory ${formatGigabytes(limits.memoryLimitBytes)}, threads ${limits.threads}`;
}

/** What a connection may touch: hosts, paths and names of environment variables. */
export function grantLine({ connection, connector, grant, stages, trusted }: Plan["grants"][number]): string {
  const parts = [
    ...list("net", grant.net),
    ...list("read", grant.read),
    ...list("write", grant.write),
    ...list("env", grant.env),
    ...(stages === true ? ["read and write its own folder of each run"] : []),
  ];
  const who = trusted === true ? `${connector}, trusted: a program that only the operating system confines` : connector;
  return `grant: ${connection} (${who}) ${parts.length === 0 ? "nothing" : parts.join("; ")}`;
}

function pushedSuffix({ pushed }: PlannedNode): string {
  if (pushed === undefined) return "";
  const parts: string[] = [];
  if (pushed.columns !== null && pushed.atMost === true) parts.push("columns");
  else if (pushed.columns !== null) parts.push(`${pushed.columns} column${pushed.columns === 1 ? "" : "s"}`);
  if (pushed.predicate) parts.push("filter");
  return parts.length === 0 ? "" : ` [pushed: ${parts.join(" + ")}]`;
}

function list(what: string, values: readonly string[]): string[] {
  return values.length === 0 ? [] : [`${what} ${values.join(", ")}`];
}
