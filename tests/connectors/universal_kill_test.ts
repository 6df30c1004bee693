import assert from "node:assert/strict";
import { startPostgres } from "../harness/postgres.ts";
import { type Direction, killConnector, prepareKills } from "./universal_kill_support.ts";

const server = await startPostgres();
await prepareKills(server);

const KILLS = 5;

for (const direction of ["read", "write"] as const satisfies readonly Direction[]) {
  Deno.test({
    name: `a connector killed in the middle of a ${direction} is started again or told of, and nothing is half done`,
    ignore: Deno.build.os === "windows",
    fn: async () => {
      const counts = await killConnector(server, direction, KILLS, Math.random);
      assert.equal(counts.kills, KILLS);
    },
  });
}
