import { killConnector, type KillCounts, prepareKills } from "../../connectors/universal_kill_support.ts";
import { startPostgres } from "../../harness/postgres.ts";

const KILLS = 30;

/**
 * Kills the connector of 30 reads and of 30 writes at random instants and checks what is left of each.
 *
 * @param random gives numbers in [0, 1)
 */
export async function killConnectors(random: () => number): Promise<{ readonly [direction: string]: KillCounts }> {
  await using server = await startPostgres();
  await prepareKills(server);
  const read = await killConnector(server, "read", KILLS, random);
  return { read, write: await killConnector(server, "write", KILLS, random) };
}
