import type { EventLine } from "./cli.ts";
import { schemaProblem } from "./event_schema.ts";

type Test = (value: unknown) => boolean;

const text: Test = (value) => typeof value === "string" && value !== "";
const anyText: Test = (value) => typeof value === "string";
const flag: Test = (value) => typeof value === "boolean";
const count: Test = (value) => typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
const oneOf = (...words: readonly string[]): Test => (value) => typeof value === "string" && words.includes(value);
const nullOr = (test: Test): Test => (value) => value === null || test(value);
const listOf = (test: Test): Test => (value) => Array.isArray(value) && value.every(test);
const matches = (pattern: RegExp): Test => (value) => typeof value === "string" && pattern.test(value);

/** An object with exactly these members in this order; `?` at the end of a name: it may be absent. */
const shape = (members: { readonly [name: string]: Test }): Test => (value) => problemIn(value, members) === undefined;

const nodeId = matches(/^[0-9a-f]{16}$/);
const kind = oneOf("SourceLoad", "Pipeline", "Check", "SinkWrite");
const breakerState = oneOf("closed", "open", "half_open");

const FIELDS: { readonly [event: string]: { readonly [name: string]: Test } } = {
  run_started: { projectName: text, nodeCount: count },
  node_started: { nodeId, kind, name: text },
  node_progress: { nodeId, name: text, rows: count, bytes: count, batches: count },
  retry_scheduled: { nodeId, name: text, attempt: count, maxAttempts: count, delayMs: count, reason: text },
  source_drift_detected: {
    nodeId,
    connection: text,
    entity: text,
    policy: oneOf("warn", "fail"),
    changes: listOf(shape({
      kind: oneOf("added", "removed", "retyped"),
      column: text,
      from: nullOr(text),
      to: nullOr(text),
    })),
    observed: listOf(shape({ name: text, type: text })),
    hintsHash: text,
  },
  merge_key_duplicates_detected: {
    nodeId,
    connection: text,
    output: text,
    keys: listOf(text),
    duplicateGroups: count,
    extraRows: count,
  },
  lossy_integer_inference_detected: { nodeId, connection: text, entity: text, columns: listOf(text) },
  ambiguous_date_inference_detected: { nodeId, connection: text, entity: text, columns: listOf(text), format: text },
  node_completed: {
    nodeId,
    kind,
    name: text,
    status: oneOf("success", "failed", "skipped"),
    rows: count,
    durationMs: count,
    errorCode: nullOr(matches(/^PZ\d{4}$/)),
    errorMessage: nullOr(text),
    timings: nullOr(shape({ producerStallMs: count, consumerStallMs: count })),
    "provenance?": oneOf("reused", "carried_forward"),
    "ops?": shape({ executed: count, retried: count, throttleWaitMs: count }),
    "partitions?": shape({ total: count, completed: count, reused: count, resumed: count }),
    "delivery?": shape({
      abortSemantics: oneOf("discards_all", "best_effort", "none"),
      rowsVisible: count,
      resumedRows: count,
    }),
    "cdc?": shape({ inserts: count, updates: count, deletes: count, position: nullOr(text) }),
    "caughtUp?": flag,
  },
  run_completed: {
    status: oneOf("success", "completed_with_failures", "fatal"),
    succeeded: count,
    failed: count,
    skipped: count,
    durationMs: count,
  },
  breaker_state_changed: {
    instance: matches(/^conn:./),
    oldState: breakerState,
    newState: breakerState,
    trigger: text,
    coolDownMs: count,
  },
  connector_log: {
    level: oneOf("trace", "debug", "info", "warn", "error", "critical", "unknown"),
    connection: text,
    message: anyText,
  },
  retention_swept: { runsSwept: count, bytesFreed: count, failures: count },
};

const ENVELOPE: { readonly [name: string]: Test } = {
  event: oneOf(...Object.keys(FIELDS)),
  at: matches(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/),
  runId: matches(/^\d{8}T\d{9}Z-[0-9a-f]{4}$/),
};

/** The order of a node's own events; equal numbers may repeat and mix. */
const RANKS: { readonly [event: string]: number } = {
  node_started: 0,
  node_progress: 1,
  retry_scheduled: 1,
  lossy_integer_inference_detected: 2,
  ambiguous_date_inference_detected: 3,
  source_drift_detected: 4,
  merge_key_duplicates_detected: 5,
  node_completed: 6,
};

