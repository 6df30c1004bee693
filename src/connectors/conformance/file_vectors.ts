import { ConnectorError } from "../contract/mod.ts";
import { withDeadline } from "../host/deadline.ts";
import { outputToWire } from "../protocol/specs.ts";
import { fetchAll, storeFile, storePlace } from "./file_trial.ts";
import { checkError, MISSING } from "./protocol_vectors.ts";
import { CountingGate } from "./read_vectors.ts";
import { expect, Skipped, type Vector } from "./target.ts";
import type { Trial } from "./trial.ts";

const NEVER = new AbortController().signal;
const LONG = "one file\n".repeat(1000);
const SHORT = "another\n";

/** What takes the place of a vector where the connector's process moves whole files, by the vector's name. */
export const FILE_RUNS: ReadonlyMap<string, Vector["run"]> = new Map<string, Vector["run"]>([
  ["commit-abort-session-rules", sessionRules],
  ["cancellation", cancellation],
  ["transient-error-shape", errorShape],
  ["read-is-deterministic", deterministic],
  ["reads-go-through-the-gate", gatedReads],
  ["commit-persists-all-batches", commit],
  ["abort-discards-everything", abort],
  ["replace-overwrites", replace],
  ["writes-go-through-the-gate", gatedWrites],
]);

async function deterministic(trial: Trial): Promise<string> {
  const [first, second] = [await fetchAll(trial), await fetchAll(trial)];
  expect(String(first) === String(second), "a second read fetches other files");
  return `${first.length} files`;
}

async function cancellation(trial: Trial): Promise<void> {
  const stop = new AbortController();
  const fetching = fetchAll(trial, { signal: stop.signal }).catch(() => {});
  stop.abort(new DOMException("The suite stops the read", "AbortError"));
  expect(await withDeadline(fetching, 5000), "it does not end within 5 s");
  await fetchAll(trial);
}

async function errorShape(trial: Trial): Promise<void> {
  const { read } = trial.target;
  if (read === undefined) throw new Skipped("no dataset to ask for");
  try {
    await fetchAll(trial, { read: { ...read, dataset: MISSING }, signal: AbortSignal.timeout(30_000) });
  } catch (error) {
    checkError(error);
    return;
  }
  throw new Skipped("the connector accepts any name");
}

async function gatedReads(trial: Trial): Promise<string> {
  const counting = new CountingGate();
  await fetchAll(trial, { gate: counting });
  return counting.verdict();
}

async function sessionRules(trial: Trial): Promise<void> {
  const result = await storeFile(trial, LONG);
  expect(
    result?.files === 1 && result.bytes === LONG.length,
    `commit reports ${result?.bytes} bytes in ${result?.files} files in place of ${LONG.length} in 1`,
  );
  await storeFile(trial, LONG, { end: "abort" });
  await earlyCommit(trial);
}

/** A commit before all of the files are there must not succeed. */
async function earlyCommit(trial: Trial): Promise<void> {
  const { spec, file, place } = await storePlace(trial, LONG);
  const child = await trial.child();
  try {
    let committed = false;
    const call = child.open({ m: "StoreFiles", spec: outputToWire(spec), ...place }, {
      isLimited: true,
      listener: { message: ({ m }) => committed ||= m === "StoreResult" },
    });
    child.send(call, { m: "FileGrew", path: file, bytes: 1, isWhole: false });
    child.send(call, { m: "CommitWrite" });
    await withDeadline(call.settled.catch(() => {}), 3000);
    if (!call.isSettled) child.send(call, { m: "AbortWrite" });
    await withDeadline(call.settled.catch(() => {}), 10_000);
    expect(!committed, "a commit before the end of the data succeeds");
  } finally {
    await child.close();
  }
}

async function commit(trial: Trial): Promise<string> {
  await storeFile(trial, LONG);
  if (trial.target.write?.readBack === undefined) return "reported only: no read_back: in write:";
  const files = await fetchAll(trial, { read: trial.readable() });
  expect(files.some(({ content }) => content === LONG), "another file comes back than was written");
  return "the file comes back";
}

async function abort(trial: Trial): Promise<void> {
  const before = await former(trial);
  await storeFile(trial, `${SHORT}${before.length}`, { end: "abort" });
  expect(String(before) === String(await former(trial)), "after an abort other files are there than before");
}

async function replace(trial: Trial): Promise<void> {
  const read = trial.readable();
  for (const content of [LONG, SHORT]) await storeFile(trial, content, { changes: { mode: "replace", keys: [] } });
  const files = await fetchAll(trial, { read });
  expect(files.length === 1 && files[0]?.content === SHORT, "after one file and then another there is not that one");
}

async function gatedWrites(trial: Trial): Promise<string> {
  const counting = new CountingGate();
  await storeFile(trial, SHORT, { gate: counting });
  return counting.verdict();
}

/** What is there now; nothing where the output was never written. */
async function former(trial: Trial): Promise<readonly unknown[]> {
  try {
    return await fetchAll(trial, { read: trial.readable(), signal: NEVER });
  } catch (error) {
    if (error instanceof ConnectorError && !error.transient) return [];
    throw error;
  }
}
