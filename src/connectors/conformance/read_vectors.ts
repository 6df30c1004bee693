import type { RecordBatch } from "../../util/arrow.ts";
import type { Predicate } from "../contract/mod.ts";
import { withDeadline } from "../host/deadline.ts";
import type { OperationGate } from "../host/operation_gate.ts";
import { datasetToWire } from "../protocol/specs.ts";
import { collectRows, digestOf, type Rows, textsOf } from "./rows.ts";
import { expect, Skipped, type Vector } from "./target.ts";
import type { Trial } from "./trial.ts";

const NEVER = new AbortController().signal;
const BATCH_BYTES = 4096;

export const SCHEMA: Vector = {
  name: "schema-batch-equality",
  needs: "read",
  async run(trial) {
    const { rows, batches } = await trial.read();
    return rows.length === 0 ? "the dataset is empty" : `${rows.length} rows in ${batches} batches`;
  },
};

export const CANCELLATION: Vector = {
  name: "cancellation",
  needs: "read",
  async run(trial) {
    const spec = trial.dataset();
    const child = await trial.child();
    try {
      const planned = await child.open({ m: "PlanRead", spec: datasetToWire(spec) }, { isLimited: true }).answer();
      const partition = planned.find(({ m }) => m === "Partition");
      if (partition === undefined) throw new Skipped("no partitions");
      const request = {
        m: "OpenReadStream",
        spec: datasetToWire(spec),
        partition: partition["id"],
        batchBytes: BATCH_BYTES,
      };
      const call = child.open(request, { isLimited: true });
      const data = call.data();
      await data.next(); // the schema
      await data.next(); // rows, if there are any
      child.cancel(call, new DOMException("The suite stops the read", "AbortError"));
      expect(await withDeadline(call.settled.catch(() => {}), 5000), "it does not end within 5 s");
      expect(child.isAlive, "it does not end within 5 s");
    } finally {
      await child.close();
    }
  },
};

export const PARTITION_IDS: Vector = {
  name: "partition-id-stability",
  needs: "read",
  capability: "StablePartitionIds",
  async run(trial) {
    const plans = [trial.session, trial.session, trial.another()].map((session) =>
      session.planRead(trial.dataset(), NEVER)
    );
    const [first, second, other] = (await Promise.all(plans)).map((plan) => plan.map(({ id }) => id));
    expect(first !== undefined && first.length > 0, "no partitions");
    expect(JSON.stringify(first) === JSON.stringify(second), "a second plan has other ids");
    expect(JSON.stringify(first) === JSON.stringify(other), "another process plans other ids");
    return `${first?.length ?? 0} partitions`;
  },
};

export const SYNC_STATE: Vector = {
  name: "sync-state-roundtrip",
  needs: "read",
  capability: "SyncState",
  run: () => Promise.reject(new Skipped("this pz does not read feeds yet")),
};

export const DETERMINISTIC: Vector = {
  name: "read-is-deterministic",
  needs: "read",
  async run(trial) {
    const [first, second] = [await trial.read(), await trial.read()];
    expect(digestOf(first.rows) === digestOf(second.rows), "a second read gives other rows");
  },
};

export const PARTITIONS: Vector = {
  name: "partitions-make-up-the-whole",
  needs: "read",
  capability: "PartitionedRead",
  async run(trial) {
    const spec = trial.dataset();
    const schema = await trial.session.getSchema(spec, NEVER);
    const partitions = await trial.session.planRead(spec, NEVER);
    const parts = await Promise.all(
      partitions.map((partition) =>
        collectRows(schema, [trial.session.read(spec, partition, { batchBytes: BATCH_BYTES, signal: NEVER })])
      ),
    );
    const whole = await trial.read({ session: trial.another() });
    expect(digestOf(parts.flatMap(({ rows }) => rows)) === digestOf(whole.rows), "side by side they give other rows");
    return `${partitions.length} at once`;
  },
};

