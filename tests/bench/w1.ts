import assert from "node:assert/strict";
import { join } from "node:path";
import { BINARY, pzCommand } from "../harness/cli.ts";
import { Duck } from "../harness/duck.ts";
import { TempDir, writeFiles } from "../harness/temp_dir.ts";
import { measure, median, type Sample } from "./cpu.ts";
import { measureRaw, numberAfter, removeFolder, reportGates, say } from "./gates.ts";
import { type Format, generateSql, pzProject, rawSql, readBack, type Staging, type Workload } from "./workload.ts";

/** The most CPU seconds, as a multiple of those of one statement of DuckDB in the same host. */
const LIMITS: { readonly [S in Staging]: number } = { auto: 1.4, always: 2.8 };
const FORMATS: readonly Format[] = ["parquet", "csv"];
const STAGINGS: readonly Staging[] = ["auto", "always"];

type Variant = { readonly name: string; readonly samples: Sample[]; run(): Promise<Sample> };

/**
 * W1: a flat CSV of a million rows to Parquet and to CSV, fused and staged, against one statement of DuckDB in the same
 * host with declared columns. CPU seconds of the whole process trees, start-up included; rounds interleaved.
 *
 *     deno task bench w1 [--rows 1000000] [--rounds 5]
 *     PZ_TEST_BINARY=dist/pz deno task bench w1
 */
export async function bench(args: readonly string[]): Promise<void> {
  const rows = numberAfter(args, "--rows", 1_000_000);
  const rounds = numberAfter(args, "--rounds", 5);
  await using folder = await TempDir.create();
  const workload: Workload = { rows, csv: folder.join("rows.csv") };
  await generate(workload);
  const groups = [];
  for (const format of FORMATS) groups.push(await variantsOf(workload, format, folder));
  say(`W1, ${rows} rows, pz from ${BINARY === undefined ? "source" : "the binary"}`);
  for (let round = 0; round <= rounds; round++) {
    for (const variant of groups.flatMap(({ raw, pz }) => [raw, ...pz.values()])) {
      const sample = await variant.run();
      // The first round only warms up.
      if (round > 0) variant.samples.push(sample);
    }
  }
  for (const { format, raw, pz } of groups) {
    for (const variant of [raw, ...pz.values()]) say(costLine(variant));
    reportGates(STAGINGS.flatMap((staging) => {
      const variant = pz.get(staging);
      if (variant === undefined) return [];
      const value = medianCpu(variant) / medianCpu(raw);
      return [{
        what: `CSV to ${format}, ${nameOf(staging)}, CPU against raw`,
        value,
        unit: "x",
        limit: LIMITS[staging],
      }];
    }));
  }
}

async function variantsOf(workload: Workload, format: Format, folder: TempDir): Promise<{
  readonly format: Format;
  readonly raw: Variant;
  readonly pz: ReadonlyMap<Staging, Variant>;
}> {
  const target = folder.join(`raw.${format}`);
  const raw: Variant = {
    name: `raw to ${format}`,
    samples: [],
    run: () => measureRaw(rawSql(workload, target, format), folder.path),
  };
  const pz = new Map<Staging, Variant>();
  for (const staging of STAGINGS) {
    const name = `${staging}_${format}`;
    const project = folder.join(name);
    const written = join(project, "out", "rows", `rows.${format}`);
    await writeFiles(project, pzProject(folder.path, { staging, format }));
    pz.set(staging, {
      name: `pz ${nameOf(staging)} to ${format}`,
      samples: [],
      run: async () => {
        await removeFolder(join(project, ".pz"));
        await removeFolder(join(project, "out"));
        const sample = await measure({ ...pzCommand(["run", "--log-format", "json"]), cwd: project });
        await assertSameRows(written, target, format);
        return sample;
      },
    });
  }
  return { format, raw, pz };
}

function nameOf(staging: Staging): string {
  return staging === "auto" ? "fused" : "staged";
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
async function assertSameRows(actual: string, expected: string, format: Format): Promise<void> {
  using duck = await Duck.open();
  const [actualRows, expectedRows] = [readBack(actual, format), readBack(expected, format)];
  assert.deepEqual(await duck.shape(`FROM ${actualRows}`), await duck.shape(`FROM ${expectedRows}`));
  const digest = (relation: string) =>
    `SELECT count(*), sum(id), count(score), count(note), sum(hash(COLUMNS(*))) FROM ${relation}`;
  assert.deepEqual(await duck.rows(digest(actualRows)), await duck.rows(digest(expectedRows)));
}

function medianCpu({ samples }: Variant): number {
  return median(samples.map(({ cpu }) => cpu));
}

function costLine({ name, samples }: Variant): string {
  const all = samples.map(({ cpu }) => cpu);
  const wall = median(samples.map((sample) => sample.wall)).toFixed(2);
  return `      ${name}: CPU median ${median(all).toFixed(2)} s (${Math.min(...all).toFixed(2)} to ` +
    `${Math.max(...all).toFixed(2)}), wall median ${wall} s`;
}
