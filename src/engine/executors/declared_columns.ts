import type { SourceLoadNode } from "../../compile/mod.ts";
import { type DatasetSpec, duckDbType, selectExact, type TypedColumn } from "../../connectors/mod.ts";
import { qualified } from "../../duckdb/mod.ts";
import { PzError } from "../../errors/mod.ts";
import { StepError } from "../failure.ts";
import type { NodeContext } from "../run_context.ts";
import { columnsOf, run } from "../statements.ts";

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
export async function applyContract(context: NodeContext, node: SourceLoadNode, spec: DatasetSpec): Promise<void> {
  const wanted = declared(node, spec);
  if (wanted.length === 0) return;
  const table = qualified("staging", node.relation);
  const staged = await columnsOf(context, table);
  const isAsDeclared = staged.length === wanted.length &&
    wanted.every(({ name, type }, index) =>
      staged[index]?.name === name && staged[index].type === (DESCRIBED[type] ?? type)
    );
  if (isAsDeclared) return;
  try {
    await run(context, `CREATE OR REPLACE TABLE ${table} AS SELECT * FROM ${selectExact(wanted, table)}`);
  } catch (error) {
    throw new StepError("read", error);
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
