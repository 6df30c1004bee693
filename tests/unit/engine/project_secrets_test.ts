import assert from "node:assert/strict";
import { maskFor, projectSecrets } from "../../../src/engine/redact.ts";
import type { Connection, Project, ValueMap } from "../../../src/project/mod.ts";

function connection(
  connector: string,
  config: ValueMap,
  filled: { readonly [setting: string]: readonly string[] } = {},
): Connection {
  return {
    name: connector,
    connector,
    config,
    filled,
    entities: {},
    allowUnsignedExtensions: false,
    position: { file: "connections.yml", line: 1, column: 1 },
  };
}

function project(connections: { readonly [name: string]: Connection }, secrets: readonly string[]): Project {
  const named = Object.entries(connections).map(([name, connection]) => [name, { ...connection, name }] as const);
  const file = { template: "", materialization: "table", tags: [], checks: [] } as const;
  const known = {
    connections: Object.fromEntries(named),
    secrets,
    pipelines: [{ ...file, name: "load_mart", file: "pipelines/load_mart.sql" }],
  };
  // What masking looks at; the rest of a project has no part in it.
  return known as unknown as Project;
}

Deno.test("a folder from an environment variable may be shown", () => {
  const connections = { files: connection("localfiles", { root: "/data/in/raw" }, { root: ["/data/in"] }) };
  assert.deepEqual(projectSecrets({ connections, secrets: ["/data/in"] }), []);
});

Deno.test("an environment variable that fills any other setting too stays secret", () => {
  const connections = {
    files: connection("localfiles", { root: "/data/hunter22" }, { root: ["hunter22"] }),
    db: connection("postgres", { host: "h", options: { list: ["x-hunter22"] } }, { options: ["hunter22"] }),
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

const FROM_ENV = { host: ["10.0.0.7"], database: ["mart"], user: ["loader"] };
const SERVER = { host: "10.0.0.7", database: "mart", user: "loader" };

Deno.test("where a server is and who logs in may be shown, and its password may not", () => {
  const mart = connection("postgres", { ...SERVER, password: "hunter22" }, { ...FROM_ENV, password: ["hunter22"] });
  const mask = maskFor({ project: project({ mart }, ["10.0.0.7", "hunter22", "loader", "mart"]), nodes: [] });
  const text = "connection 'mart' can't be used: Connecting to 10.0.0.7:5432 failed for user \"loader\"";
  assert.equal(mask(`${text} hunter22`), `${text} ***`);
});

Deno.test("a password that equals a plain value is masked where it stands as a value", () => {
  const db = connection("postgres", { ...SERVER, password: "loader" }, { ...FROM_ENV, password: ["loader"] });
  const mask = maskFor({ project: project({ db }, ["10.0.0.7", "loader", "mart"]), nodes: [] });
  assert.equal(mask("password=loader of 'loader', //loader:loader@h"), "password=*** of '***', //loader:***@h");
});

Deno.test("a password that a name holds never takes the name away", () => {
  const mart = connection("postgres", { password: "mart" });
  const mask = maskFor({ project: project({ mart }, []), nodes: [] });
  const text = "connection 'mart', pipelines/load_mart.sql:2:3";
  assert.equal(mask(`${text}, password=mart, "mart"`), `${text}, password=***, "***"`);
});

Deno.test("a strict mask takes away what a plain setting holds too", () => {
  const mart = connection("postgres", { ...SERVER, port: "s3cret-1" }, { ...FROM_ENV, port: ["s3cret-1"] });
  const mask = maskFor({ project: project({ mart }, ["10.0.0.7", "loader", "mart", "s3cret-1"]), nodes: [] }, true);
  assert.equal(mask(`connection 'mart': Option "port" is "s3cret-1"`), `connection 'mart': Option "port" is "***"`);
});