/** What a stream of a whole run breaks: fields and schema first, then the order between events. Empty: nothing. */
export function problemsOfStream(events: readonly EventLine[]): string[] {
  const broken = events.flatMap((event, index) => {
    const problem = problemOfEvent(event) ?? schemaProblem(event);
    return problem === undefined ? [] : [`event ${index} (${event["event"]}): ${problem}`];
  });
  return broken.length > 0 ? broken : orderProblems(events);
}

/** What is wrong with the fields of one event: presence, order, type; undefined: nothing. */
export function problemOfEvent(event: EventLine): string | undefined {
  const fields = typeof event["event"] === "string" ? FIELDS[event["event"]] : undefined;
  const problem = problemIn(event, { ...ENVELOPE, ...fields });
  if (problem !== undefined || event["event"] !== "node_completed") return problem;
  const failed = event["status"] === "failed";
  if (failed !== (event["errorCode"] !== null)) return "errorCode is set exactly when the node failed";
  if (failed !== (event["errorMessage"] !== null)) return "errorMessage is set exactly when the node failed";
  return undefined;
}

function problemIn(value: unknown, members: { readonly [name: string]: Test }): string | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return "is not an object";
  const left = Object.entries(value);
  for (const [key, test] of Object.entries(members)) {
    const name = key.replace(/\?$/, "");
    const [present, inner] = left[0] ?? [];
    if (present !== name) {
      if (key.endsWith("?")) continue;
      return `expected '${name}' where ${present === undefined ? "the event ends" : `'${present}' stands`}`;
    }
    if (!test(inner)) return `'${name}' is ${JSON.stringify(inner)}`;
    left.shift();
  }
  return left.length === 0 ? undefined : `'${left[0]?.[0]}' is unknown or stands in the wrong place`;
}

function orderProblems(events: readonly EventLine[]): string[] {
  const names = events.map((event) => event["event"]);
  const problems: string[] = [];
  const expectOnce = (name: string, index: number, where: string): void => {
    if (names.filter((other) => other === name).length !== 1 || names.at(index) !== name) {
      problems.push(`expected exactly one ${name}, ${where}`);
    }
  };
  expectOnce("run_started", 0, "first");
  const swept = names.at(-1) === "retention_swept";
  expectOnce("run_completed", swept ? -2 : -1, "last but for retention_swept");
  if (names.filter((name) => name === "retention_swept").length > (swept ? 1 : 0)) {
    problems.push("retention_swept is not last");
  }
  if (new Set(events.map((event) => event["runId"])).size > 1) problems.push("several run ids");
  events.forEach((event, index) => {
    if (String(event["at"]) < String(events[index - 1]?.["at"] ?? "")) {
      problems.push(`event ${index} is before its forerunner`);
    }
  });
  return [...problems, ...nodeProblems(events), ...countProblems(events)];
}

function nodeProblems(events: readonly EventLine[]): string[] {
  const problems: string[] = [];
  const last = new Map<unknown, { rank: number; started: boolean }>();
  let dispatched = false;
  for (const event of events) {
    const rank = RANKS[String(event["event"])];
    if (rank === undefined) continue;
    const node = event["name"] ?? event["nodeId"];
    const before = last.get(event["nodeId"]);
    const carried = event["provenance"] === "carried_forward";
    if (before?.rank === 6) problems.push(`${node}: an event after node_completed`);
    else if (before !== undefined && (rank < before.rank || rank === 0)) {
      problems.push(`${node}: ${event["event"]} too late`);
    } else if (before === undefined && rank !== 0 && !(rank === 6 && (event["status"] === "skipped" || carried))) {
      problems.push(`${node}: ${event["event"]} without node_started`);
    }
    if (carried && dispatched) problems.push(`${node}: carried forward after the first dispatch`);
    if (rank === 0) dispatched = true;
    last.set(event["nodeId"], { rank, started: rank === 0 });
  }
  for (const [node, { rank }] of last) if (rank !== 6) problems.push(`${node}: no node_completed`);
  return problems;
}

function countProblems(events: readonly EventLine[]): string[] {
  const completed = events.filter((event) => event["event"] === "node_completed");
  const executed = completed.filter((event) => event["provenance"] !== "carried_forward").length;
  const nodeCount = events[0]?.["nodeCount"];
  const problems = nodeCount === executed ? [] : [`run_started says ${nodeCount} nodes, ${executed} completed`];
  const end = events.find((event) => event["event"] === "run_completed");
  for (const [field, status] of [["succeeded", "success"], ["failed", "failed"], ["skipped", "skipped"]] as const) {
    const counted = completed.filter((event) => event["status"] === status).length;
    if (end?.[field] !== counted) problems.push(`run_completed says ${field} ${end?.[field]}, ${counted} nodes are so`);
  }
  return problems;
}
