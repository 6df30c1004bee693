import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import type { DuckDbConnection } from "../../../src/duckdb/mod.ts";
import { LEDGER_SETUP, openStaging, PartitionLedger, type Staging, transaction } from "../../../src/staging/mod.ts";
import { withStaging } from "./harness.ts";

const SHAPE = { columns: [{ name: "n", type: "INTEGER" }] };

async function withLedger(
  work: (connection: DuckDbConnection, ledger: () => Promise<PartitionLedger>, staging: Staging) => Promise<void>,
): Promise<void> {
  await withStaging(async (staging, connection) => {
    await staging.setup(LEDGER_SETUP);
    const look = async () => {
      const ledger = new PartitionLedger("ab-c", "t");
      await ledger.look(connection);
      return ledger;
    };
    await work(connection, look, staging);
  });
}

async function load(connection: DuckDbConnection, ledger: PartitionLedger, id: string, rows: number): Promise<void> {
  await transaction(connection, async () => {
    await connection.run(`INSERT INTO staging.t SELECT range FROM range(${rows})`);
    await ledger.complete(connection, id, rows);
  });
}

async function count(connection: DuckDbConnection, table = "staging.t"): Promise<number> {
  return Number(await connection.integer(`SELECT count(*) FROM ${table}`));
}

Deno.test("what is done and planned is found again, ids of any characters included", async () => {
  await withLedger(async (connection, look) => {
    const ids = ["it's", `{"a": "ä"}`, "with \0 in it", "", "x".repeat(10_000)];
    const first = await look();
    await first.begin(connection, SHAPE);
    await first.plan(connection, ids);
    for (const [index, id] of ids.entries()) if (index !== 1) await load(connection, first, id, index);
    const second = await look();
    await second.begin(connection, SHAPE);
    assert.deepEqual(second.planned, ids);
    assert.deepEqual([...second.done.keys()].sort(), [ids[0], ids[2], ids[3], ids[4]].sort());
    assert.equal(second.isComplete, false);
    await load(connection, second, ids[1] ?? "", 5);
    assert.equal((await look()).isComplete, true);
    assert.equal(await count(connection), 0 + 2 + 3 + 4 + 5);
  });
});

Deno.test("a load that is begun with other columns or another window begins anew", async () => {
  await withLedger(async (connection, look) => {
    const window = { lower: "1", upper: "2" };
    for (
      const [shape, isKept] of [
        [SHAPE, true],
        [{ columns: [{ name: "N", type: "INTEGER" }] }, false],
        [{ columns: [{ name: "n", type: "BIGINT" }] }, false],
        [{ ...SHAPE, window }, false],
      ] as const
    ) {
      const first = await look();
      await first.reset(connection);
      await first.begin(connection, SHAPE);
      await load(connection, first, "p", 3);
      const second = await look();
      await second.begin(connection, shape);
      assert.deepEqual([second.done.size, await count(connection)], isKept ? [1, 3] : [0, 0]);
    }
    const again = await look();
    await again.begin(connection, { ...SHAPE, window });
    await load(connection, again, "p", 3);
    const same = await look();
    await same.begin(connection, { ...SHAPE, window });
    assert.equal(same.done.size, 1);
    await same.begin(connection, { ...SHAPE, window: { lower: "1", upper: "3" } });
    assert.equal(same.done.size, 0);
    assert.deepEqual(await connection.rows("SELECT lower, upper FROM pz_meta.node_window"), [["1", "3"]]);
  });
});

Deno.test("a plan without a partition that is done forgets all rows", async () => {
  await withLedger(async (connection, look) => {
    const ledger = await look();
    await ledger.begin(connection, SHAPE);
    await ledger.plan(connection, ["a", "b"]);
    await load(connection, ledger, "a", 3);
    const later = await look();
    await later.plan(connection, ["a", "b", "c"]);
    assert.deepEqual([[...later.done.keys()], await count(connection)], [["a"], 3]);
    await later.plan(connection, ["b", "c"]);
    assert.deepEqual([later.done.size, later.planned, await count(connection)], [0, ["b", "c"], 0]);
  });
});

