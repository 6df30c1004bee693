import assert from "node:assert/strict";
import { findConnector } from "../../../../src/connectors/mod.ts";
import { DuckDbError, openDuckDb } from "../../../../src/duckdb/mod.ts";
import { TempDir } from "../../../harness/temp_dir.ts";

const RESTORE = "put the database back from a copy, or take the file away: a write makes a new one";

function explain(message: string) {
  const connector = findConnector("duckdb");
  assert.ok(connector !== undefined && connector !== "planned");
  return connector.setupTrouble?.(message, { path: "w.duckdb" });
}

/** What attaching a file says, put into plain words. */
async function attach(bytes: Uint8Array | undefined) {
  await using dir = await TempDir.create();
  const path = dir.join("w.duckdb");
  if (bytes !== undefined) Deno.writeFileSync(path, bytes);
  await using database = await openDuckDb({ threads: 1, allowedPaths: { files: [], folders: [dir.path] } });
  const connection = await database.connect();
  try {
    await connection.run(`ATTACH '${bytes === undefined ? dir.join("no/w.duckdb") : path}' AS w`);
  } catch (error) {
    assert.ok(error instanceof DuckDbError);
    return explain(error.message);
  }
  throw new Error("attached");
}

async function database(): Promise<Uint8Array> {
  await using dir = await TempDir.create();
  await using database = await openDuckDb({ threads: 1, allowedPaths: { files: [], folders: [dir.path] } });
  const connection = await database.connect();
  await connection.run(`ATTACH '${dir.join("w.duckdb")}' AS w; CREATE TABLE w.t AS SELECT 1 AS a; DETACH w`);
  return Deno.readFileSync(dir.join("w.duckdb"));
}

Deno.test("a database that was cut off or changed is told in plain words", async () => {
  const bytes = await database();
  const expected = { message: `"w.duckdb" is cut off or damaged: DuckDB can't read it`, hint: RESTORE };
  assert.deepEqual(await attach(bytes.subarray(0, 13_000)), expected);
  const changed = bytes.slice();
  changed.fill(0xff, 4096 + 8, 4096 * 3);
  assert.deepEqual(await attach(changed), expected);
  assert.match((await attach(undefined))?.message ?? "", /^"w\.duckdb" can't be opened: /);
});

Deno.test("a database that another process holds is told with that process, and nothing of the machine", () => {
  const message =
    'Could not set lock on file "/x/w.duckdb": Conflicting lock is held in /usr/bin/duckdb (PID 4711). See ' +
    "also https://duckdb.org/docs/stable/connect/concurrency";
  assert.deepEqual(explain(message), {
    message: '"w.duckdb" is in use by another process (4711)',
    hint: "run again when that is done, such as another run of pz or an open DuckDB shell",
  });
  assert.match(
    explain("Trying to read a database file with version number 99, but we can only read versions …")?.message ?? "",
    /storage version 99/,
  );
  assert.equal(explain("Catalog Error"), undefined);
});

Deno.test("a full disk is told as one, also where DuckDB has left an empty file", () => {
  assert.deepEqual(explain('Could not write file "/x/w.duckdb": No space left on device'), {
    message: `"w.duckdb" can't be written: no space is left on its disk`,
    hint: "free some space there, and delete the file if it is empty",
  });
});
