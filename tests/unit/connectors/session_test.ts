import assert from "node:assert/strict";
import { ConnectorError, ConnectorSession, type DatasetSpec } from "../../../src/connectors/mod.ts";
import type { ConfigMap } from "../../../src/connectors/mod.ts";

const NEVER = new AbortController().signal;

function openGenerate(): ConnectorSession {
  return new ConnectorSession({
    connector: "generate",
    connection: "g",
    config: {},
    grant: { net: [], read: [], write: [], env: [] },
    runId: "r1",
    onLog: () => {},
  });
}

function dataset(options: ConfigMap, columns?: DatasetSpec["columns"]): DatasetSpec {
  return { connection: "g", entity: "any", config: {}, options, ...(columns === undefined ? {} : { columns }) };
}

Deno.test("a session reads generated rows through a sandboxed child", async () => {
  await using session = openGenerate();
  const spec = dataset({ rows: 2500n, batch_rows: 1000n });
  const schema = await session.getSchema(spec, NEVER);
  assert.deepEqual(schema.names, ["id", "name", "amount", "active", "born", "updated_at"]);
  const partitions = await session.planRead(spec, NEVER);
  assert.deepEqual(partitions, [{ id: "all" }]);
  const sizes: number[] = [];
  let sum = 0n;
  for await (const batch of session.read(spec, { id: "all" }, { batchBytes: 1 << 24, signal: NEVER })) {
    sizes.push(batch.numRows);
    for (const id of batch.getChild("id") ?? []) sum += id;
  }
  assert.deepEqual(sizes, [1000, 1000, 500]);
  assert.equal(sum, 2499n * 2500n / 2n);
});

Deno.test("a contract chooses the generated columns and types", async () => {
  await using session = openGenerate();
  const spec = dataset({ rows: 1n }, [{ name: "x", type: "int" }, { name: "y", type: "decimal(10,2)" }]);
  const schema = await session.getSchema(spec, NEVER);
  assert.deepEqual(schema.fields.map((field) => `${field.name} ${field.type}`), ["x Int32", "y Decimal[10e+2]"]);
});

for (
  const [attempt, permission, target] of [
    ["read:/etc/passwd", "read", "/etc/passwd"],
    ["net:127.0.0.1:9", "net", "127.0.0.1:9"],
    ["run:/bin/true", "run", "/bin/true"],
    ["env:HOME", "env", "HOME"],
  ] as const
) {
  Deno.test(`a connector that tries ${attempt} fails with the permission and target it lacked`, async () => {
    await using session = openGenerate();
    const reading = async () => {
      const options = { batchBytes: 1 << 20, signal: NEVER };
      for await (const _ of session.read(dataset({ attempt }), { id: "all" }, options)) { /* none expected */ }
    };
    await assert.rejects(reading, (error) => {
      assert.ok(error instanceof ConnectorError);
      assert.equal(error.code, "PZ0740");
      assert.equal(error.transient, false);
      assert.deepEqual(error.denied, { permission, target });
      return true;
    });
  });
}
