import { ConnectorError, type OutputSpec } from "../contract/mod.ts";
import { withDeadline } from "../host/deadline.ts";
import { ArrowFrames } from "../protocol/arrow_frames.ts";
import { DATA_CREDITS } from "../protocol/messages.ts";
import { outputToWire } from "../protocol/specs.ts";
import { CountingGate } from "./read_vectors.ts";
import { digestOf, factBatch, factSchema, numbers, type Rows } from "./rows.ts";
import { expect, Skipped, type Vector } from "./target.ts";
import type { Trial } from "./trial.ts";

const NEVER = new AbortController().signal;

export const SESSION_RULES: Vector = {
  name: "commit-abort-session-rules",
  needs: "write",
  async run(trial) {
    const result = await trial.write(trial.output(), factSchema(), [factBatch(numbers(0, 5))]);
    expect(result.rows === 5n, `commit reports ${result.rows} rows in place of 5`);
    const handle = await trial.session.beginWrite(trial.output(), factSchema(), NEVER);
    await handle.write(factBatch(numbers(0, 5)), NEVER);
    await handle.abort();
    await earlyCommit(trial, trial.output());
  },
};

/** A commit before the end of the data must not succeed. */
async function earlyCommit(trial: Trial, spec: OutputSpec): Promise<void> {
  const child = await trial.child();
  try {
    let committed = false;
    const call = child.open({ m: "BeginWrite", spec: outputToWire(spec) }, {
      isLimited: true,
      listener: { message: ({ m }) => committed ||= m === "WriteResult", credit: () => {} },
    });
    for (const frame of new ArrowFrames(call.stream, factSchema()).start()) child.send(call, frame);
    child.send(call, { m: "CommitWrite" });
    await withDeadline(call.settled.catch(() => {}), 3000);
    expect(!committed, "a commit before the end of the data succeeds");
    if (!call.isSettled) child.send(call, { m: "AbortWrite" });
    await withDeadline(call.settled.catch(() => {}), 10_000);
    expect(!committed, "a commit before the end of the data succeeds");
  } finally {
    await child.close();
  }
}

export const COMMIT: Vector = {
  name: "commit-persists-all-batches",
  needs: "write",
  async run(trial) {
    const before = await former(trial);
    const batches = [numbers(0, 50), numbers(50, 100), numbers(100, 150)].map((ids) => factBatch(ids));
    const spec = trial.output();
    const result = await trial.write(spec, factSchema(), batches);
    expect(result.rows === 150n, `commit reports ${result.rows} rows in place of 150`);
    if (trial.target.write?.readBack === undefined) return "reported only: no read_back: in write:";
    const after = pairs(await trial.readBack());
    if (spec.mode === "append") expect(after.length === before.length + 150, "rows are missing or come twice");
    else expect(sameFacts(after, facts(numbers(0, 150))), "other rows come back than were written");
    return `${after.length} rows come back`;
  },
};

export const ABORT: Vector = {
  name: "abort-discards-everything",
  needs: "write",
  async run(trial) {
    trial.readable();
    const before = await former(trial);
    const handle = await trial.session.beginWrite(trial.output(), factSchema(), NEVER);
    // More than may be on their way, so that some have been written when the abort comes.
    for (let first = 1000; first < 1000 + 50 * 2 * DATA_CREDITS; first += 50) {
      await handle.write(factBatch(numbers(first, first + 50)), NEVER);
    }
    await handle.abort();
    if (handle.abortSemantics !== "discards_all") throw new Skipped(`its abort is ${handle.abortSemantics}`);
    expect(digestOf(before) === digestOf(await former(trial)), "after an abort other rows are there than before");
  },
};

export const REPLACE: Vector = {
  name: "replace-overwrites",
  needs: "write",
  capability: "ReplaceWrites",
  async run(trial) {
    trial.readable();
    const replace = () => trial.output({ mode: "replace", keys: [] });
    await trial.write(replace(), factSchema(), [factBatch(numbers(0, 10))]);
    await trial.write(replace(), factSchema(), [factBatch(numbers(0, 5))]);
    expect(
      sameFacts(pairs(await trial.readBack()), facts(numbers(0, 5))),
      "after 10 rows and then 5 there are not those 5",
    );
    await trial.write(replace(), factSchema(), []);
    expect((await trial.readBack()).rows.length === 0, "an empty write leaves rows");
  },
};

export const MERGE: Vector = {
  name: "merge-upserts-by-keys",
  needs: "write",
  capability: "Merge",
  async run(trial) {
    await prepareMerge(trial);
    await trial.write(merge(trial), factSchema(), [factBatch(numbers(5, 15), "new")]);
    const expected = [...facts(numbers(0, 5)), ...facts(numbers(5, 15), "new")];
    expect(
      sameFacts(pairs(await trial.readBack()), expected),
      "after 10 rows and 10 more of which 5 are new, there are others",
    );
  },
};

export const MERGE_TWICE: Vector = {
  name: "merge-is-idempotent",
  needs: "write",
  capability: "Merge",
  async run(trial) {
    await prepareMerge(trial);
    for (let time = 0; time < 2; time++) {
      await trial.write(merge(trial), factSchema(), [factBatch(numbers(5, 15), "new")]);
    }
    expect((await trial.readBack()).rows.length === 15, "merging twice gives other rows than merging once");
  },
};

