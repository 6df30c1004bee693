import type { Mask } from "../util/mod.ts";
import { ConnectorError } from "../connectors/mod.ts";
import { DuckDbError } from "../duckdb/mod.ts";
import { type ErrorCode, PzError, PzErrors } from "../errors/mod.ts";
import type { NodeCompleted } from "../events/mod.ts";

/** Why a node failed, in one word for scripts. */
export type FailureCause =
  | "sql"
  | "read"
  | "write"
  | "commit"
  | "timeout"
  | "denied"
  | "connector_died"
  | "out_of_memory"
  | "disk_full";

/** What a failed write left in its target, as far as the engine knows: `rowsVisible` is the most that can stand there. */
export type Delivery = NonNullable<NodeCompleted["delivery"]>;

/** How a node failed, in a form that may be shown and stored. */
export type NodeFailure = {
  readonly code: ErrorCode;
  readonly message: string;
  readonly cause?: FailureCause;
  readonly delivery?: Delivery;
  /** Of a write: nobody knows whether its rows stand in the target. */
  readonly outcomeUnknown?: true;
};

export type StepFacts = {
  /** Of a commit: nobody knows whether it has taken place. */
  readonly outcomeUnknown?: boolean;
  /** Of a commit: doing it again can do no harm, even if it has taken place. */
  readonly repeatable?: boolean;
  readonly delivery?: Delivery | undefined;
};

/** Thrown by an executor that knows which of its steps failed. */
export class StepError extends Error {
  override readonly name = "StepError";
  readonly step: FailureCause;
  readonly facts: StepFacts;

  constructor(step: FailureCause, cause: unknown, facts: StepFacts = {}) {
    super(`The step '${step}' failed`, { cause });
    this.step = step;
    this.facts = facts;
  }
}

/** What a failure is told about. */
export type FailureScene = {
  /** The cause where the error itself does not tell. */
  readonly step: FailureCause;
  /** The connector and connection that the node works with. */
  readonly connector?: string | undefined;
  readonly connection?: string | undefined;
  /** The place in a template that a position in the node's SQL stands for. */
  readonly place?: ((error: DuckDbError) => string | undefined) | undefined;
  readonly redact: Mask;
};

/** Turns whatever an executor threw into a failure. */
export function failureOf(error: unknown, scene: FailureScene): NodeFailure {
  const failure = classify(error, scene);
  return { ...failure, message: scene.redact(failure.message), ...delivered(error) };
}

/** What an error says about the rows that a failed write left behind. */
export function delivered(error: unknown): { readonly delivery?: Delivery } {
  if (!(error instanceof Error)) return {};
  const delivery = error instanceof StepError ? error.facts.delivery : undefined;
  return delivery === undefined ? delivered(error.cause) : { delivery };
}

function classify(error: unknown, scene: FailureScene): NodeFailure {
  if (error instanceof StepError) return stepFailure(error, scene);
  if (error instanceof PzErrors && error.errors[0] !== undefined) return classify(error.errors[0], scene);
  if (error instanceof PzError) return codedFailure(error, scene);
  if (error instanceof ConnectorError) return connectorFailure(error, scene);
  if (error instanceof DuckDbError) {
    const place = scene.place?.(error);
    return {
      code: "PZ0501",
      message: withHint(placed(withoutCandidates(error.message), place), hintOf(error)),
      cause: duckDbCause(error) ?? scene.step,
    };
  }
  const message = error instanceof Error ? error.message : String(error);
  const cause = systemCause(error);
  return { code: "PZ0501", message: withHint(message, systemHint(cause)), cause: cause ?? scene.step };
}

function stepFailure({ step, cause, facts }: StepError, scene: FailureScene): NodeFailure {
  const failure = classify(cause, { ...scene, step });
  if (facts.outcomeUnknown !== true) return failure;
  const message = `The commit failed, outcome unknown: ${failure.message}`;
  const hint = facts.repeatable === true ? REPEATABLE_HINT : LOOK_FIRST_HINT;
  return {
    ...failure,
    message: message.includes("\nhint: ") ? message : withHint(message, hint),
    outcomeUnknown: true,
    ...(failure.code === "PZ0501" ? { cause: step } : {}),
  };
}

