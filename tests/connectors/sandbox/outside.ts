/**
 * Tries everything that a hostile connector tries, in a process that may do all of it, and prints the outcomes: what
 * does not work here can't work on this runtime at all.
 */
import { printOutcomes } from "./outcomes.ts";

if (import.meta.main) {
  await printOutcomes(JSON.parse(Deno.args[0] ?? ""));
  Deno.exit(0);
}
