import { withDeadline } from "../host/deadline.ts";
import { FILE_RUNS } from "./file_vectors.ts";
import * as protocol from "./protocol_vectors.ts";
import * as read from "./read_vectors.ts";
import { type ConformanceTarget, Skipped, type Vector, type VectorResult } from "./target.ts";
import { Trial } from "./trial.ts";
import * as write from "./write_vectors.ts";

/** Longer than any vector takes on a system that works. */
const VECTOR_MS = 120_000;

/** In the order in which they run. The first one decides whether the others do; the last one is always last. */
export const VECTORS: readonly Vector[] = [
  protocol.HANDSHAKE,
  read.SCHEMA,
  write.SESSION_RULES,
  read.CANCELLATION,
  protocol.ERROR_SHAPE,
  protocol.VALIDATION,
  read.PARTITION_IDS,
  read.SYNC_STATE,
  protocol.TICKETS,
  protocol.MESSAGE_SIZE,
  protocol.NUMBERS,
  read.DETERMINISTIC,
  read.PARTITIONS,
  read.PRUNING,
  read.PUSHDOWN,
  read.BOUNDED,
  read.INCLUSIVE,
  read.CHECKPOINTS,
  read.GATED_READS,
  write.COMMIT,
  write.ABORT,
  write.REPLACE,
  write.MERGE,
  write.MERGE_TWICE,
  write.MERGE_DUPLICATES,
  write.MERGE_KEY,
  write.ENDED,
  write.CHECKPOINTED,
  write.GATED_WRITES,
  protocol.CLEAN_EXIT,
];

/** Tries out every promise that a connector makes, one after the other; each result is told as soon as it is known. */
export async function runConformance(
  target: ConformanceTarget,
  onResult: (result: VectorResult) => void = () => {},
): Promise<readonly VectorResult[]> {
  const results: VectorResult[] = [];
  await using trial = new Trial(target);
  let before: Vector["needs"] = "nothing";
  for (const vector of VECTORS) {
    // A plan that nobody reads may hold a snapshot, which keeps some systems from being written.
    if (vector.needs === "write" && before === "read") await trial.release();
    before = vector.needs;
    const result = await tryOut(vector, trial);
    results.push(result);
    onResult(result);
    if (vector === protocol.HANDSHAKE && result.status === "FAIL") break;
  }
  return results;
}

async function tryOut(vector: Vector, trial: Trial): Promise<VectorResult> {
  const { name } = vector;
  const reason = whySkipped(vector, trial.target);
  if (reason !== undefined) return { name, status: "SKIP", detail: reason };
  const run = movesFiles(vector.needs, trial.target) ? FILE_RUNS.get(name) ?? vector.run : vector.run;
  try {
    let detail: string | void = undefined;
    const isDone = await withDeadline(run(trial).then((told) => detail = told), VECTOR_MS);
    if (!isDone) {
      await trial.release(); // whoever does not answer would not answer the next question either
      return { name, status: "FAIL", detail: `no result within ${VECTOR_MS / 1000} s` };
    }
    return detail === undefined ? { name, status: "PASS" } : { name, status: "PASS", detail };
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    return { name, status: error instanceof Skipped ? "SKIP" : "FAIL", detail };
  }
}

function whySkipped(
  { name, needs, capability }: Vector,
  target: ConformanceTarget,
): string | undefined {
  const { connector: { universal, capabilities }, read, write } = target;
  const byFiles = movesFiles(needs, target);
  const hasProcess = universal.read || universal.write || movesFiles("read", target) || movesFiles("write", target);
  if (!hasProcess) return "DuckDB does its work: there is no process";
  if (capability !== undefined && !capabilities.has(capability)) return `${capability} is not declared`;
  if (needs === "read" && read === undefined) return "no read: in the config";
  if (needs === "write" && write === undefined) return "no write: in the config";
  if (needs === "either" && read === undefined && write === undefined) {
    return "neither read: nor write: in the config";
  }
  if (byFiles && (needs === "read" || needs === "write") && !FILE_RUNS.has(name)) {
    return needs === "read"
      ? "its process fetches whole files, and DuckDB reads them"
      : "its process stores whole files, which DuckDB writes";
  }
  if (needs === "read" && !universal.read && !byFiles) return "DuckDB reads by itself";
  return needs === "write" && !universal.write && !byFiles ? "DuckDB writes by itself" : undefined;
}

/** Whether the process moves whole files for what a vector needs, in place of rows. */
function movesFiles(needs: Vector["needs"], { connector }: ConformanceTarget): boolean {
  const { universal, stagedRead, stagedWrite } = connector;
  if (needs === "nothing") return false;
  return needs === "write"
    ? !universal.write && stagedWrite !== undefined
    : !universal.read && stagedRead !== undefined;
}
