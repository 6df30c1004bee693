import assert from "node:assert/strict";
import { type Schema, Validator } from "@cfworker/json-schema";
import { jsonSchemas } from "../../../src/project/mod.ts";

function accepts(schema: unknown, value: unknown): boolean {
  return new Validator(schema as Schema, "2020-12").validate(value).valid;
}

Deno.test("the JSON Schemas are plain JSON", () => {
  const schemas = jsonSchemas();
  assert.deepEqual(JSON.parse(JSON.stringify(schemas)), schemas);
});

Deno.test("the schema of project.yml takes what loading takes, and refuses what it refuses", () => {
  const { project } = jsonSchemas();
  const minimal = { name: "a", version: "1" };
  const right: unknown[] = [
    minimal,
    { ...minimal, version: 1.5, vars: null, engine: null, connectors: null },
    { ...minimal, engine: { threads: 1, node_timeout: "5m", breaker: { failure_threshold: 1, cool_down: "1s" } } },
    { ...minimal, retention: { keep_last: 1 } },
    { ...minimal, retention: "off" },
    { ...minimal, retention: false },
    { ...minimal, connectors: [{ package: "a", version: "1.0" }, { package: "./b" }] },
    { ...minimal, state: { backend: "http", url: "https://x" } },
  ];
  const wrong: unknown[] = [
    {},
    { ...minimal, nmae: 1 },
    { ...minimal, engine: { threads: 0 } },
    { ...minimal, engine: { threads: "4" } },
    { ...minimal, engine: { thread: 4 } },
    { ...minimal, engine: { node_timeout: "5" } },
    { ...minimal, engine: { breaker: { cool_down: "1s" } } },
    { ...minimal, retention: { keep_last: 0 } },
    { ...minimal, on_source_drift: "x" },
    { ...minimal, connectors: [{ version: "1.0" }] },
    { ...minimal, state: { backend: "redis" } },
  ];
  for (const value of right) assert.ok(accepts(project, value), Deno.inspect(value));
  for (const value of wrong) assert.ok(!accepts(project, value), Deno.inspect(value));
});

Deno.test("the schema of connections.yml leaves the connector's own options open", () => {
  const { connections } = jsonSchemas();
  const entity = (sides: unknown): unknown => ({ a: { connector: "x", host: "h", entities: { o: sides } } });
  const right: unknown[] = [
    {},
    { a: { connector: "x", anything: { a: [1] } } },
    entity({ read: null }),
    entity({ read: { columns: { id: "int", n: { type: "decimal", lossy: "allow" } }, path: "x" } }),
    entity({ read: { sync: { mode: "incremental", cursor: "id", lookback: 5 } } }),
    entity({ read: { sync: { mode: "cdc", slot: "s" } } }),
    entity({ write: { strategy: "merge", keys: ["id"], order_by: "id", path: "x" } }),
  ];
  const wrong: unknown[] = [
    { a: {} },
    { a: { connector: "x", max_concurrency: 0 } },
    { a: { connector: "x", rate_limit: { burst: 1 } } },
    entity({}),
    entity(null),
    entity({ columns: { id: "int" } }),
    entity({ read: { schema: "dbo" } }),
    entity({ read: { sync: { mode: "incremental" } } }),
    entity({ read: { sync: { mode: "auto", cursor: "id" } } }),
    entity({ write: { strategy: "upsert" } }),
    entity({ write: { mode: "merge" } }),
  ];
  for (const value of right) assert.ok(accepts(connections, value), Deno.inspect(value, { depth: 9 }));
  for (const value of wrong) assert.ok(!accepts(connections, value), Deno.inspect(value, { depth: 9 }));
});

Deno.test("the schema of a sidecar knows every check", () => {
  const { sidecar } = jsonSchemas();
  const checks = (...list: unknown[]): unknown => ({ pipeline: "x", checks: list });
  const right: unknown[] = [
    { pipeline: "x", tags: "a", materialization: "view" },
    checks({ not_null: ["id"] }, { unique: { columns: ["id"], severity: "gate" } }, { row_count: { min: 1 } }),
    checks({ freshness: { column: "at", max_age: "1h" } }, { accepted_values: { column: "a", values: [1, "b"] } }),
    checks({ custom_sql: { name: "a", sql: "select 1" } }),
  ];
  const wrong: unknown[] = [
    {},
    { pipeline: "x", materialization: "tabel" },
    checks({ uniqe: ["id"] }),
    checks({}),
    checks({ not_null: ["id"], unique: ["id"] }),
    checks({ row_count: ["id"] }),
    checks({ freshness: { column: "at" } }),
    checks({ custom_sql: { name: "Bad", sql: "x" } }),
  ];
  for (const value of right) assert.ok(accepts(sidecar, value), Deno.inspect(value, { depth: 9 }));
  for (const value of wrong) assert.ok(!accepts(sidecar, value), Deno.inspect(value, { depth: 9 }));
});
