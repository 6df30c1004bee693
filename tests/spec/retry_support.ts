import { join } from "node:path";
import type { PzResult } from "../harness/cli.ts";
import { Duck } from "../harness/duck.ts";
import { runIds } from "../harness/run_files.ts";
import type { Files } from "../harness/temp_dir.ts";

/** A source of two pipelines: one appends to a table, the other writes a file in whose place another may stand. */
export const TWO_SINKS: Files = {
  "project.yml": `name: again\nversion: "1"\nengine: { threads: 1 }\n`,
  "connections.yml": "raw:\n  connector: localfiles\n  root: raw\nlake:\n  connector: localfiles\n  root: out\n" +
    "base:\n  connector: duckdb\n  path: base.duckdb\n",
  "raw/orders.csv": "id,amount\n1,10\n2,20\n3,30\n",
  "pipelines/good.sql": sinkSql("base", "good", "append"),
  "pipelines/bad.sql": sinkSql("lake", "bad", "replace", ", format: 'csv'"),
};

/** The SQL of a pipeline that passes the orders on. */
export function sinkSql(
  connection: string,
  entity: string,
  strategy: string,
  more = "",
  columns = "id, amount",
): string {
  return `INSERT INTO {{ sink('${connection}', '${entity}', strategy: '${strategy}'${more}) }}\n` +
    `SELECT ${columns} FROM {{ source('raw', 'orders', format: 'csv') }}\n`;
}

/** Name, status and provenance of each completed node, by name. */
export function ends({ events }: PzResult): { [name: string]: string } {
  return Object.fromEntries(
    events.filter(({ event }) => event === "node_completed").map(({ name, status, provenance }) =>
      [String(name), provenance === undefined ? String(status) : `${status} ${provenance}`] as const
    ).sort(([a], [b]) => a < b ? -1 : 1),
  );
}

/** The rows of a query over the table `base.good` of the project's database, attached as `made`. */
export async function tableRows(folder: string, sql: string): Promise<(string | null)[][]> {
  using duck = await Duck.open();
  await duck.run(`ATTACH '${join(folder, "base.duckdb")}' AS made (READ_ONLY)`);
  return await duck.rows(sql);
}

/** A file of a run, by how many runs are older. */
export function runFile(folder: string, index: number, name: string): string {
  return join(folder, ".pz", "runs", runIds(folder)[index] ?? "", name);
}

/** Puts a file in the place of the folder that outputs of connection `lake` need. */
export function blockLake(folder: string): void {
  Deno.writeTextFileSync(join(folder, "out"), "in the way");
}

/** Takes that file away. */
export function unblockLake(folder: string): void {
  Deno.removeSync(join(folder, "out"));
}

/** Takes what a run recorded of a node out of its files, as if it had been killed right before. */
export function forget(folder: string, name: string, index = 0): void {
  const isOther = (node: { readonly name?: string; readonly status?: string }) =>
    node.name !== name || node.status === undefined;
  const journal = runFile(folder, index, "journal.ndjson");
  const lines = Deno.readTextFileSync(journal).trim().split("\n").filter((line) => isOther(JSON.parse(line)));
  Deno.writeTextFileSync(journal, `${lines.join("\n")}\n`);
  const results = runFile(folder, index, "run_results.json");
  const receipt = JSON.parse(Deno.readTextFileSync(results));
  Deno.writeTextFileSync(
    results,
    JSON.stringify({ ...receipt, status: "running", finishedAt: undefined, nodes: receipt.nodes.filter(isOther) }),
  );
}
