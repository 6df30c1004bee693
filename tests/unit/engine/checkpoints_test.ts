import assert from "node:assert/strict";
import type { RunServices } from "../../../src/engine/mod.ts";
import { openStaging, type StagingOptions } from "../../../src/staging/mod.ts";
import type { RecordBatch } from "../../../src/util/arrow.ts";
import { openServed } from "../connectors/host/served_support.ts";
import { Bench, connection, type FixtureRun, pipeline, source } from "./fixture.ts";
import { batch, SCHEMA, transient } from "./parts_support.ts";
import { fakeSession } from "./session_support.ts";

/** So many rows that after each batch it is time for a checkpoint. */
const ROWS = 50_000;
const BATCHES = 4;

type Asked = { readonly id: string; readonly from: string | undefined };

/** One partition of four batches, of which tokens tell how many are behind it. */
class Pages {
  readonly asked: Asked[] = [];
  readonly given: number[] = [];
  /** Batches that fail the first time that they are asked for; the number after the last one is the end. */
  readonly failing: Set<number>;
  accepts = true;
  /** Behind which batches there is a checkpoint. */
  checkpoints: readonly number[] = [1, 2, 3];
  options: StagingOptions | undefined;

  constructor(...failing: readonly number[]) {
    this.failing = new Set(failing);
  }

  get services(): RunServices {
    return {
      openStaging: (options) => {
        this.options = options;
        return openStaging(options);
      },
      random: () => 0,
      openSession: () =>
        fakeSession({
          getSchema: () => Promise.resolve(SCHEMA),
          planRead: () => Promise.resolve([{ id: "the secret's id", checkpointing: true }]),
          read: (_spec, { id }, { resumeFrom }) => {
            this.asked.push({ id, from: resumeFrom });
            const resumed = resumeFrom === undefined ? undefined : this.accepts;
            const start = resumed === true ? Number(resumeFrom?.split(" ")[1]) : 0;
            return Object.assign(this.#read(start), {
              resumed,
              checkpointAfter: (batches: number) =>
                this.checkpoints.includes(start + batches) ? `token ${start + batches}` : undefined,
            });
          },
        }),
    };
  }

  async *#read(start: number): AsyncGenerator<RecordBatch> {
    for (let index = start; index <= BATCHES; index++) {
      if (this.failing.delete(index)) throw transient();
      if (index === BATCHES) return;
      this.given.push(index);
      yield await Promise.resolve(batch(index * ROWS, ROWS));
    }
  }

  /** Changes what an earlier run has staged. */
  async tamper(sql: string): Promise<void> {
    if (this.options === undefined) return assert.fail("no run yet");
    await using staging = await openStaging(this.options);
    using own = await staging.connect();
    await own.run(sql);
  }

  async rows(sql: string): Promise<readonly (readonly (string | null)[])[]> {
    if (this.options === undefined) return assert.fail("no run yet");
    await using staging = await openStaging(this.options);
    using own = await staging.connect();
    return await own.rows(sql);
  }
}

function nodes(attempts = 2): Parameters<Bench["run"]>[0] {
  const retry = { maxAttempts: attempts, baseDelayMs: 1, maxDelayMs: 1 };
  return [
    source("one", { strategy: "arrow_stream", stablePartitions: true }, { connection: connection("raw", { retry }) }),
    pipeline("all", "SELECT n FROM staging.one", ["one"]),
    pipeline("distinct", "SELECT DISTINCT n FROM staging.one", ["one"]),
  ];
}

function assertWhole({ receipt }: FixtureRun): void {
  const all = ROWS * BATCHES;
  assert.deepEqual(receipt.nodes.map(({ error, rows }) => [error, rows]), [[null, all], [null, all], [null, all]]);
}

const PART_TABLES = "SELECT table_name FROM duckdb_tables() WHERE starts_with(table_name, '__pz')";

Deno.test("a read that breaks goes on behind the last batch that it gave", async () => {
  await using bench = await Bench.create();
  const pages = new Pages(2);
  const run = await bench.run(nodes(), { services: pages.services });
  assertWhole(run);
  assert.deepEqual(pages.asked.map(({ from }) => from), [undefined, "token 2"]);
  assert.deepEqual(pages.given, [0, 1, 2, 3]);
  assert.deepEqual(run.receipt.nodes[0]?.partitions, { total: 1, completed: 1, reused: 0, resumed: 1 });
  assert.deepEqual(await pages.rows(PART_TABLES), []);
  assert.deepEqual(await pages.rows("SELECT count(*) FROM pz_meta.partition_checkpoints"), [["0"]]);
});

