import assert from "node:assert/strict";
import { join } from "node:path";
import { ConnectorError, ConnectorSession, findConnector } from "../../src/connectors/mod.ts";
import { startPostgres } from "../harness/postgres.ts";
import { AUTHORITY } from "../harness/postgres_tls.ts";
import { TempDir } from "../harness/temp_dir.ts";
import { configOf, dataset, NEVER, Opened, READ, staged } from "./postgres_support.ts";

const server = await startPostgres(undefined, { tls: true });
const IS_ENCRYPTED = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()";

async function reads(change: { readonly [option: string]: string }): Promise<string | null | undefined> {
  await using opened = new Opened({ ...configOf(server), ...change });
  await opened.instance.check?.(NEVER);
  return (await staged(opened, dataset("any", { query: IS_ENCRYPTED }))).rows[0]?.[0];
}

async function refused(change: { readonly [option: string]: string }): Promise<string> {
  try {
    await reads(change);
  } catch (error) {
    assert.ok(error instanceof ConnectorError, String(error));
    assert.equal(error.transient, false, error.message);
    return error.message;
  }
  assert.fail("the connection was not refused");
}

Deno.test("each ssl_mode encrypts and checks what it says", async () => {
  await using folder = await TempDir.create();
  const ssl_root_cert = folder.join("ca.pem");
  await Deno.writeTextFile(ssl_root_cert, AUTHORITY);
  assert.equal(await reads({ ssl_mode: "disable" }), "false");
  assert.equal(await reads({}), "true");
  assert.equal(await reads({ ssl_mode: "require" }), "true");
  assert.match(await refused({ ssl_mode: "verify-ca" }), /certificate is not trusted/);
  assert.match(await refused({ ssl_mode: "verify-full", host: "localhost" }), /certificate is not trusted/);
  assert.equal(await reads({ ssl_mode: "verify-ca", ssl_root_cert }), "true");
  assert.equal(await reads({ ssl_mode: "require", ssl_root_cert }), "true");
  assert.equal(await reads({ ssl_mode: "verify-full", host: "localhost", ssl_root_cert }), "true");
  assert.match(await refused({ ssl_mode: "verify-full", ssl_root_cert }), /certificate is not trusted/);
  assert.match(
    await refused({ ssl_mode: "verify-ca", ssl_root_cert: join(folder.path, "none") }),
    /no certificate file/,
  );
});

Deno.test("a folder in place of a certificate file is told as one", async () => {
  await using folder = await TempDir.create();
  const { path } = folder;
  assert.equal(
    await refused({ ssl_mode: "verify-ca", ssl_root_cert: path }),
    `The certificate file "${path}" is a folder`,
  );
});

Deno.test("a sandboxed child reads over TLS with the certificate file that it is granted", async () => {
  await using folder = await TempDir.create();
  const ssl_root_cert = folder.join("ca.pem");
  await Deno.writeTextFile(ssl_root_cert, AUTHORITY);
  const config = { ...configOf(server), host: "localhost", ssl_mode: "verify-full", ssl_root_cert };
  const postgres = findConnector("postgres");
  if (postgres === undefined || postgres === "planned") throw new Error("no postgres");
  const grant = postgres.grant(config, { projectRoot: "/nowhere" });
  assert.deepEqual(grant, { net: [`localhost:${server.port}`], read: [ssl_root_cert], write: [], env: [] });
  await using session = new ConnectorSession({
    connector: "postgres",
    connection: "pg",
    config,
    grant,
    runId: "r1",
    onLog: () => {},
  });
  const spec = dataset("any", { query: "SELECT i, repeat('x', 100) AS t FROM generate_series(1, 200000) i" });
  let rows = 0;
  for await (const batch of session.read(spec, { id: "{}" }, READ)) rows += batch.numRows;
  assert.equal(rows, 200_000);
});
