import assert from "node:assert/strict";
import { join } from "node:path";
import { median } from "../../bench/cpu.ts";
import { Duck } from "../../harness/duck.ts";
import { TempDir, writeFiles } from "../../harness/temp_dir.ts";
import { runProgram } from "../machine.ts";

/** Young spaces of one megabyte: garbage is collected, and finalised, about as often as can be. */
const V8_FLAGS = "--max-semi-space-size=1";

/** Rows with lists and structs come through a connector's process and Arrow into staging, and go out the same way. */
function project(rows: number): { readonly [path: string]: string } {
  const engine = "threads: 2, staging: always, force_universal: true, duckdb: { threads: 2 }";
  return {
    "project.yml": `name: soak\nversion: "1"\nengine: { ${engine} }\n`,
    "connections.yml": `gen: { connector: generate }\nlake: { connector: localfiles, root: out }\n`,
    "pipelines/nested.sql": `INSERT INTO {{ sink('lake', 'nested', format: 'json', strategy: 'replace') }}\n` +
      `SELECT id, ids, detail FROM {{ source('gen', 'things', rows: ${rows}, nested: true) }}\n`,
  };
}

/**
 * Moves rows in and out of a binary whose young spaces are small, run after run, and counts them in what it wrote.
 *
 * @throws {Error} at the first run that crashes, or loses or changes a row
 */
export async function soakBinary(
  root: string,
  { runs, rows }: { readonly runs: number; readonly rows: number },
  say: (line: string) => void,
): Promise<void> {
  await using temp = await TempDir.create();
  const binary = Deno.env.get("PZ_SOAK_BINARY") ?? await buildBinary(root, temp.join("pz"));
  using duck = await Duck.open();
  const seconds: number[] = [];
  for (let run = 1; run <= runs; run++) {
    const folder = temp.join("project");
    await writeFiles(folder, project(rows));
    const started = performance.now();
    const result = await runProgram([binary, "run", "--all"], folder, { PZ_CACHE_DIR: temp.join("cache") });
    seconds.push((performance.now() - started) / 1000);
    assert.equal(result.code, 0, `run ${run}, signal ${result.signal}: ${result}`);
    const found = await duck.rows(
      `SELECT count(*), sum(id), sum(ids[2]), count(ids), sum(len(ids)), count(detail.name), sum(len(detail.amounts)) ` +
        `FROM read_json('${folder}/out/nested/*', ${COLUMNS})`,
    );
    assert.deepEqual(found, [expectedSums(rows)], `run ${run}`);
    await Deno.remove(folder, { recursive: true });
    if (run % 10 === 0) say(`${run} runs`);
  }
  say(
    `ok    ${runs} runs of ${rows} rows with ${V8_FLAGS}, none crashed, no row lost; ` +
      `a run took ${median(seconds).toFixed(1)} s (median)`,
  );
}

/**
 * Moves rows out of a DuckDB and into it as Arrow batches, in a process after another, on the runtime that runs this.
 *
 * @throws {Error} at the first process that crashes, or loses or changes a row
 */
export async function soakArrow(
  root: string,
  { runs, rows }: { readonly runs: number; readonly rows: number },
  say: (line: string) => void,
): Promise<void> {
  const flags = ["run", "-q", "--no-prompt", "--no-check", "-A", "--config", join(root, "deno.json")];
  const v8Flags = `--v8-flags=--disallow-code-generation-from-strings,${V8_FLAGS}`;
  const args = [...flags, v8Flags, join(import.meta.dirname ?? ".", "soak_arrow.ts"), String(rows)];
  const seconds: number[] = [];
  for (let run = 1; run <= runs; run++) {
    const started = performance.now();
    const { code, signal, stderr } = await new Deno.Command(Deno.execPath(), { args, cwd: root, stdin: "null" })
      .output();
    seconds.push((performance.now() - started) / 1000);
    assert.equal(code, 0, `run ${run}, signal ${signal}: ${new TextDecoder().decode(stderr)}`);
    if (run % 10 === 0) say(`${run} runs`);
  }
  say(
    `ok    ${runs} times ${rows} rows with lists and structs out and in through Arrow on Deno ${Deno.version.deno} with ` +
      `${V8_FLAGS}, none crashed, no row lost; a time took ${median(seconds).toFixed(1)} s (median)`,
  );
}

const COLUMNS = "columns = {id: 'BIGINT', ids: 'BIGINT[]', detail: 'STRUCT(name VARCHAR, amounts DOUBLE[])'}";

/** Of `rows` rows, a multiple of ten: of ten lists one is NULL and one empty, and of ten names one is NULL. */
function expectedSums(rows: number): readonly string[] {
  const n = BigInt(rows);
  const tens = n / 10n;
  const ids = n * (n - 1n) / 2n;
  const listless = 2n * (10n * tens * (tens - 1n) / 2n) + 15n * tens;
  return [n, ids, ids - listless + 8n * tens, 9n * tens, 24n * tens, 9n * tens, 2n * n].map(String);
}

async function buildBinary(root: string, output: string): Promise<string> {
  const script = join(root, "scripts", "build.ts");
  const args = ["run", "-q", "--allow-all", script, "--output", output, `--v8-flags=${V8_FLAGS}`];
  const { success } = await new Deno.Command(Deno.execPath(), { args, cwd: root, stdin: "null" }).spawn().status;
  if (!success) throw new Error("the build failed");
  return output;
}
