/**
 * The long tests, which take minutes: runs and connectors killed at random instants, and the order of many
 * rows. They print what they counted; the exit code is 1 when anything is wrong.
 *
 *     deno task test:crash            all, on the source or on the binary PZ_TEST_BINARY
 *     deno task test:crash kills      only the kills; PZ_CRASH_SEED repeats those of an earlier time
 *     deno task test:crash order      only the order
 *     deno task test:crash connectors only the kills of connectors that read and write PostgreSQL
 *     deno task test:crash stores     only the kills of writers of objects
 *     deno task test:crash memory     how much memory an object of 2 GB takes; only when asked for
 */
import { BINARY } from "../../harness/cli.ts";
import { killConnectors } from "./connectors.ts";
import { killAtRandom } from "./kills.ts";
import { countInversions } from "./order.ts";
import { measureStores } from "./store_memory.ts";
import { killObjectStores } from "./stores.ts";

async function main(wanted: readonly string[]): Promise<number> {
  say(`pz runs from ${BINARY === undefined ? "its source" : `'${BINARY}'`}`);
  const isWanted = (title: string) => wanted.length === 0 || wanted.includes(title);
  let failed = 0;
  const test = async (title: string, work: () => Promise<unknown>) => {
    if (!isWanted(title)) return;
    try {
      say(`ok    ${title}: ${JSON.stringify(await work())}`);
    } catch (error) {
      failed++;
      say(`FAIL  ${title}: ${error instanceof Error ? error.stack ?? error.message : String(error)}`);
    }
  };
  await test("kills", async () => {
    const seed = Number(Deno.env.get("PZ_CRASH_SEED") ?? Date.now() % 1_000_000);
    say(`seed ${seed}`);
    return await killAtRandom(randomOf(seed), say);
  });
  await test("order", async () => {
    const found = await countInversions();
    if (found.csv + found.parquet > 0) throw new Error(`rows out of order: ${JSON.stringify(found)}`);
    return found;
  });
  await test("connectors", async () => {
    const seed = Number(Deno.env.get("PZ_CRASH_SEED") ?? Date.now() % 1_000_000);
    say(`seed ${seed}`);
    return await killConnectors(randomOf(seed));
  });
  await test("stores", async () => {
    const seed = Number(Deno.env.get("PZ_CRASH_SEED") ?? Date.now() % 1_000_000);
    say(`seed ${seed}`);
    return await killObjectStores(randomOf(seed));
  });
  if (wanted.includes("memory")) await test("memory", measureStores);
  return failed === 0 ? 0 : 1;
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

function say(text: string): void {
  const bytes = new TextEncoder().encode(`${text}\n`);
  for (let written = 0; written < bytes.length;) written += Deno.stdout.writeSync(bytes.subarray(written));
}

if (import.meta.main) Deno.exit(await main(Deno.args));
