/**
 * The crash matrix: every point of every kind of output, with every thing that can happen there, and a retry after it. The
 * target then has to be what an undisturbed run leaves. Prints a table; the exit code is 1 when a cell is wrong.
 *
 *     deno task crash                       all
 *     deno task crash "duckdb append" kill  only the targets and actions that are named, and points such as run_begun
 *     deno task crash --random 200          kills at random instants, with retries that are killed as well
 */
import { parseArgs } from "node:util";
import { type Action, ACTIONS, RETRY_POINTS, runCell, runWhole } from "./cell.ts";
import { randomKills } from "./random.ts";
import { openTargets } from "./targets.ts";

async function main(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: { random: { type: "string" }, seed: { type: "string" } },
    allowPositionals: true,
  });
  if (values.random !== undefined) {
    return await randomKills(Number(values.random), Number(values.seed ?? Date.now() % 1_000_000), say);
  }
  const actions = ACTIONS.filter((action) => positionals.includes(action));
  const points = positionals.filter((name) => /^[a-z]+(?:_[a-z]+)+$|^committed$/.test(name));
  const names = positionals.filter((name) => !isAction(name) && !points.includes(name));
  await using opened = await openTargets(names);
  for (const note of opened.notes) say(note);
  let wrong = 0, cells = 0;
  for (const target of opened.targets) {
    const whole = await runWhole(target);
    say(`\n${target.name}: ${whole.content}`);
    for (const [point, nth] of [...occurrences(whole.points), ...RETRY_POINTS.map((name) => [name, 1] as const)]) {
      if (points.length > 0 && !points.includes(point)) continue;
      const row: string[] = [];
      for (const action of actions.length === 0 ? ACTIONS : actions) {
        if (!isPossible(point, action)) continue;
        const fault = `${point}:${nth}:${action}`;
        const at = RETRY_POINTS.includes(point) ? { run: "load_done:1:kill", retry: fault } : { run: fault };
        const { ended, retries, faults } = await runCell(target, whole, at);
        cells++;
        row.push(`${action} ${faults.length === 0 ? "ok" : "WRONG"} (${ended}, ${retries})`.padEnd(28));
        if (faults.length > 0) wrong++;
        for (const fault of faults) say(`    ${action} at ${point}:${nth}: ${fault}`);
      }
      say(`  ${`${point}:${nth}`.padEnd(20)} ${row.join(" ")}`.trimEnd());
    }
  }
  say(`\n${cells} cells, ${wrong} wrong`);
  return wrong === 0 ? 0 : 1;
}

/** Points that both outputs and every node pass: there each time is another place. */
const EACH_TIME: ReadonlySet<string> = new Set(["write_begun", "committed", "journal_written", "partition_done"]);

function occurrences(points: ReadonlyMap<string, number>): readonly (readonly [point: string, nth: number])[] {
  return [...points].flatMap(([point, count]) =>
    Array.from({ length: EACH_TIME.has(point) ? count : 1 }, (_, index) => [point, index + 1] as const)
  );
}

/** While a commit is under way nothing of pz's own can go wrong; it waits. */
function isPossible(point: string, action: Action): boolean {
  return point !== "committing" || action === "kill" || action === "int";
}

function isAction(text: string): text is Action {
  return ACTIONS.some((action) => action === text);
}

function say(text: string): void {
  const bytes = new TextEncoder().encode(`${text}\n`);
  for (let written = 0; written < bytes.length;) written += Deno.stdout.writeSync(bytes.subarray(written));
}

if (import.meta.main) Deno.exit(await main(Deno.args));
