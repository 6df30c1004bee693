/**
 * The long tests of the binary PZ_TEST_BINARY, else dist/pz, which take minutes. They print what they counted; the exit
 * code is 1 when anything is wrong.
 *
 *     deno task test:cold [--rounds 25]                   rounds of eight first starts at once
 *     deno task soak [binary|arrow] [--runs 50] [--rows 5000000]
 *                                                         runs that move many rows, with a heap of small young spaces
 *
 * The soak moves rows through a binary, and out of DuckDB and into it on this runtime. It builds a binary of its own, as
 * `deno task build` does, since its V8 flags can't be set from outside; PZ_SOAK_BINARY names one that is there.
 */
import { resolve } from "node:path";
import { numberAfter, say } from "../../bench/gates.ts";
import { startTogether } from "./cold_starts.ts";
import { soakArrow, soakBinary } from "./soak.ts";

async function main([what, ...args]: readonly string[]): Promise<number> {
  const root = resolve(import.meta.dirname ?? ".", "../../..");
  try {
    if (what === "cold") {
      const binary = resolve(root, Deno.env.get("PZ_TEST_BINARY") ?? "dist/pz");
      await startTogether(binary, numberAfter(args, "--rounds", 25), say);
    } else if (what === "soak") {
      const sizes = { runs: numberAfter(args, "--runs", 50), rows: numberAfter(args, "--rows", 5_000_000) };
      if (args[0] !== "arrow") await soakBinary(root, sizes, say);
      if (args[0] !== "binary") await soakArrow(root, sizes, say);
    } else throw new Error(`unknown test '${what ?? ""}', expected cold or soak`);
    return 0;
  } catch (error) {
    say(`FAIL  ${what}: ${error instanceof Error ? error.message : String(error)}`);
    return 1;
  }
}

if (import.meta.main) Deno.exit(await main(Deno.args));
