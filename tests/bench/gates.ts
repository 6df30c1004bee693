import { join } from "node:path";
import { pzCommand } from "../harness/cli.ts";
import { measure, median, type Sample } from "./cpu.ts";

/** What one command costs over some rounds. */
export type Costs = { readonly samples: readonly Sample[] };

/** A number that was measured, and the most that it may be; undefined: it is only told. */
export type Gate = { readonly what: string; readonly value: number; readonly unit: string; readonly limit?: number };

/**
 * Runs pz as often as asked, once more before that does not count, and keeps what each run cost.
 *
 * @param before called before each run, and not measured
 */
export async function measurePz(
  args: readonly string[],
  { cwd, rounds, before = () => Promise.resolve() }: {
    readonly cwd: string;
    readonly rounds: number;
    readonly before?: () => Promise<void>;
  },
): Promise<Costs> {
  const samples: Sample[] = [];
  for (let round = 0; round <= rounds; round++) {
    await before();
    const sample = await measure({ ...pzCommand(args), cwd });
    if (round > 0) samples.push(sample);
  }
  return { samples };
}

/** Runs the SQL in a DuckDB that has the same host as pz from its source. */
export async function measureRaw(sql: string, cwd: string): Promise<Sample> {
  const flags = ["-q", "--no-check", "--no-prompt", "--allow-read", "--allow-write", "--allow-env", "--allow-ffi"];
  const args = ["run", ...flags, "--allow-sys", join(import.meta.dirname ?? ".", "raw.ts"), sql];
  return await measure({ program: Deno.execPath(), args, cwd, env: Deno.env.toObject() });
}

/** The CPU seconds of the cheapest round: what else runs on the machine only ever adds to them. */
export function leastCpu({ samples }: Costs): number {
  return Math.min(...samples.map(({ cpu }) => cpu));
}

/** The wall seconds of the fastest round. */
export function leastWall({ samples }: Costs): number {
  return Math.min(...samples.map(({ wall }) => wall));
}

/** Least and median of both kinds of seconds. */
export function costLine(what: string, costs: Costs): string {
  const medianOf = (seconds: (sample: Sample) => number) => median(costs.samples.map(seconds)).toFixed(2);
  return `      ${what}: CPU ${leastCpu(costs).toFixed(2)} s (median ${medianOf(({ cpu }) => cpu)}), ` +
    `wall ${leastWall(costs).toFixed(2)} s (median ${medianOf(({ wall }) => wall)})`;
}

/** Writes a line for each gate; one that is not kept makes the exit code 1. */
export function reportGates(gates: readonly Gate[]): void {
  for (const { what, value, unit, limit } of gates) {
    const kept = limit === undefined || value <= limit;
    if (!kept) Deno.exitCode = 1;
    const verdict = limit === undefined ? "      " : kept ? "ok    " : "FAIL  ";
    say(`${verdict}${what}: ${value.toFixed(2)}${unit}${limit === undefined ? "" : ` (at most ${limit}${unit})`}`);
  }
}

export function say(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}

/** The whole number behind an option on a command line. */
export function numberAfter(args: readonly string[], option: string, fallback: number): number {
  const index = args.indexOf(option);
  const value = index === -1 ? fallback : Number(args[index + 1]);
  if (!Number.isInteger(value) || value < 1) throw new RangeError(`'${option}' needs a whole number above 0`);
  return value;
}

/** Removes a folder, if it is there. */
export async function removeFolder(path: string): Promise<void> {
  try {
    await Deno.remove(path, { recursive: true });
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}
