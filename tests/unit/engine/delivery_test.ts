import assert from "node:assert/strict";
import { ConnectorError, type WriteHandle } from "../../../src/connectors/mod.ts";
import type { RunServices } from "../../../src/engine/mod.ts";
import { openStaging, type StagingOptions } from "../../../src/staging/mod.ts";
import type { RecordBatch } from "../../../src/util/arrow.ts";
import { SMALL, universalSink } from "./fake_sink.ts";
import { Bench, type FixtureRun, pipeline } from "./fixture.ts";
import { fakeSession } from "./session_support.ts";

type Row = readonly [number, string];

/** A destination that keeps each batch for good as soon as it has it, and fails when it has so many rows. */
class Endpoint {
  rows: Row[] = [];
  failAt: number | undefined;
  /** How many of a failing batch's rows it has kept all the same, without a word. */
  silently = 0;
  accepts = true;
  /** Where each write began. */
  readonly from: bigint[] = [];
  options: StagingOptions | undefined;

  get services(): RunServices {
    return {
      openStaging: (options) => {
        this.options = options;
        return openStaging(options);
      },
      random: () => 0,
      openSession: () =>
        fakeSession({ beginWrite: (_spec, _schema, _signal, told) => Promise.resolve(this.#begin(told)) }),
    };
  }

  /** Rows in the order of their arrival that came more than once. */
  get doubles(): number {
    return this.rows.length - new Set(this.rows.map(String)).size;
  }

  async staged(sql: string): Promise<readonly (readonly (string | null)[])[]> {
    if (this.options === undefined) return assert.fail("no run yet");
    await using staging = await openStaging(this.options);
    using own = await staging.connect();
    return await own.rows(sql);
  }

  #begin(told: ((rows: bigint) => Promise<void>) | undefined): WriteHandle {
    let acknowledged = 0n;
    const place = this.from.push(0n) - 1;
    return {
      abortSemantics: "none",
      provesAttempt: false,
      get acknowledgedRows() {
        return acknowledged;
      },
      write: async (batch) => {
        const rows = rowsOf(batch);
        if (this.failAt !== undefined && this.rows.length + rows.length > this.failAt) {
          this.rows.push(...rows.slice(0, this.silently));
          this.failAt = undefined;
          throw new ConnectorError("closed", { transient: true });
        }
        this.rows.push(...rows);
        acknowledged += BigInt(rows.length);
        await told?.(acknowledged);
      },
      applyDeletes: () => Promise.reject(new Error("no deletes are expected")),
      resumeFrom: (rows) => {
        if (!this.accepts) return Promise.resolve(false);
        acknowledged = rows;
        this.from[place] = rows;
        return Promise.resolve(true);
      },
      commit: () => Promise.resolve({ rows: acknowledged, batches: 1 }),
      abort: () => Promise.resolve(),
    };
  }
}

function rowsOf(batch: RecordBatch): Row[] {
  return Array.from({ length: batch.numRows }, (_, index): Row => [
    Number(batch.getChild("n")?.get(index)),
    String(batch.getChild("s")?.get(index)),
  ]);
}

const PLAN = { ...SMALL, resumable: true } as const;

function nodes(sql: string, attempts = 2): Parameters<Bench["run"]>[0] {
  const write = { strategy: "append" } as const;
  return [pipeline("t", sql), universalSink("t", { plan: PLAN, write, retry: { maxAttempts: attempts } })];
}

/** Five thousand rows, in any order. */
const ROWS = "SELECT range::INTEGER AS n, 'x' || range AS s FROM range(5000) ORDER BY random()";
const UNORDERED = `SELECT * FROM (${ROWS})`;

function warnings({ events }: FixtureRun): readonly string[] {
  return events.flatMap((event) => event.event === "connector_log" ? [event.message] : []);
}

Deno.test("a delivery that broke goes on behind what the destination has confirmed", async () => {
  await using bench = await Bench.create();
  const endpoint = new Endpoint();
  endpoint.failAt = 3000;
  const run = await bench.run(nodes(UNORDERED), { services: endpoint.services });
  const [, sink] = run.receipt.nodes;
  assert.deepEqual([sink?.error, sink?.rows, sink?.attempts], [null, 5000, 2]);
  assert.deepEqual([endpoint.rows.length, endpoint.doubles], [5000, 0]);
  const from = Number(endpoint.from[1]);
  assert.ok(from > 2000 && from < 3000, `${from}`);
  assert.deepEqual(sink?.delivery, { abort_semantics: "none", rows_visible: 5000, resumed_rows: from });
  const end = run.events.find((event) => event.event === "node_completed" && event.kind === "SinkWrite");
  assert.equal(end?.event === "node_completed" ? end.delivery?.resumedRows : undefined, from);
  // The order is that of the content.
  assert.deepEqual(endpoint.rows.map(([n]) => n), Array.from({ length: 5000 }, (_, n) => n));
  assert.deepEqual(warnings(run), []);
});

Deno.test("a later run goes on too, although its pipeline puts the rows in another order", async () => {
  await using bench = await Bench.create();
  const endpoint = new Endpoint();
  endpoint.failAt = 3000;
  const failed = await bench.run(nodes(UNORDERED, 1), { services: endpoint.services });
  const visible = endpoint.rows.length;
  assert.deepEqual(failed.receipt.nodes[1]?.delivery, {
    abort_semantics: "none",
    rows_visible: visible,
    resumed_rows: 0,
  });
  const { receipt } = await bench.run(nodes(UNORDERED, 1), { services: endpoint.services });
  assert.deepEqual([receipt.nodes[1]?.error, endpoint.rows.length, endpoint.doubles], [null, 5000, 0]);
  assert.equal(receipt.nodes[1]?.delivery?.resumed_rows, visible);
  // And a run after that one has nothing left to send.
  const again = await bench.run(nodes(UNORDERED, 1), { services: endpoint.services });
  assert.deepEqual([again.receipt.nodes[1]?.rows, endpoint.rows.length], [5000, 5000]);
});

Deno.test("only what was confirmed is passed over, not what was sent", async () => {
  await using bench = await Bench.create();
  const endpoint = new Endpoint();
  endpoint.failAt = 3000;
  endpoint.silently = 10;
  await bench.run(nodes(UNORDERED), { services: endpoint.services });
  assert.deepEqual([endpoint.rows.length, endpoint.doubles], [5010, 10]);
});

for (
  const [title, other] of [
    ["a value", UNORDERED.replace("'x' || range", "if(range = 4999, 'y', 'x' || range)")],
    ["a row more", `SELECT * FROM (${ROWS}) UNION ALL SELECT 5000, 'x5000'`],
    ["a name", `SELECT n, s, s AS more FROM (${ROWS})`],
    ["a type", `SELECT n::BIGINT AS n, s FROM (${ROWS})`],
    ["a row twice in place of another", `SELECT * FROM (${ROWS}) WHERE n <> 7 UNION ALL SELECT 8, 'x8'`],
  ] as const
) {
  Deno.test(`rows that have changed since are delivered from the first on, and it is said: ${title}`, async () => {
    await using bench = await Bench.create();
    const endpoint = new Endpoint();
    endpoint.failAt = 3000;
    await bench.run(nodes(UNORDERED, 1), { services: endpoint.services });
    const before = endpoint.rows.length;
    endpoint.rows = [];
    const run = await bench.run(nodes(other, 1), { services: endpoint.services });
    assert.equal(run.receipt.nodes[1]?.error, null);
    assert.deepEqual([endpoint.rows.length, endpoint.from.at(-1)], [run.receipt.nodes[1]?.rows, 0n]);
    assert.deepEqual(warnings(run), [
      `'lake.t' is delivered from its first row on: its rows are others than those of which ${before} were delivered ` +
      "before",
    ]);
  });
}

Deno.test("a destination that does not go on gets all rows again", async () => {
  await using bench = await Bench.create();
  const endpoint = new Endpoint();
  endpoint.failAt = 3000;
  endpoint.accepts = false;
  const run = await bench.run(nodes(UNORDERED), { services: endpoint.services });
  const first = endpoint.rows.length - 5000;
  assert.ok(first > 2000, `${first}`);
  assert.deepEqual([endpoint.from, run.receipt.nodes[1]?.delivery], [[0n, 0n], undefined]);
  assert.deepEqual(warnings(run), [
    `'lake.t' is delivered from its first row on: its connector does not go on after ${first} delivered row(s)`,
  ]);
});

Deno.test("an order that was asked for stays, and counts as content", async () => {
  await using bench = await Bench.create();
  const descending = "SELECT range::INTEGER AS n, 'x' || range AS s FROM range(5000) ORDER BY n DESC";
  const endpoint = new Endpoint();
  endpoint.failAt = 3000;
  await bench.run(nodes(descending, 1), { services: endpoint.services });
  await bench.run(nodes(descending, 1), { services: endpoint.services });
  assert.deepEqual(endpoint.rows.map(([n]) => n), Array.from({ length: 5000 }, (_, n) => 4999 - n));
  assert.ok((endpoint.from[1] ?? 0n) > 0n);
  endpoint.failAt = 8000;
  const ascending = descending.replace(" DESC", "");
  await bench.run(nodes(ascending, 1), { services: endpoint.services });
  assert.equal(endpoint.from[2], 0n);
});

Deno.test("each confirmation is on disk before the destination gets more", async () => {
  await using bench = await Bench.create();
  const endpoint = new Endpoint();
  endpoint.failAt = 3000;
  await bench.run(nodes(UNORDERED, 1), { services: endpoint.services });
  const rows = await endpoint.staged("SELECT node_id, acknowledged_rows, relation_count FROM pz_meta.sink_deliveries");
  assert.deepEqual(rows, [["id-lake.t", String(endpoint.rows.length), "5000"]]);
});