export const PRUNING: Vector = {
  name: "column-pruning",
  needs: "read",
  capability: "ColumnPruning",
  async run(trial) {
    const all = await trial.read();
    const names = all.schema.fields.map(({ name }) => name);
    const wanted = names.length < 2 ? names : [names.at(-1) ?? "", names[0] ?? ""];
    const pruned = await trial.read({ hints: { columns: wanted } });
    const got = pruned.schema.fields.map(({ name }) => name);
    expect(
      JSON.stringify(got) === JSON.stringify(wanted),
      "the batches hold other columns than the hint, or in another order",
    );
    const expected = all.rows.map((row) => wanted.map((name) => row[names.indexOf(name)] ?? ""));
    expect(digestOf(expected) === digestOf(pruned.rows), "the columns hold other values than without the hint");
    return `${wanted.length} of ${names.length} columns`;
  },
};

/** A column of whole numbers without NULL, and its values. */
type Cursor = { readonly name: string; readonly index: number; readonly values: readonly bigint[] };

export const PUSHDOWN: Vector = {
  name: "predicate-pushdown",
  needs: "read",
  capability: "PredicatePushdown",
  async run(trial) {
    const all = await trial.read();
    const { name, index, values } = cursorOf(all);
    const middle = values[values.length >> 1] ?? 0n;
    const value = { type: "BIGINT", text: middle.toString() };
    for (const op of ["=", "<>", "<", "<=", ">", ">="] as const) {
      if (trial.target.connector.predicateOperators?.has(op) === false) continue;
      const found = await trial.read({ hints: { predicate: { op, column: name, value } } });
      const matches = all.rows.filter((row) => compare(op, BigInt(row[index] ?? "0"), middle));
      const kept = found.rows.filter((row) => compare(op, BigInt(row[index] ?? "0"), middle));
      expect(digestOf(matches) === digestOf(kept), `rows are lost by ${op}`);
      const known = new Set(all.rows.map((row) => JSON.stringify(row)));
      expect(found.rows.every((row) => known.has(JSON.stringify(row))), `${op} gives rows that are not there`);
    }
    return "no row is lost";
  },
};

export const BOUNDED: Vector = {
  name: "bounded-window",
  needs: "read",
  capability: "BoundedWindow",
  async run(trial) {
    needsPushdown(trial);
    const all = await trial.read();
    const { name, index, values } = cursorOf(all);
    const [lower, upper] = [values[values.length >> 2] ?? 0n, values[(values.length * 3) >> 2] ?? 0n];
    const bound = (op: "<=" | ">", value: bigint): Predicate => ({
      op,
      column: name,
      value: { type: "BIGINT", text: value.toString() },
    });
    const found = await trial.read({
      hints: { predicate: { op: "and", args: [bound(">", lower), bound("<=", upper)] } },
    });
    const inside = all.rows.filter((row) => BigInt(row[index] ?? "0") > lower && BigInt(row[index] ?? "0") <= upper);
    expect(found.rows.every((row) => BigInt(row[index] ?? "0") <= upper), "rows beyond the upper bound come");
    const kept = found.rows.filter((row) => BigInt(row[index] ?? "0") > lower);
    expect(digestOf(kept) === digestOf(inside), "rows within the bounds are missing");
  },
};

export const INCLUSIVE: Vector = {
  name: "inclusive-watermark-bound",
  needs: "read",
  capability: "InclusiveWatermarkBound",
  async run(trial) {
    needsPushdown(trial);
    const all = await trial.read();
    const { name, index, values } = cursorOf(all);
    const lower = values[values.length >> 1] ?? 0n;
    const predicate: Predicate = { op: ">=", column: name, value: { type: "BIGINT", text: lower.toString() } };
    const found = await trial.read({ hints: { predicate } });
    expect(found.rows.some((row) => BigInt(row[index] ?? "0") === lower), "the row at the bound is missing");
  },
};

