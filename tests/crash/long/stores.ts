import { killStores } from "../../connectors/s3_kill_support.ts";
import { openStores } from "../../harness/s3_store.ts";

const KILLS = 20;

/**
 * Kills the writers of 20 objects in each store at random instants and checks what is left of each.
 *
 * @param random gives numbers in [0, 1)
 */
export async function killObjectStores(random: () => number): Promise<{ readonly [store: string]: object }> {
  const found: { [store: string]: object } = {};
  for (const store of await openStores()) found[store.name] = await killStores(store, KILLS, random);
  return found;
}
