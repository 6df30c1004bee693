import assert from "node:assert/strict";
import { ConnectorError, type OutputSpec } from "../../src/connectors/mod.ts";
import type { WriteSession } from "../../src/connectors/sdk/connector.ts";
import { serverOf, startPostgres } from "../harness/postgres.ts";
import { configOf, dataset, fromDuck, NEVER, Opened, output, READ } from "./postgres_support.ts";

const server = await startPostgres(serverOf(import.meta.url));

const rows = (from: number, to: number) =>
  fromDuck(`SELECT range AS n, 'row ' || range AS t FROM range(${from}, ${to}) ORDER BY ALL`);

let writes = 0;

/** An append into a table of its own that commits every 100 rows. */
function append(): OutputSpec {
  const number = ++writes;
  return output(`resumed_${number}`, "append", {
    checkpointRows: 100,
    attempt: { node: `resume${number}`, run: "run one", ordinal: 1 },
  });
}

function again(spec: OutputSpec, more: Partial<OutputSpec["attempt"]> = {}): OutputSpec {
  return { ...spec, attempt: { ...spec.attempt, ordinal: spec.attempt.ordinal + 1, ...more } };
}

async function begin(opened: Opened, spec: OutputSpec): Promise<WriteSession> {
  return await opened.sink.begin(spec, (await rows(0, 1)).schema, NEVER);
}

async function send(session: WriteSession, from: number, to: number): Promise<void> {
  for (const batch of (await rows(from, to)).batches) await session.write(batch, NEVER);
}

async function counted(entity: string): Promise<string> {
  const [row] = await server.sql(`SELECT count(*), count(DISTINCT n) FROM ${entity}`);
  return row?.join("/") ?? "";
}

Deno.test("an append with checkpoints keeps what it committed, and goes on behind it", async () => {
  await using opened = new Opened(configOf(server));
  const spec = append();
  const first = await begin(opened, spec);
  assert.deepEqual([first.abortSemantics, first.acknowledgedRows?.()], ["best_effort", 0n]);
  await send(first, 0, 250);
  assert.equal(first.acknowledgedRows?.(), 200n);
  await first.abort();
  assert.equal(await counted(spec.entity), "200/200");
  const second = await begin(opened, again(spec));
  assert.equal(second.acknowledgedRows?.(), 200n);
  assert.equal(await second.resumeFrom?.(200n), true);
  await send(second, 200, 430);
  assert.equal(second.acknowledgedRows?.(), 400n);
  assert.deepEqual(await second.commit(), { rows: 430n, batches: 1 });
  assert.equal(await counted(spec.entity), "430/430");
  // And one after that finds it done.
  const third = await begin(opened, again(spec));
  await send(third, 0, 430);
  assert.deepEqual(await third.commit(), { rows: 430n, batches: 1 });
  assert.equal(await counted(spec.entity), "430/430");
});

Deno.test("an append of exactly so many rows as a checkpoint has is whole only with its commit", async () => {
  await using opened = new Opened(configOf(server));
  const spec = append();
  const first = await begin(opened, spec);
  await send(first, 0, 100);
  assert.equal(first.acknowledgedRows?.(), 100n);
  await first.abort();
  const second = await begin(opened, again(spec));
  assert.equal(await second.resumeFrom?.(100n), true);
  assert.deepEqual(await second.commit(), { rows: 100n, batches: 0 });
  assert.equal(await counted(spec.entity), "100/100");
});

Deno.test("a later run goes on with what an earlier one has committed", async () => {
  await using opened = new Opened(configOf(server));
  const spec = append();
  const first = await begin(opened, spec);
  await send(first, 0, 250);
  await first.abort();
  const prior = [{ run: "run one", ordinal: 1 }];
  const second = await begin(opened, again(spec, { run: "run two", ordinal: 1, prior }));
  assert.equal(await second.resumeFrom?.(200n), true);
  await send(second, 200, 350);
  await second.abort();
  const third = await begin(
    opened,
    again(spec, { run: "run three", ordinal: 1, prior: [...prior, { run: "run two", ordinal: 1 }] }),
  );
  assert.equal(third.acknowledgedRows?.(), 300n);
  assert.equal(await third.resumeFrom?.(300n), true);
  await send(third, 300, 400);
  await third.commit();
  assert.equal(await counted(spec.entity), "400/400");
  // A run that is no successor of these appends anew.
  const other = await begin(opened, again(spec, { run: "run four", ordinal: 1 }));
  assert.equal(other.acknowledgedRows?.(), 0n);
  await send(other, 0, 50);
  await other.commit();
  assert.equal(await counted(spec.entity), "450/400");
});

Deno.test("rows that are not those of the attempt before are refused where some of that are there", async () => {
  await using opened = new Opened(configOf(server));
  const spec = append();
  const first = await begin(opened, spec);
  await send(first, 0, 250);
  await first.abort();
  for (const attempt of [again(spec), { ...again(spec), checkpointRows: undefined }]) {
    const { checkpointRows, ...rest } = attempt;
    const second = await begin(opened, checkpointRows === undefined ? rest : { ...rest, checkpointRows });
    assert.equal(await second.resumeFrom?.(100n), false);
    const error = await send(second, 0, 10).then(() => undefined, (error: unknown) => error);
    assert.ok(error instanceof ConnectorError);
    assert.equal(error.transient, false);
    assert.match(error.message, /has put 200 rows into "public\.resumed_\d+", and the rows to write are not the same/);
    await second.abort();
  }
  assert.equal(await counted(spec.entity), "200/200");
});