Deno.test("partitions that are loaded side by side are each there with their account", async () => {
  await withLedger(async (connection, look, staging) => {
    const ledger = await look();
    await ledger.begin(connection, SHAPE);
    const ids = Array.from({ length: 24 }, (_, index) => `p${index}`);
    await ledger.plan(connection, ids);
    const readers = await Promise.all(Array.from({ length: 4 }, () => staging.connect()));
    await Promise.all(readers.map(async (reader, index) => {
      for (const id of ids.filter((_, place) => place % 4 === index)) await load(reader, ledger, id, 1000);
    }));
    assert.deepEqual([(await look()).isComplete, await count(connection)], [true, 24_000]);
  });
});

Deno.test("a transaction that fails leaves neither rows nor an account of them", async () => {
  await withLedger(async (connection, look) => {
    const ledger = await look();
    await ledger.begin(connection, SHAPE);
    await assert.rejects(transaction(connection, async () => {
      await connection.run("INSERT INTO staging.t VALUES (1)");
      await ledger.complete(connection, "p", 1);
      await connection.run("SELECT error('no')");
    }));
    assert.deepEqual([(await look()).done.size, await count(connection)], [0, 0]);
  });
});

Deno.test("what can't be accounted for is told without the ids that stand in the statement", async () => {
  await withLedger(async (connection, look) => {
    const ledger = await look();
    await ledger.begin(connection, SHAPE);
    const error = await ledger.plan(connection, ["secret", "x"]).then(async () => {
      await connection.run("INSERT INTO pz_meta.partitions_planned VALUES ('ab-c', 2, 'y')");
      await connection.run("CREATE UNIQUE INDEX own ON pz_meta.partitions_done (rows)");
      await load(connection, ledger, "secret", 1);
      await load(connection, ledger, "secret too", 1);
    }).catch((error: unknown) => error);
    assert.match(String(error), /already has what is added/);
    assert.doesNotMatch(String(error), /secret/);
  });
});

/** Starts a process that loads and kills itself at a place; resolves when it is dead. */
async function loadAndDie(folder: string, point: string, partition: number): Promise<void> {
  const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));
  const { signal, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--quiet",
      "--no-prompt",
      "--cached-only",
      "--allow-all",
      "--config",
      path("../../../deno.json"),
      path("./ledger_child.ts"),
      folder,
      point,
      `${partition}`,
    ],
    stdin: "null",
    stdout: "null",
  }).output();
  assert.equal(signal, "SIGKILL", new TextDecoder().decode(stderr));
}

Deno.test("a process that is killed at any place leaves staging and its account of one mind", async () => {
  for (
    const [point, rows, done, checkpoint] of [
      ["rows", 1500, 1, undefined],
      ["checkpoint", 1500, 1, undefined],
      ["saved", 1500, 1, 1000],
      ["moved", 1500, 1, 1000],
      ["account", 1500, 1, 1000],
      ["done", 3000, 2, undefined],
    ] as const
  ) {
    const folder = await Deno.makeTempDir();
    try {
      await loadAndDie(folder, point, 1);
      await using staging = await openStaging({
        file: `${folder}/staging.duckdb`,
        memoryLimitBytes: 300_000_000,
        threads: 2,
        tempDirectory: `${folder}/spill`,
        allowedPaths: { files: [], folders: [] },
        preserveInsertionOrder: false,
      });
      using connection = await staging.connect();
      const ledger = new PartitionLedger("node", "t");
      await ledger.look(connection);
      await ledger.begin(connection, SHAPE);
      const found = [await count(connection), ledger.done.size, ledger.checkpoint("1")?.rows];
      assert.deepEqual(found, [rows, done, checkpoint], point);
      assert.deepEqual(ledger.planned, ["0", "1", "2"]);
      if (checkpoint !== undefined) {
        assert.equal(await count(connection, `staging.${ledger.partTable("1")}`), checkpoint);
      }
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  }
});
