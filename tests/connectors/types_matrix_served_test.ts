import assert from "node:assert/strict";
import { needsMariaDb, startMariaDb } from "../harness/mariadb.ts";
import { startPostgres } from "../harness/postgres.ts";
import { openStores } from "../harness/s3_store.ts";
import { type AnySystem, tableOf } from "./types_matrix_run.ts";
import { type MatrixSystem, openApi, SERVED } from "./types_matrix_served.ts";
import { FROM_SERVED } from "./types_matrix_served_from.ts";
import { cellsOf, runServed } from "./types_matrix_served_run.ts";
import { TO_SERVED } from "./types_matrix_served_to.ts";

const OTHERS: readonly AnySystem[] = ["duckdb", "parquet", "ndjson", "postgres", "mysql", "sqlite"];
const EXPECTED: { readonly [source in MatrixSystem]: string } = { ...TO_SERVED, ...FROM_SERVED };

const postgres = await startPostgres();
await postgres.sql(`CREATE TYPE mood AS ENUM ('sad', 'it\'\'s', 'glücklich')`);
const mariadb = needsMariaDb("the matrix of types with objects and an API") ? await startMariaDb() : undefined;
const [store] = await openStores();

for (const source of [...OTHERS, ...SERVED].filter(isHere)) {
  const all = OTHERS.some((other) => other === source) ? SERVED : [...OTHERS, ...SERVED];
  const sinks = all.filter(isHere);
  Deno.test(`every type goes from ${source} into ${sinks.join(", ")} the same, mapped by a rule, or is refused`, async () => {
    const lines = new Map<string, string[]>();
    await using api = openApi(lines);
    const expected = cellsOf(EXPECTED[source], all);
    const cells = await runServed({ postgres, mariadb, store, api, lines }, source, sinks, expected);
    assert.equal(tableOf(cells, sinks).join("\n"), tableOf(expected, sinks).join("\n"));
  });
}

/** Whether the machine has what a system needs. */
function isHere(system: MatrixSystem): boolean {
  return system === "mysql" ? mariadb !== undefined : system.startsWith("s3") ? store !== undefined : true;
}