const REPEATABLE_HINT = "run it again: rows that are there already are replaced, not doubled";

const LOOK_FIRST_HINT = "look whether the rows are there before you run it again, which would add them once more";

/** The next step where a disk is full. */
export const DISK_FULL_HINT = "free some space; `pz clean` deletes what old runs left behind";

/** The next step where the system denies a file. */
export const DENIED_HINT = "give the user who runs pz the right to it, or use a folder that can be written";

function systemHint(cause: FailureCause | undefined): string | undefined {
  if (cause === "disk_full") return DISK_FULL_HINT;
  return cause === "denied" ? DENIED_HINT : undefined;
}

function codedFailure({ code, message, file, line, column, hint }: PzError, { step }: FailureScene): NodeFailure {
  const place = [file, line, column].filter((part) => part !== undefined).join(":");
  const text = withHint(place === "" ? message : `${message} (${place})`, hint);
  return code === "PZ0501" ? { code, message: text, cause: step } : { code, message: text };
}

function connectorFailure(error: ConnectorError, { step, connector, connection }: FailureScene): NodeFailure {
  const { denied } = error;
  if (denied === undefined) {
    return {
      code: "PZ0501",
      message: withHint(error.message, error.hint),
      cause: error.code === CONNECTOR_DIED ? "connector_died" : step,
    };
  }
  const target = denied.target === "" ? "" : ` to '${denied.target}'`;
  return {
    code: "PZ0740",
    message: withHint(
      `Connector '${connector}' of connection '${connection}' was denied ${denied.permission} access${target}`,
      error.hint ?? "pz plan prints what each connection may touch",
    ),
    cause: "denied",
  };
}

/** The code of the error with which a session reports that its process has ended. */
const CONNECTOR_DIED = "PZ0358";

/** Whether an error of the system or of DuckDB says that a disk is full. */
export function isDiskFull(error: unknown): boolean {
  if (error instanceof DuckDbError) return duckDbCause(error) === "disk_full";
  return systemCause(error) === "disk_full";
}

function duckDbCause(error: DuckDbError): FailureCause | undefined {
  if (/^out of ?memory$/i.test(error.kind)) return "out_of_memory";
  if (/No space left on device|disk quota exceeded|There is not enough space on the disk/i.test(error.message)) {
    if (error.kind === "IO" || error.kind === "TransactionContext") return "disk_full";
  }
  if (error.kind === "Permission") return "denied";
  return undefined;
}

function systemCause(error: unknown): FailureCause | undefined {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "ENOSPC" || code === "EDQUOT") return "disk_full";
  if (error instanceof Deno.errors.PermissionDenied || code === "EACCES" || code === "EPERM") return "denied";
  return undefined;
}

/** The place behind the first line, the only one that every view shows. */
function placed(message: string, place: string | undefined): string {
  if (place === undefined) return message;
  const [first = "", ...more] = message.split("\n");
  return [`${first} (${place})`, ...more].join("\n");
}

/** DuckDB's own list of names, which is told as a hint. */
function withoutCandidates(message: string): string {
  return message.replace(/\n\n?Candidate (?:bindings|tables|functions): [^]*$/, "");
}

/** The next step where the disk is full, the system denies a file, or DuckDB's refusal comes from the limits that pz sets. */
function hintOf(error: DuckDbError): string | undefined {
  if (duckDbCause(error) === "disk_full") return DISK_FULL_HINT;
  if (isDeniedFile(error)) return DENIED_HINT;
  const near = error.candidates[0];
  if (error.kind === "Binder" && near !== undefined) return `the nearest name there is '${near}'`;
  if (error.kind !== "Permission") return undefined;
  return "SQL may only open files below the connections that this run reads; read others with {{ source('connection', 'entity') }}";
}

/** Whether the system denied DuckDB a file. */
export function isDeniedFile(error: DuckDbError): boolean {
  return error.kind === "IO" && /: (Permission denied|Read-only file system)/.test(error.message);
}

function withHint(message: string, hint: string | undefined): string {
  return hint === undefined ? message : `${message}\nhint: ${hint}`;
}
