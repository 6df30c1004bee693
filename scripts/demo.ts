import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { literal, openDuckDb } from "../src/duckdb/mod.ts";

const REPOSITORY = fileURLToPath(new URL("../", import.meta.url));
const DEMO = join(REPOSITORY, "demo");

/**
 * Shows pz at work: makes the sample project in ./demo, runs it through the command line in a process of its own, then
 * prints where the results lie and their first rows.
 */
async function demo(): Promise<number> {
  await removeIfThere(DEMO);
  for (
    const args of [["init", "demo", "--template", "sample"], ["plan", "--project", "demo"], [
      "run",
      "--all",
      "--project",
      "demo",
    ]]
  ) {
    say(`\n$ pz ${args.join(" ")}`);
    const code = await pz(args);
    if (code !== 0) return code;
  }
  const out = join(DEMO, "out");
  await showParquet(join(out, "orders_curated", "orders_curated.parquet"));
  await showParquet(join(out, "product_catalog", "product_catalog.parquet"));
  const totals = join(out, "order_totals", "order_totals.csv");
  say(`\n${totals}`);
  say((await Deno.readTextFile(totals)).trimEnd());
  return 0;
}

/** Runs one command line of pz with the permissions that `deno task pz` gives it; returns its exit code. */
async function pz(args: readonly string[]): Promise<number> {
  const config: { tasks: { pz: string } } = JSON.parse(await Deno.readTextFile(join(REPOSITORY, "deno.json")));
  const [, ...deno] = config.tasks.pz.split(" ");
  const child = new Deno.Command(Deno.execPath(), { args: [...deno, ...args], cwd: REPOSITORY }).spawn();
  return (await child.status).code;
}

async function showParquet(file: string): Promise<void> {
  await using database = await openDuckDb({});
  using connection = await database.connect();
  const relation = `read_parquet(${literal(file)})`;
  const columns = await connection.rows(`SELECT column_name FROM (DESCRIBE FROM ${relation})`);
  const rows = await connection.rows(`FROM ${relation} LIMIT 5`);
  say(`\n${file}`);
  printTable([columns.map(([name]) => name ?? ""), ...rows.map((row) => row.map((value) => value ?? "NULL"))]);
}

function printTable(rows: readonly (readonly string[])[]): void {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? "").length)));
  for (const row of rows) say(row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ").trimEnd());
}

async function removeIfThere(path: string): Promise<void> {
  try {
    await Deno.remove(path, { recursive: true });
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

function say(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}

process.exitCode = await demo();
