import { LEDGER_SETUP, openStaging, PartitionLedger, transaction } from "../../../src/staging/mod.ts";

// Loads partition after partition into a staging database until it is killed by itself, at a place of a transaction.

const [folder = "", point = "", partition = "0"] = Deno.args;

function dieAt(here: string, id: number): void {
  if (here === point && id === Number(partition)) Deno.kill(Deno.pid, "SIGKILL");
}

const staging = await openStaging({
  file: `${folder}/staging.duckdb`,
  memoryLimitBytes: 300_000_000,
  threads: 2,
  tempDirectory: `${folder}/spill`,
  allowedPaths: { files: [], folders: [] },
  preserveInsertionOrder: false,
});
await staging.setup(LEDGER_SETUP);
const connection = await staging.connect();
const ledger = new PartitionLedger("node", "t");
await ledger.look(connection);
await ledger.begin(connection, { columns: [{ name: "n", type: "INTEGER" }] });
await ledger.plan(connection, ["0", "1", "2"]);
for (let id = 0; id < 3; id++) {
  await ledger.startPart(connection, `${id}`);
  const part = ledger.partTable(`${id}`);
  await transaction(connection, async () => {
    await connection.run(`INSERT INTO staging.${part} SELECT range FROM range(1000)`);
    dieAt("rows", id);
    await ledger.saveCheckpoint(connection, `${id}`, { token: "half", rows: 1000 });
    dieAt("checkpoint", id);
  });
  dieAt("saved", id);
  await transaction(connection, async () => {
    await connection.run(`INSERT INTO staging.${part} SELECT range FROM range(1000, 1500)`);
    await ledger.movePart(connection, `${id}`);
    dieAt("moved", id);
    await ledger.complete(connection, `${id}`, 1500);
    dieAt("account", id);
  });
  dieAt("done", id);
}
Deno.kill(Deno.pid, "SIGKILL");
