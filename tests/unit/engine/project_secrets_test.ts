import assert from "node:assert/strict";
import { projectSecrets } from "../../../src/engine/redact.ts";
import type { Connection, ValueMap } from "../../../src/project/mod.ts";

function connection(connector: string, config: ValueMap): Connection {
  return {
    name: connector,
    connector,
    config,
    entities: {},
    allowUnsignedExtensions: false,
    position: { file: "connections.yml", line: 1, column: 1 },
  };
}

Deno.test("a folder from an environment variable may be shown", () => {
  const connections = { files: connection("localfiles", { root: "/data/in/raw" }) };
  assert.deepEqual(projectSecrets({ connections, secrets: ["/data/in"] }), []);
});

Deno.test("an environment variable that fills any other setting too stays secret", () => {
  const connections = {
    files: connection("localfiles", { root: "/data/hunter22" }),
    db: connection("postgres", { host: "h", options: { list: ["x-hunter22"] } }),
  };
  assert.deepEqual(projectSecrets({ connections, secrets: ["hunter22"] }), ["hunter22"]);
});

Deno.test("a variable that no plain setting holds stays secret, as do values under secret keys", () => {
  const connections = {
    files: connection("localfiles", { root: "data" }),
    db: connection("postgres", { host: "db.example", password: "literal-1" }),
  };
  assert.deepEqual(projectSecrets({ connections, secrets: ["db.example", "elsewhere"] }), [
    "db.example",
    "elsewhere",
    "literal-1",
  ]);
});
