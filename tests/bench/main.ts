/**
 * Measures `pz run` on W1 (CSV to Parquet, staged) against one DuckDB statement in the same host, start-up of both
 * included: CPU seconds of the whole process tree, wall seconds, medians of interleaved rounds after one warm-up.
 *
 *     deno task bench [--rows 1000000] [--rounds 5]
 *     PZ_TEST_BINARY=dist/pz deno task bench
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { BINARY, pzCommand } from "../harness/cli.ts";
import { Duck } from "../harness/duck.ts";
import { TempDir, writeFiles } from "../harness/temp_dir.ts";
import { measure, median, type Sample } from "./cpu.ts";
import { generateSql, pzProject, rawSql, type Workload } from "./workload.ts";

async function main(args: readonly string[]): Promise<void> {
  const rows = numberAfter(args, "--rows", 1_000_000);
  const rounds = numberAfter(args, "--rounds", 5);
  await using folder = await TempDir.create();
  const raw: Workload = { rows, csv: folder.join("rows.csv"), parquet: folder.join("raw.parquet") };
  const written = folder.join("out", "rows", "rows.parquet");
  const project = folder.join("project");
  await writeFiles(project, pzProject(folder.path));
  await generate(raw);

  const samples: { raw: Sample[]; pz: Sample[] } = { raw: [], pz: [] };
  for (let round = 0; round <= rounds; round++) {
    const rawSample = await measureRaw(rawSql(raw), project);
    const pzSample = await measure({ ...pzCommand(["run", "--log-format", "json"]), cwd: project });
    await assertSameRows(written, raw.parquet);
    await Deno.remove(join(project, ".pz"), { recursive: true });
    if (round === 0) continue;
    samples.raw.push(rawSample);
    samples.pz.push(pzSample);
    say(`round ${round}: raw ${show(rawSample)}, pz ${show(pzSample)}`);
  }

  const rawMedian = medianOf(samples.raw);
  const pzMedian = medianOf(samples.pz);
  say(`W1 CSV to Parquet, staged, ${rows} rows, pz from ${BINARY === undefined ? "source" : "the binary"}`);
  say(`median: raw ${show(rawMedian)}, pz ${show(pzMedian)}`);
  say(
    `ratio pz / raw: CPU ${(pzMedian.cpu / rawMedian.cpu).toFixed(2)}, wall ${
      (pzMedian.wall / rawMedian.wall).toFixed(2)
    }`,
  );
}

/** Runs the SQL in a DuckDB that has the same host as pz from its source. */
async function measureRaw(sql: string, cwd: string): Promise<Sample> {
  const flags = ["-q", "--no-check", "--no-prompt", "--allow-read", "--allow-write", "--allow-env", "--allow-ffi"];
  const args = ["run", ...flags, "--allow-sys", join(import.meta.dirname ?? ".", "raw.ts"), sql];
  return await measure({ program: Deno.execPath(), args, cwd, env: Deno.env.toObject() });
}

/** Makes the CSV and checks its row numbers, so that a wrong generator is not measured. */
async function generate(workload: Workload): Promise<void> {
  using duck = await Duck.open();
  await duck.run(generateSql(workload));
  const rows = BigInt(workload.rows);
  const sums = await duck.rows(`SELECT count(*), sum(id) FROM read_csv('${workload.csv}', header = true)`);
  assert.deepEqual(sums, [[`${rows}`, `${rows * (rows - 1n) / 2n}`]]);
}

/** A run whose output is not the same rows is void, not slow. */
async function assertSameRows(actual: string, expected: string): Promise<void> {
  using duck = await Duck.open();
  const shape = await duck.shape(`FROM '${expected}'`);
  assert.deepEqual(await duck.shape(`FROM '${actual}'`), shape);
  const digest = (file: string) =>
    `SELECT count(*), sum(id), count(score), count(note), sum(hash(COLUMNS(*))) FROM '${file}'`;
  assert.deepEqual(await duck.rows(digest(actual)), await duck.rows(digest(expected)));
}

function medianOf(samples: readonly Sample[]): Sample {
  return { cpu: median(samples.map(({ cpu }) => cpu)), wall: median(samples.map(({ wall }) => wall)) };
}

function show({ cpu, wall }: Sample): string {
  return `${cpu.toFixed(2)} CPU s (${wall.toFixed(2)} s)`;
}

function numberAfter(args: readonly string[], option: string, fallback: number): number {
  const index = args.indexOf(option);
  const value = index === -1 ? fallback : Number(args[index + 1]);
  if (!Number.isInteger(value) || value < 1) throw new RangeError(`'${option}' needs a whole number above 0`);
  return value;
}

function say(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}

if (import.meta.main) await main(Deno.args);
