import { startPostgres, type TestPostgres } from "../../harness/postgres.ts";
import { Duck } from "../../harness/duck.ts";
import { TempDir, writeFiles } from "../../harness/temp_dir.ts";
import { runWithFault } from "../fault_run.ts";
import { project, summed } from "./target.ts";

const PARTITIONS = 10;
const ROWS = 400_000;
/** One retry in so many is killed too. */
const KILLED_AGAIN_EVERY = 3;
const MAX_STEPS = 30;

/**
 * Kills runs that load ten partitions from PostgreSQL into two outputs at random instants, and some of the retries as well,
 * until each is done; then both outputs must be what an undisturbed run leaves. Returns the exit code.
 */
export async function randomKills(count: number, seed: number, say: (text: string) => void): Promise<number> {
  say(`seed ${seed}`);
  const random = randomOf(seed);
  const server = await startPostgres();
  try {
    await server.sql(
      `CREATE TABLE orders AS SELECT i::bigint AS id, (i::bigint * 7919) % 1000003 AS amount FROM generate_series(1, ${ROWS}) i;` +
        "ALTER TABLE orders ADD PRIMARY KEY (id); ANALYZE orders",
    );
    const start = performance.now();
    const whole = await attempt(server, () => undefined);
    const span = performance.now() - start;
    say(`undisturbed: ${Math.round(span)} ms, ${whole.content}`);
    let wrong = 0, steps = 0;
    for (let round = 1; round <= count; round++) {
      const again = (step: number) => step === 0 || Math.floor(random() * KILLED_AGAIN_EVERY) === 0;
      const { content, steps: taken } = await attempt(server, (step) => again(step) ? random() * span : undefined);
      steps += taken;
      if (content !== whole.content) {
        wrong++;
        say(`round ${round} WRONG: ${content} instead of ${whole.content}`);
      }
      if (round % 10 === 0) say(`${round} rounds, ${steps} runs and retries, ${wrong} wrong`);
    }
    say(`${count} rounds, ${steps} runs and retries, ${wrong} wrong`);
    return wrong === 0 ? 0 : 1;
  } finally {
    await server[Symbol.asyncDispose]();
  }
}

/** Runs and retries until it is done; each step is killed after so many milliseconds, or not. */
async function attempt(
  server: TestPostgres,
  killAfter: (step: number) => number | undefined,
): Promise<{ readonly content: string; readonly steps: number }> {
  await using folder = await TempDir.create();
  const cwd = folder.path;
  await writeFiles(
    cwd,
    project({
      connections: `pg:\n  connector: postgres\n  host: ${server.host}\n  port: ${server.port}\n` +
        `  database: ${server.database}\n  user: ${server.user}\n  password: \${PG_SECRET}\n` +
        "out:\n  connector: duckdb\n  path: out.duckdb\n",
      source: `{{ source('pg', 'orders', partition_column: 'id', partitions: ${PARTITIONS}) }}`,
      sink: "sink('out', 't', strategy: 'append')",
    }),
  );
  let verb = ["run", "--all"];
  for (let step = 0; step < MAX_STEPS; step++) {
    const after = killAfter(step);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const result = await runWithFault(verb, {
      cwd,
      env: { PG_SECRET: server.password },
      onStart: (child) => {
        if (after !== undefined) timer = setTimeout(() => killed(child), after);
      },
    });
    clearTimeout(timer);
    if (result.code === 0) {
      const content = await contentOf(cwd);
      return { content, steps: step + 1 };
    }
    if (result.signal === null && !result.stderr.includes("PZ0502")) {
      return { content: String(result), steps: step + 1 };
    }
    // A run that was killed before it had a folder is none.
    verb = result.stderr.includes("PZ0502") ? ["run", "--all"] : ["retry"];
  }
  return { content: `not done after ${MAX_STEPS} steps`, steps: MAX_STEPS };
}

function killed(child: Deno.ChildProcess): void {
  try {
    child.kill("SIGKILL");
  } catch { /* it had ended before */ }
}

async function contentOf(folder: string): Promise<string> {
  using duck = await Duck.open();
  await duck.run(`ATTACH '${folder}/out.duckdb' AS made`);
  const table = await summed(duck, "made.t");
  const file = await summed(duck, `read_parquet('${folder}/lake/q/q.parquet')`);
  const left = [...Deno.readDirSync(`${folder}/lake/q`)].map(({ name }) => name).join(" ");
  return `${table}; ${file}; ${left}`;
}

/** Numbers in [0, 1) that a seed decides (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