export const MERGE_DUPLICATES: Vector = {
  name: "merge-duplicates-in-one-write",
  needs: "write",
  capability: "Merge",
  async run(trial) {
    await prepareMerge(trial);
    const batches = [factBatch([3], "first"), factBatch([3], "last")];
    try {
      await trial.write(merge(trial), factSchema(), batches);
    } catch (error) {
      expect(error instanceof ConnectorError && error.code !== "PZ0358", "two rows of one key end the process");
      return "refused";
    }
    const found = pairs(await trial.readBack()).filter(([id]) => id === "3").map(([, name]) => name);
    expect(JSON.stringify(found) === JSON.stringify(['"last 3"']), "of two rows of one key not the last one stays");
    return "the last one stays";
  },
};

export const MERGE_KEY: Vector = {
  name: "merge-without-its-key-column",
  needs: "write",
  capability: "Merge",
  async run(trial) {
    const spec = trial.output({ mode: "merge", keys: ["pz_missing_key"] });
    try {
      const handle = await trial.session.beginWrite(spec, factSchema(), NEVER);
      await handle.abort();
    } catch (error) {
      const isClean = error instanceof ConnectorError && error.code !== "PZ0358" && !error.transient;
      const isOption = isClean && error.code === "PZ0301" && !error.message.includes("pz_missing_key");
      if (isOption) throw new Skipped(`the output can't be merged into: ${error.message}`);
      expect(isClean && error.message.includes("pz_missing_key"), "the error does not name the key that is missing");
      return;
    }
    throw new Error("a write whose rows lack the key begins");
  },
};

export const ENDED: Vector = {
  name: "commit-after-the-end-is-ignored",
  needs: "write",
  async run(trial) {
    const child = await trial.child();
    try {
      const batch = factBatch(numbers(0, 5));
      let results = 0;
      const call = child.open({ m: "BeginWrite", spec: outputToWire(trial.output()) }, {
        isLimited: true,
        listener: {
          message(message) {
            if (message.m === "WriteResult") results++;
            if (message.m !== "WriteAck" || message["awaited"] !== true) return;
            child.send(call, { m: "AckStored", rows: message["rows"], isKept: true });
          },
          credit: () => {},
        },
      });
      const encoder = new ArrowFrames(call.stream, batch.schema);
      const frames = [...encoder.start(), ...encoder.batch(batch), ...encoder.finish()];
      for (const frame of frames) child.send(call, frame);
      child.send(call, { m: "EndOfData", frames: frames.length });
      child.send(call, { m: "CommitWrite" });
      await call.settled;
      for (const late of ["CommitWrite", "AbortWrite", "Cancel"]) child.send(call, { m: late });
      await child.open({ m: "Handshake", protocolMajor: 1, runId: "conformance" }, { isLimited: true }).answer();
      expect(results === 1 && child.isAlive, "a second commit has an effect");
    } finally {
      await child.close();
    }
  },
};

export const CHECKPOINTED: Vector = {
  name: "acknowledged-prefix-resumes",
  needs: "write",
  capability: "CheckpointableWrites",
  async run(trial) {
    trial.readable();
    const spec = trial.output();
    const first = await trial.session.beginWrite(spec, factSchema(), NEVER);
    await first.write(factBatch(numbers(0, 50)), NEVER);
    const acknowledged = first.acknowledgedRows;
    await first.abort();
    expect(acknowledged >= 0n && acknowledged <= 50n, `it acknowledges ${acknowledged} of 50 rows`);
    const second = await trial.session.beginWrite(spec, factSchema(), NEVER);
    const from = await second.resumeFrom(acknowledged, NEVER) ? Number(acknowledged) : 0;
    await second.write(factBatch(numbers(from, 100)), NEVER);
    await second.commit();
    const ids = new Set(pairs(await trial.readBack()).map(([id]) => id));
    expect(numbers(0, 100).every((id) => ids.has(String(id))), "rows are missing after a write that was resumed");
    return `resumed after ${from} rows`;
  },
};

export const GATED_WRITES: Vector = {
  name: "writes-go-through-the-gate",
  needs: "write",
  capability: "GatedOperations",
  async run(trial) {
    const counting = new CountingGate();
    await trial.write(trial.output(), factSchema(), [factBatch(numbers(0, 5))], counting);
    return counting.verdict();
  },
};

/** A merge by id into what is there. */
function merge(trial: Trial): OutputSpec {
  return trial.output({ mode: "merge", keys: ["id"] });
}

/** Ten rows, whatever was there. */
async function prepareMerge(trial: Trial): Promise<void> {
  trial.readable();
  if (!trial.target.connector.capabilities.has("ReplaceWrites")) throw new Skipped("nothing empties the output");
  await trial.write(trial.output({ mode: "replace", keys: [] }), factSchema(), [factBatch(numbers(0, 10))]);
}

/** What is there now; nothing where the output was never written. */
async function former(trial: Trial): Promise<string[][]> {
  if (trial.target.write?.readBack === undefined) return [];
  try {
    return pairs(await trial.readBack());
  } catch (error) {
    if (error instanceof ConnectorError && !error.transient) return [];
    throw error;
  }
}

/** The ids and names of rows, whatever stands beside them; an id may come as a number or as a text. */
function pairs({ schema, rows }: Rows): string[][] {
  const names = schema.fields.map(({ name }) => name.toLowerCase());
  const [id, name] = [names.indexOf("id"), names.indexOf("name")];
  return rows.map((row) => [(row[id] ?? "").replace(/^"(-?\d+)"$/, "$1"), row[name] ?? ""]);
}

function facts(ids: readonly number[], prefix = "name"): string[][] {
  return ids.map((id) => [String(id), `"${prefix} ${id}"`]);
}

function sameFacts(found: readonly string[][], expected: readonly string[][]): boolean {
  return digestOf(found) === digestOf(expected);
}