Deno.test("an attempt whose place another has taken commits nothing more", async () => {
  await using opened = new Opened(configOf(server));
  await using others = new Opened(configOf(server));
  const spec = append();
  const first = await begin(opened, spec);
  await send(first, 0, 100);
  const second = await begin(others, again(spec));
  assert.equal(await second.resumeFrom?.(100n), true);
  await send(second, 100, 200);
  const error = await send(first, 100, 200).then(() => undefined, (error: unknown) => error);
  assert.match(String(error), /Another attempt has gone on with this write/);
  await first.abort();
  await second.commit();
  assert.equal(await counted(spec.entity), "200/200");
});

Deno.test("a connection that is lost between checkpoints costs what came since the last one", async () => {
  await using opened = new Opened(configOf(server));
  const spec = append();
  const first = await begin(opened, spec);
  await send(first, 0, 150);
  await server.sql(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'COPY %${spec.entity}%' AND pid <> pg_backend_pid()`,
  );
  const error = await (async () => {
    for (;;) await send(first, 150, 10_000);
  })().catch((error: unknown) => error);
  assert.ok(error instanceof ConnectorError && error.transient, String(error));
  await first.abort();
  const second = await begin(opened, again(spec));
  const from = Number(second.acknowledgedRows?.());
  assert.equal(await counted(spec.entity), `${from}/${from}`);
  assert.equal(await second.resumeFrom?.(BigInt(from)), true);
  await send(second, from, 10_000);
  await second.commit();
  assert.equal(await counted(spec.entity), "10000/10000");
});

Deno.test("another attempt at a divided read divides alike, and sees what the first one saw", async () => {
  await using opened = new Opened(configOf(server));
  await server.sql("CREATE TABLE divided AS SELECT i AS id, 'old' AS t FROM generate_series(1, 4000) i");
  const spec = dataset("divided", { partition_column: "id", partitions: 4n });
  await opened.source.schema(spec, NEVER);
  const planned = await Array.fromAsync(await opened.source.plan(spec, NEVER));
  assert.equal(planned.length, 4);
  const read = async (id: string): Promise<string[]> => {
    const found: string[] = [];
    for await (const batch of opened.source.read(spec, { id }, READ)) {
      for (const t of batch.getChild("t") ?? []) found.push(String(t));
    }
    return found;
  };
  const [one = { id: "" }, two = { id: "" }, three = { id: "" }, four = { id: "" }] = planned;
  assert.equal((await read(one.id)).length, 1000);
  assert.equal((await read(two.id)).length, 1000);
  assert.equal((await read(three.id)).length, 1000);
  // The last one breaks.
  const broken = opened.source.read(spec, four, { ...READ, batchBytes: 100 })[Symbol.asyncIterator]();
  await broken.next();
  await broken.return?.();
  await server.sql("INSERT INTO divided SELECT i, 'new' FROM generate_series(3001, 9000) i; ANALYZE divided");
  const priorPartitions = planned.map(({ id }) => ({ id, isDone: id !== four.id }));
  const again = await Array.fromAsync(await opened.source.plan({ ...spec, priorPartitions }, NEVER));
  assert.deepEqual(again.map(({ id }) => id), planned.map(({ id }) => id));
  assert.deepEqual([...new Set(await read(four.id))], ["old"]);
  // All is read, so nothing holds the snapshot any more.
  const held = await server.sql(
    "SELECT count(*) FROM pg_stat_activity WHERE state = 'idle in transaction' AND query LIKE '%pg_export_snapshot%'",
  );
  assert.deepEqual(held, [["0"]]);
  await assert.rejects(read(four.id), /snapshot that the read was planned with is gone/);
});

Deno.test("a process that did not plan a divided read divides it as another one did, in a snapshot of its own", async () => {
  await using opened = new Opened(configOf(server));
  await server.sql("CREATE TABLE divided_later AS SELECT i AS id FROM generate_series(1, 4000) i");
  const spec = dataset("divided_later", { partition_column: "id", partitions: 3n });
  const planned = await Array.fromAsync(await opened.source.plan(spec, NEVER));
  await server.sql("INSERT INTO divided_later SELECT i FROM generate_series(4001, 100000) i");
  await using later = new Opened(configOf(server));
  const priorPartitions = planned.map(({ id }, index) => ({ id, isDone: index === 0 }));
  const again = await Array.fromAsync(await later.source.plan({ ...spec, priorPartitions }, NEVER));
  assert.deepEqual(again, planned);
  let count = 0;
  for (const partition of again.slice(1)) {
    for await (const batch of later.source.read(spec, partition, READ)) count += batch.numRows;
  }
  assert.equal(count, 100_000 - 1333);
  // Ids of another division, or of none, are not taken over.
  for (const id of ["{}", "nonsense", `{"column":"other"}`]) {
    const fresh = await Array.fromAsync(
      await later.source.plan({ ...spec, priorPartitions: [{ id, isDone: true }] }, NEVER),
    );
    assert.equal(fresh.length, 3);
  }
});