Deno.test("a read that breaks at its very end has nothing left to read but the end", async () => {
  await using bench = await Bench.create();
  const pages = new Pages(BATCHES);
  pages.checkpoints = [4];
  assertWhole(await bench.run(nodes(), { services: pages.services }));
  assert.deepEqual(pages.given, [0, 1, 2, 3]);
});

Deno.test("without a checkpoint behind the last batch the read goes on behind the last one that is staged", async () => {
  await using bench = await Bench.create();
  const pages = new Pages(3);
  pages.checkpoints = [1];
  assertWhole(await bench.run(nodes(), { services: pages.services }));
  assert.deepEqual(pages.given, [0, 1, 2, 1, 2, 3]);
});

Deno.test("a token that the connector does not take back is forgotten, with the rows before it", async () => {
  await using bench = await Bench.create();
  const pages = new Pages(3);
  pages.accepts = false;
  const run = await bench.run(nodes(), { services: pages.services });
  assertWhole(run);
  assert.deepEqual(pages.given, [0, 1, 2, 0, 1, 2, 3]);
  assert.equal(run.receipt.nodes[0]?.partitions, undefined);
});

for (
  const [title, damage] of [
    ["a part that lost rows", "DELETE FROM staging.$part WHERE n = 7"],
    ["a part that is gone", "DROP TABLE staging.$part"],
    ["an account that is gone", "DELETE FROM pz_meta.partition_checkpoints"],
    ["a main table that is gone", "DROP TABLE staging.one"],
  ] as const
) {
  Deno.test(`the read begins anew where staging and its account disagree: ${title}`, async () => {
    await using bench = await Bench.create();
    const pages = new Pages(3);
    await bench.run(nodes(1), { services: pages.services });
    const [[part] = []] = await pages.rows(PART_TABLES);
    await pages.tamper(damage.replace("$part", part ?? ""));
    assertWhole(await bench.run(nodes(1), { services: pages.services }));
    assert.deepEqual(pages.asked.map(({ from }) => from), [undefined, undefined]);
    assert.deepEqual(await pages.rows(PART_TABLES), []);
  });
}

Deno.test("a later run goes on, and leaves what belongs to other nodes alone", async () => {
  await using bench = await Bench.create();
  const pages = new Pages(3);
  await bench.run(nodes(1), { services: pages.services });
  await pages.tamper(
    "CREATE TABLE staging.__pz_part__idtwo__1 (n INTEGER);CREATE TABLE staging.__pz_part__idone__1 (n INT)",
  );
  assertWhole(await bench.run(nodes(1), { services: pages.services }));
  assert.deepEqual(pages.given, [0, 1, 2, 3]);
  assert.deepEqual(await pages.rows(PART_TABLES), [["__pz_part__idtwo__1"]]);
});

Deno.test("neither ids nor tokens stand anywhere but in pz_meta", async () => {
  await using bench = await Bench.create();
  const pages = new Pages(1, 2, 3);
  const failed = await bench.run(nodes(2), { services: pages.services });
  assert.equal(failed.receipt.nodes[0]?.status, "failed");
  const [[part] = []] = await pages.rows(PART_TABLES);
  assert.match(part ?? "", /^__pz_part__idone__[0-9a-f]{16}$/);
  const shown = JSON.stringify([failed.events, failed.receipt, failed.journal, failed.warnings, part]);
  assert.doesNotMatch(shown, /secret|token/);
  assert.deepEqual(await pages.rows("SELECT partition_id, checkpoint FROM pz_meta.partition_checkpoints"), [
    ["the secret's id", "token 2"],
  ]);
});

Deno.test("a connector's process resumes what it was asked to, partition by partition", async () => {
  await using bench = await Bench.create();
  const services: RunServices = { openStaging, openSession: () => openServed() };
  const load = (fail: string) => [
    source("one", { strategy: "arrow_stream", stablePartitions: true, streamsPartitions: true }, {
      connection: connection("raw"),
      read: { options: { fail }, retry: { maxAttempts: 1 } },
    }),
    pipeline("all", "SELECT DISTINCT n FROM staging.one", ["one"]),
  ];
  const failed = await bench.run(load("after four"), { services });
  assert.match(failed.receipt.nodes[0]?.error?.message ?? "", /^2 of 2 partitions failed; first: lost/);
  const { receipt } = await bench.run(load("never"), { services });
  assert.deepEqual(receipt.nodes.map(({ error, rows }) => [error, rows]), [[null, 12], [null, 6]]);
  // The second partition gives no checkpoints.
  assert.deepEqual(receipt.nodes[0]?.partitions, { total: 2, completed: 2, reused: 0, resumed: 1 });
});
