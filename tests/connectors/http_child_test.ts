import assert from "node:assert/strict";
import {
  CHILD_VERB,
  type ConfigMap,
  ConnectorError,
  ConnectorSession,
  findConnector,
} from "../../src/connectors/mod.ts";
import { BINARY } from "../harness/cli.ts";
import { TestHttp } from "../harness/http_server.ts";
import { AUTHORITY, CERTIFICATE, KEY } from "../harness/postgres_tls.ts";
import { TempDir } from "../harness/temp_dir.ts";
import { dataset, ID, NEVER, READ } from "./http_support.ts";

function open(config: ConfigMap, net?: readonly string[]): ConnectorSession {
  const http = findConnector("http");
  if (http === undefined || http === "planned") throw new Error("no http");
  const grant = http.grant(config, { projectRoot: "/nowhere" });
  return new ConnectorSession({
    connector: "http",
    connection: "api",
    config,
    grant: net === undefined ? grant : { ...grant, net },
    runId: "r1",
    onLog: () => {},
    onNotice: () => {},
    ...(BINARY === undefined ? {} : { command: { path: BINARY, args: [CHILD_VERB], env: {} } }),
  });
}

async function count(session: ConnectorSession): Promise<number> {
  let rows = 0;
  for await (const batch of session.read(dataset({ pagination: "page" }, ID), { id: "pages" }, READ)) {
    rows += batch.numRows;
  }
  return rows;
}

Deno.test("a sandboxed child reads pages, with a partition that can go on", async () => {
  await using server = new TestHttp((_request, url) =>
    Response.json(url.searchParams.get("page") === "3" ? [] : [{ id: 1 }, { id: 2 }])
  );
  await using session = open({ base_url: server.origin });
  await session.check(NEVER);
  assert.deepEqual(await session.planRead(dataset({}, ID), NEVER), [{ id: "pages", checkpointing: true }]);
  assert.equal(await count(session), 4);
});

Deno.test("a child that is not granted the server's address fails by the permission that it lacked", async () => {
  await using server = new TestHttp(() => Response.json([]));
  await using session = open({ base_url: server.origin }, ["127.0.0.1:1"]);
  await assert.rejects(count(session), (error) => {
    assert.ok(error instanceof ConnectorError, String(error));
    assert.equal(error.code, "PZ0740", error.message);
    assert.deepEqual(error.denied, { permission: "net", target: `127.0.0.1:${server.port}` });
    return true;
  });
  assert.equal(server.seen.length, 0);
});

Deno.test("a server's certificate is checked, by the connection's own authority where it names one", async () => {
  await using server = new TestHttp(() => Response.json([]), { cert: CERTIFICATE, key: KEY });
  await using folder = await TempDir.create();
  const ssl_root_cert = folder.join("ca.pem");
  await Deno.writeTextFile(ssl_root_cert, AUTHORITY);
  const base_url = `https://localhost:${server.port}`;
  await using strict = open({ base_url });
  await assert.rejects(strict.check(NEVER), {
    transient: false,
    message: /failed: no secure connection could be made$/,
  });
  await using own = open({ base_url, ssl_root_cert });
  await own.check(NEVER);
  await using lost = open({ base_url, ssl_root_cert: folder.join("none.pem") });
  await assert.rejects(lost.check(NEVER), { transient: false, message: /no such file$/ });
  await Deno.writeTextFile(folder.join("none.pem"), "nonsense");
  await using bad = open({ base_url, ssl_root_cert: folder.join("none.pem") });
  await assert.rejects(bad.check(NEVER), { transient: false });
});