export const CHECKPOINTS: Vector = {
  name: "checkpoint-resume",
  needs: "read",
  capability: "CheckpointableReads",
  async run(trial) {
    const { session } = trial;
    const spec = trial.dataset();
    const options = { batchBytes: BATCH_BYTES, signal: NEVER };
    let tried = 0;
    for (
      const partition of (await session.planRead(spec, NEVER)).filter(({ checkpointing }) => checkpointing === true)
    ) {
      const reading = session.read(spec, partition, options);
      const batches: string[][][] = [];
      let token: string | undefined;
      let split = 0;
      // Whether there is a token behind a batch is known once something has come after it.
      const look = () => {
        if (token !== undefined || batches.length === 0) return;
        token = reading.checkpointAfter(batches.length);
        split = batches.length;
      };
      for await (const batch of reading) {
        look();
        batches.push(textsOf(batch));
      }
      look();
      const before = batches.slice(0, split).flat();
      const after = batches.slice(split).flat();
      if (token === undefined) continue;
      tried++;
      const rest = await rowsOf(session.read(spec, partition, { ...options, resumeFrom: token }));
      expect(
        digestOf(rest) === digestOf(after),
        "a read that goes on gives other rows than those after its checkpoint",
      );
      const garbage = session.read(spec, partition, { ...options, resumeFrom: "pz-conformance-garbage" });
      const anew = await rowsOf(garbage);
      expect(garbage.resumed === false, "a token that is none is accepted");
      expect(digestOf(anew) === digestOf([...before, ...after]), "after a token that is none, rows are missing");
    }
    if (tried === 0) throw new Skipped("no partition of the dataset gives checkpoints");
    return `${tried} partitions`;
  },
};

export const GATED_READS: Vector = {
  name: "reads-go-through-the-gate",
  needs: "read",
  capability: "GatedOperations",
  async run(trial) {
    const counting = new CountingGate();
    await trial.read({ gate: counting });
    return counting.verdict();
  },
};

/** A gate that counts what goes through it and lets it go. */
export class CountingGate implements OperationGate {
  readonly #labels = new Map<string, number>();

  async execute(
    { label }: Parameters<OperationGate["execute"]>[0],
    attempt: Parameters<OperationGate["execute"]>[1],
  ): ReturnType<OperationGate["execute"]> {
    this.#labels.set(label, (this.#labels.get(label) ?? 0) + 1);
    return await attempt();
  }

  reportBudget(): void {}

  /** What came. @throws {Error} for nothing, or for labels that could hold values */
  verdict(): string {
    expect(this.#labels.size > 0, "no request to the system asks for its turn");
    const odd = [...this.#labels.keys()].filter((label) => !/^[A-Za-z][A-Za-z0-9_.-]*$/.test(label));
    expect(odd.length === 0 && this.#labels.size <= 50, "labels of operations are no fixed words");
    return [...this.#labels].map(([label, count]) => `${count} ${label}`).join(", ");
  }
}

async function rowsOf(reading: AsyncIterable<RecordBatch>): Promise<string[][]> {
  const rows: string[][] = [];
  for await (const batch of reading) rows.push(...textsOf(batch));
  return rows;
}

/** Bounds travel as a predicate. @throws {Skipped} where the connector gets none */
function needsPushdown({ target }: Trial): void {
  if (!target.connector.capabilities.has("PredicatePushdown")) throw new Skipped("pz itself bounds its rows");
}

/** @throws {Skipped} where there is no such column with several values */
function cursorOf({ schema, rows }: Rows): Cursor {
  for (const [index, { name, type }] of schema.fields.entries()) {
    if (!/^U?[Ii]nt\d+$/.test(String(type)) || rows.some((row) => row[index] === "NULL")) continue;
    const values = [...new Set(rows.map((row) => BigInt(row[index] ?? "0")))].sort((a, b) => a < b ? -1 : 1);
    if (values.length >= 4) return { name, index, values };
  }
  throw new Skipped("the dataset has no column of whole numbers with four different values and no NULL");
}

function compare(op: "=" | "<>" | "<" | "<=" | ">" | ">=", left: bigint, right: bigint): boolean {
  switch (op) {
    case "=":
      return left === right;
    case "<>":
      return left !== right;
    case "<":
      return left < right;
    case "<=":
      return left <= right;
    case ">":
      return left > right;
    case ">=":
      return left >= right;
  }
}
