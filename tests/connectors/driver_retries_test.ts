import assert from "node:assert/strict";
import { connector as http } from "../../src/connectors/builtin/http/connector.ts";
import { connector as mysql } from "../../src/connectors/builtin/mysql/connector.ts";
import { connector as postgres } from "../../src/connectors/builtin/postgres/connector.ts";
import { connector as s3 } from "../../src/connectors/builtin/s3/connector.ts";
import { type ConfigMap, ConnectorError } from "../../src/connectors/mod.ts";
import type { ConnectorModule } from "../../src/connectors/sdk/mod.ts";
import { testHost } from "../harness/connector_host.ts";
import { TestHttp } from "../harness/http_server.ts";

const NEVER = new AbortController().signal;

/** A server that hangs up as soon as somebody calls, and counts the calls. */
class HangUp implements AsyncDisposable {
  calls = 0;
  readonly #listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  readonly #serving = this.#serve();

  get port(): number {
    return this.#listener.addr.port;
  }

  async #serve(): Promise<void> {
    for await (const call of this.#listener) {
      this.calls++;
      call.close();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listener.close();
    await this.#serving;
  }
}

const database = (port: number) => ({
  host: "127.0.0.1",
  port: BigInt(port),
  user: "u",
  password: "p",
  database: "d",
});

const site = (port: number) => ({ base_url: `http://127.0.0.1:${port}` });
const storage = (port: number) => ({
  root: "s3://bucket",
  access_key: "k",
  secret_key: "s",
  endpoint: `127.0.0.1:${port}`,
  url_style: "path",
  use_ssl: false,
});

const CONNECTORS: readonly (readonly [ConnectorModule, (port: number) => ConfigMap])[] = [
  [postgres, database],
  [mysql, database],
  [http, site],
  [s3, storage],
];

for (const [module, configOf] of CONNECTORS) {
  Deno.test(`${module.name} calls once and leaves it to the engine to call again`, async () => {
    await using server = new HangUp();
    const instance = module.open(configOf(server.port), testHost());
    try {
      await assert.rejects(async () => await instance.check?.(NEVER), (error) => {
        assert.ok(error instanceof ConnectorError, String(error));
        assert.equal(error.transient, true, error.message);
        return true;
      });
    } finally {
      await instance.close?.();
    }
    assert.equal(server.calls, 1);
  });
}

const ASKING: typeof CONNECTORS = [[http, (port) => ({ ...site(port), check_path: "/" })], [s3, storage]];

for (const [module, configOf] of ASKING) {
  Deno.test(`${module.name} asks once where the answer is that the system is busy`, async () => {
    await using server = new TestHttp(() => new Response("busy", { status: 503 }));
    const instance = module.open(configOf(server.port), testHost());
    await assert.rejects(async () => await instance.check?.(NEVER), { name: "ConnectorError", transient: true });
    await instance.close?.();
    assert.equal(server.seen.length, 1);
  });
}
