import assert from "node:assert/strict";
import { BINARY } from "../harness/cli.ts";
import { Duck } from "../harness/duck.ts";
import { listFiles, TempDir, writeFiles } from "../harness/temp_dir.ts";
import { costLine, type Costs, leastCpu, measurePz, numberAfter, removeFolder, reportGates, say } from "./gates.ts";
import { chainProject, type GraphProject, layeredProject, starProject } from "./w6_project.ts";

const SMALL = layeredProject(10, 10);
const MEDIUM = layeredProject(50, 20);

/**
 * W6: what a graph of tiny pipelines over one CSV file costs to compile, list and run: 1,000 in 50 layers of 20, a
 * chain of 100, a star of 1,000.
 *
 *     deno task bench w6 [--rounds 3]
 */
export async function bench(args: readonly string[]): Promise<void> {
  const rounds = numberAfter(args, "--rounds", 3);
  say(`W6, pz from ${BINARY === undefined ? "source" : "the binary"}`);
  const small = await costsOf("110 nodes in layers", SMALL, 1);
  const layers = await costsOf(`${MEDIUM.nodes} nodes in layers`, MEDIUM, rounds);
  const chain = await costsOf("chain of 100", chainProject(100), rounds);
  const star = await costsOf("star of 1,000", starProject(1000), 1);
  reportGates([
    { what: "compile 1,000 nodes", value: leastCpu(layers.compile), unit: " CPU s", limit: 2.5 },
    { what: "run 1,000 nodes", value: leastCpu(layers.run), unit: " CPU s", limit: 6 },
    { what: "run a chain of 100", value: leastCpu(chain.run), unit: " CPU s", limit: 1.2 },
    { what: "compile a star of 1,000", value: leastCpu(star.compile), unit: " CPU s" },
    { what: "run a star of 1,000", value: leastCpu(star.run), unit: " CPU s" },
    {
      what: "artifact bytes for a node, of 1,000 against 100",
      value: layers.artifactBytes / MEDIUM.nodes / (small.artifactBytes / SMALL.nodes),
      unit: "x",
      limit: 1.1,
    },
    { what: "staging for a node", value: layers.stagingBytes / MEDIUM.nodes / 1024, unit: " KiB", limit: 96 },
  ]);
}

type GraphCosts = {
  readonly compile: Costs;
  readonly run: Costs;
  readonly artifactBytes: number;
  readonly stagingBytes: number;
};

async function costsOf(title: string, project: GraphProject, rounds: number): Promise<GraphCosts> {
  await using folder = await TempDir.create();
  const cwd = folder.path;
  await writeFiles(cwd, project.files);
  const clean = async () => {
    await removeFolder(folder.join(".pz"));
    await removeFolder(folder.join("out"));
  };
  const compile = await measurePz(["compile"], { cwd, rounds, before: clean });
  const again = await measurePz(["compile"], { cwd, rounds });
  const ls = await measurePz(["ls"], { cwd, rounds });
  const run = await measurePz(["run", "--log-format", "json"], { cwd, rounds, before: clean });
  await assertResult(folder.join("out"), project);
  const artifactBytes = await bytesOf(folder.join(".pz"), (file) => !file.includes("staging.duckdb"));
  const stagingBytes = await bytesOf(folder.join(".pz"), (file) => file.endsWith("staging.duckdb"));
  for (const [verb, costs] of Object.entries({ compile, "compile again": again, ls, run })) {
    say(costLine(`${title}, ${verb}`, costs));
  }
  say(`      ${title}: ${artifactBytes} bytes of artifacts of a run, ${stagingBytes} of staging`);
  return { compile, run, artifactBytes, stagingBytes };
}

/** A run whose output is not the right rows is void, not slow. */
async function assertResult(out: string, { sum }: GraphProject): Promise<void> {
  using duck = await Duck.open();
  const rows = await duck.rows(`SELECT count(*), sum(value) FROM '${out}/result/result.parquet'`);
  assert.deepEqual(rows, [["10", String(sum)]]);
}

async function bytesOf(folder: string, counts: (file: string) => boolean): Promise<number> {
  let bytes = 0;
  for (const file of await listFiles(folder)) if (counts(file)) bytes += (await Deno.stat(`${folder}/${file}`)).size;
  return bytes;
}
