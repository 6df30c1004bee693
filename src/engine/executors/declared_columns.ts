import type { SourceLoadNode } from "../../compile/mod.ts";
import { type DatasetSpec, duckDbType, type QueryRows, selectExact, type TypedColumn } from "../../connectors/mod.ts";
import { qualified } from "../../duckdb/mod.ts";
import { PzError } from "../../errors/mod.ts";
import type { PlannedNode } from "../../plan/mod.ts";
import { StepError } from "../failure.ts";
import { explain } from "../native_trouble.ts";
import type { NodeContext } from "../run_context.ts";
import { columnsOf, run } from "../statements.ts";

/**
 * Makes sure that every column that a connector offers has a name of its own in DuckDB, which does not tell cases apart.
 *
 * @throws {PzError} PZ0501 that names the first two
 */
export function refuseClashes(node: SourceLoadNode, offered: readonly string[]): void {
  const known = new Map<string, string>();
  for (const name of offered) {
    const other = known.get(folded(name));
    known.set(folded(name), name);
    if (other === undefined) continue;
    const what = other === name ? `two columns "${name}"` : `the columns "${other}" and "${name}"`;
    throw new PzError("PZ0501", `Source '${node.connection.name}.${node.entity}' has ${what}, one name to DuckDB`, {
      ...node.position,
      hint: "give one of them another name where they come from, or read a query that does",
    });
  }
}

/**
 * Looks for the columns that a source's contract declares among those that its connector offers.
 *
 * @throws {PzError} PZ0331 that names those that are missing
 */
export function refuseMissing(node: SourceLoadNode, spec: DatasetSpec, offered: readonly string[]): void {
  const known = new Set(offered.map(folded));
  const missing = declared(node, spec).filter(({ name }) => !known.has(folded(name)));
  if (missing.length === 0) return;
  const names = missing.map(({ name }) => `"${name}"`).join(", ");
  throw new PzError(
    "PZ0331",
    `Source '${node.connection.name}.${node.entity}' has no column ${names}, which its contract declares`,
    { ...node.position, hint: `it has ${offered.map((name) => `"${name}"`).join(", ")}` },
  );
}

/**
 * Gives a staged source the columns of its contract: those alone, in its order and types. A value that its type can't
 * hold exactly stops it.
 */
export async function applyContract(
  context: NodeContext,
  node: SourceLoadNode,
  spec: DatasetSpec,
  typing?: PlannedNode["typing"],
): Promise<void> {
  const wanted = declared(node, spec);
  if (wanted.length === 0) return;
  const table = qualified("staging", node.relation);
  const staged = await columnsOf(context, table);
  const isAsDeclared = staged.length === wanted.length &&
    wanted.every(({ name, type }, index) =>
      staged[index]?.name === name && staged[index].type === (DESCRIBED[type] ?? type)
    );
  if (isAsDeclared) return;
  const typed = typing?.contract?.(table) ?? selectExact(wanted, table);
  try {
    await run(context, `CREATE OR REPLACE TABLE ${table} AS SELECT * FROM ${typed}`);
  } catch (error) {
    const { diagnose } = typing ?? {};
    const find = diagnose === undefined ? {} : { diagnose: (query: QueryRows) => diagnose(query, table) };
    const explained = await explain(context, find, error);
    throw explained instanceof StepError ? explained : new StepError("read", explained);
  }
}

/** The columns of the contract that are read. */
function declared({ columns = [] }: SourceLoadNode, { hints }: DatasetSpec): readonly TypedColumn[] {
  const read = hints?.columns === undefined ? undefined : new Set(hints.columns.map(folded));
  return columns
    .filter(({ name }) => read?.has(folded(name)) !== false)
    .map(({ name, type, lossy }) => ({ name, type: duckDbType(type) ?? type, lossy: lossy === "allow" }));
}

/** Types that DESCRIBE writes out. */
const DESCRIBED: { readonly [type: string]: string } = { TIMESTAMPTZ: "TIMESTAMP WITH TIME ZONE" };

function folded(name: string): string {
  return name.toLowerCase();
}
