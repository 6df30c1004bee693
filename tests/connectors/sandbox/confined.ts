/**
 * Tries what the operating system can refuse, in a process that it alone confines to the grant, and whose runtime allows
 * all; prints the outcomes as `outside.ts` does.
 */
import { confine } from "../../../src/connectors/child/confine.ts";
import type { Targets } from "./attempt.ts";
import { printOutcomes } from "./outcomes.ts";

const CONFINED = "PZ_TEST_CONFINED";

if (import.meta.main) {
  const targets: Targets = JSON.parse(Deno.args[0] ?? "");
  const { granted, grantedPort } = targets;
  if (Deno.env.get(CONFINED) === undefined) {
    const grant = { net: [`127.0.0.1:${grantedPort}`], read: [granted], write: [granted], env: [] };
    throw new Error(confine(grant, { [CONFINED]: "yes" }));
  }
  await printOutcomes(targets, ["files", "symlinks", "import", "hosts", "spawn", "signals"]);
  Deno.exit(0);
}
