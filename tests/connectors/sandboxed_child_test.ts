import assert from "node:assert/strict";
import {
  CHILD_VERB,
  type ConfigMap,
  ConnectorError,
  ConnectorSession,
  type DatasetSpec,
} from "../../src/connectors/mod.ts";
import { BINARY } from "../harness/cli.ts";

const NEVER = new AbortController().signal;

function openGenerate(connector = "generate"): ConnectorSession {
  return new ConnectorSession({
    connector,
    connection: "g",
    config: {},
    grant: { net: [], read: [], write: [], env: [] },
    runId: "r1",
    onLog: () => {},
    ...(BINARY === undefined ? {} : { command: { path: BINARY, args: [CHILD_VERB], env: {} } }),
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

const READ = { batchBytes: 1 << 20, signal: NEVER };

Deno.test("reads of one session run side by side", async () => {
  await using session = openGenerate();
  const count = async (rows: bigint) => {
    let sum = 0;
    for await (const batch of session.read(dataset({ rows, batch_rows: 500n }), { id: "all" }, READ)) {
      sum += batch.numRows;
    }
    return sum;
  };
  assert.deepEqual(await Promise.all([count(1000n), count(2001n), count(0n), count(7n)]), [1000, 2001, 0, 7]);
});

Deno.test("a reader that stops early ends the read in the child, and the session goes on", async () => {
  await using session = openGenerate();
  const endless = dataset({ rows: BigInt(Number.MAX_SAFE_INTEGER), batch_rows: 10_000n });
  for await (const batch of session.read(endless, { id: "all" }, READ)) {
    assert.equal(batch.numRows, 10_000);
    break;
  }
  assert.deepEqual(await session.planRead(endless, NEVER), [{ id: "all" }]);
});

Deno.test("a child sends no more than its credits while nobody reads", async () => {
  await using session = openGenerate();
  const endless = dataset({ rows: BigInt(Number.MAX_SAFE_INTEGER), batch_rows: 1000n });
  const reading = session.read(endless, { id: "all" }, READ);
  await reading.next();
  // Answered after everything that the child was still allowed to send; more would have failed the session.
  await session.planRead(endless, NEVER);
  for (let batch = 0; batch < 30; batch++) assert.equal((await reading.next()).done, false);
  await reading.return(undefined);
});

Deno.test("an aborted read throws the signal's reason, and its child serves on", async () => {
  await using session = openGenerate();
  const stop = new AbortController();
  const endless = dataset({ rows: BigInt(Number.MAX_SAFE_INTEGER) });
  const reading = session.read(endless, { id: "all" }, { batchBytes: 1 << 20, signal: stop.signal });
  await reading.next();
  const reason = new Error("stop");
  stop.abort(reason);
  await assert.rejects(async () => {
    for await (const _ of reading) { /* what had arrived */ }
  }, reason);
  assert.deepEqual(await session.planRead(endless, NEVER), [{ id: "all" }]);
});

Deno.test("wrong options of a read are refused by name", async () => {
  await using session = openGenerate();
  const reading = session.read(dataset({ rows: -1n }), { id: "all" }, READ);
  await assert.rejects(reading.next(), /Option "rows" is "-1": expected a whole number from 0/);
});

Deno.test("an unknown connector fails with what its child says", async () => {
  await using session = openGenerate("nothing");
  await assert.rejects(session.planRead(dataset({}), NEVER), /there is no connector "nothing" inside/);
});

Deno.test("a child ends when its host is killed", { ignore: Deno.build.os !== "linux" }, async () => {
  const session = new URL("../../src/connectors/mod.ts", import.meta.url).href;
  const script = `
    const { ConnectorSession } = await import(${JSON.stringify(session)});
    const session = new ConnectorSession({ connector: "generate", connection: "g", config: {}, runId: "r",
      grant: { net: [], read: [], write: [], env: [] }, onLog: () => {} });
    await session.planRead({ connection: "g", entity: "e", config: {}, options: {} }, new AbortController().signal);
    const tasks = Deno.readTextFileSync("/proc/self/stat") && [...Deno.readDirSync("/proc/self/task")];
    const children = tasks.map(({ name }) => Deno.readTextFileSync(\`/proc/self/task/\${name}/children\`)).join("").trim();
    console.log(children);
    await new Promise(() => setInterval(() => {}, 1000));
  `;
  const config = new URL("../../deno.json", import.meta.url).pathname;
  const host = new Deno.Command(Deno.execPath(), {
    args: ["eval", "--quiet", "--config", config, script],
    stdout: "piped",
    stderr: "inherit",
    stdin: "null",
  }).spawn();
  const reader = host.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const child = Number((await reader.read()).value?.trim());
  assert.ok(child > 0);
  host.kill("SIGKILL");
  await host.status;
  await reader.cancel();
  while (runs(child)) await new Promise((resolve) => setTimeout(resolve, 5));
});

/** Whether a process is there and no zombie. */
function runs(pid: number): boolean {
  try {
    return !/^State:\s*Z/m.test(Deno.readTextFileSync(`/proc/${pid}/status`));
  } catch {
    return false;
  }
}
