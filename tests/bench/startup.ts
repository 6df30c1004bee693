import { BINARY, pzCommand } from "../harness/cli.ts";
import { TempDir, writeFiles } from "../harness/temp_dir.ts";
import { measure, type Measured, median, type Sample } from "./cpu.ts";
import { numberAfter, removeFolder, say } from "./gates.ts";
import { layeredProject } from "./w6_project.ts";

/** Megabytes of the binary at most. */
const MAX_MEGABYTES = 120;

/** What is started: seconds that it may take from start to exit, and the most that it is hoped to take. */
type Start = Measured & {
  readonly what: string;
  readonly budget?: number;
  readonly goal?: number;
  /** Called before each round, and not measured. */
  readonly before?: () => Promise<void>;
};

const THREE_ROWS = {
  "project.yml": `name: three\nversion: "1"\n`,
  "connections.yml": `in:\n  connector: localfiles\n  root: data\n  entities:\n` +
    `    rows: { read: { format: csv, columns: { id: bigint, name: varchar } } }\n` +
    `out: { connector: localfiles, root: out }\n`,
  "data/rows.csv": "id,name\n1,a\n2,b\n3,c\n",
  "pipelines/copy_rows.sql": `INSERT INTO {{ sink('out', 'rows', format: 'csv', strategy: 'replace') }}\n` +
    `SELECT * FROM {{ source('in', 'rows') }}\n`,
};

/**
 * W8: from start to exit of what should be there at once: `--version`, `ls` on ten nodes, a run of three rows, and for
 * the binary its first start, which unpacks DuckDB's library, and its size; beside the runtimes alone. Rounds are
 * interleaved, and each number is a median. A budget counts as kept by the seconds on the clock or, since other work on
 * the machine only adds to those, by the CPU seconds of the cheapest round; one that is not kept makes the exit code 1.
 *
 *     PZ_TEST_BINARY=dist/pz deno task bench:startup [--rounds 11]
 */
export async function bench(args: readonly string[]): Promise<void> {
  const rounds = numberAfter(args, "--rounds", 11);
  say(`W8, pz from ${BINARY === undefined ? "source" : "the binary"}, medians of ${rounds}`);
  await using ten = await TempDir.create();
  await writeFiles(ten.path, layeredProject(7, 1).files);
  await using three = await TempDir.create();
  await writeFiles(three.join("project"), THREE_ROWS);
  await Deno.writeTextFile(three.join("empty.js"), "");
  const starts = [...pzStarts(ten, three), ...runtimeStarts(three)];
  const samples = new Map<Start, Sample[]>(starts.map((start) => [start, []]));
  for (let round = 0; round <= rounds; round++) {
    for (const [start, kept] of samples) {
      await start.before?.();
      const sample = await measure(start);
      // The first round only warms up.
      if (round > 0) kept.push(sample);
    }
  }
  for (const [start, kept] of samples) reportStart(start, kept);
  if (BINARY !== undefined) {
    const megabytes = (await Deno.stat(BINARY)).size / 1e6;
    report(megabytes <= MAX_MEGABYTES, `size ${megabytes.toFixed(1)} MB (at most ${MAX_MEGABYTES})`);
  }
}

function pzStarts(ten: TempDir, three: TempDir): Start[] {
  const isBinary = BINARY !== undefined;
  const start = (args: readonly string[], cwd: string, cache: string) => ({
    ...pzCommand(args, { env: { PZ_CACHE_DIR: three.join(cache), HOME: three.path } }),
    cwd,
  });
  const project = three.join("project");
  const clean = () => removeFolder(three.join("project", ".pz"));
  const first = async () => {
    await clean();
    await removeFolder(three.join("new"));
  };
  return [
    {
      what: "--version",
      ...start(["--version"], ten.path, "cache"),
      ...(isBinary ? { budget: 0.08, goal: 0.05 } : {}),
    },
    { what: "ls, 10 nodes", ...start(["ls"], ten.path, "cache"), ...(isBinary ? { budget: 0.15, goal: 0.1 } : {}) },
    {
      what: "run, three rows",
      ...start(["run"], project, "cache"),
      before: clean,
      ...(isBinary ? { budget: 0.4, goal: 0.28 } : { budget: 0.5 }),
    },
    ...(isBinary
      ? [{ what: "first run, empty cache", ...start(["run"], project, "new"), before: first, budget: 1 }]
      : []),
  ];
}

/** Empty programs of the runtimes, as far as they are there: what no program on them can be faster than. */
function runtimeStarts(folder: TempDir): Start[] {
  const env = Deno.env.toObject();
  const empty = ["run", "-q", "--no-config", "--no-lock", folder.join("empty.js")];
  const programs: Start[] = [
    { what: "deno run of an empty script", program: Deno.execPath(), args: empty, cwd: folder.path, env },
    { what: "node -e 0", program: "node", args: ["-e", "0"], cwd: folder.path, env },
  ];
  return programs.filter(({ program }) => {
    try {
      return new Deno.Command(program, { args: ["--version"], stdout: "null", stderr: "null" }).outputSync().success;
    } catch {
      return false;
    }
  });
}

function reportStart({ what, budget, goal }: Start, samples: readonly Sample[]): void {
  const wall = median(samples.map((sample) => sample.wall));
  const cpu = median(samples.map((sample) => sample.cpu));
  const least = Math.min(...samples.map((sample) => sample.cpu));
  const ms = (seconds: number) => `${Math.round(seconds * 1000)} ms`;
  const numbers = `${what}: ${ms(wall)}, CPU ${ms(cpu)} (least ${ms(least)})`;
  if (budget === undefined) say(`      ${numbers}`);
  else {
    const reached = goal === undefined ? "" : `, goal ${ms(goal)} ${wall <= goal ? "reached" : "not reached"}`;
    report(wall <= budget || least <= budget, `${numbers}, budget ${ms(budget)}${reached}`);
  }
}

function report(kept: boolean, line: string): void {
  if (!kept) Deno.exitCode = 1;
  say(`${kept ? "ok    " : "over  "}${line}`);
}
