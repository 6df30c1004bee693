import type { EventField, EventFields } from "./schema_field.ts";
import type { RunEvent } from "./run_event.ts";

/** The names of all events. */
export type EventName = RunEvent["event"];

type EventOf<N extends EventName> = Extract<RunEvent, { readonly event: N }>;

/** What is known of one event: a sentence about it, and its fields without the envelope, in the order of writing. */
export type EventDefinition = { readonly doc: string; readonly fields: { readonly [name: string]: EventField } };

type EventDefinitions = {
  readonly [N in EventName]: { readonly doc: string; readonly fields: EventFields<Omit<EventOf<N>, "event">> };
};

/** The fields that begin every event, in the order of writing. */
export const EVENT_ENVELOPE = {
  event: { type: "text", doc: "The name of the event." },
  at: {
    type: "text",
    pattern: "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$",
    doc: "When it happened, in UTC, such as `2027-03-02T06:15:00.004Z`.",
  },
  runId: { type: "text", pattern: "^\\d{8}T\\d{9}Z-[0-9a-f]{4}$", doc: "The run, as `pz runs` lists it." },
} as const satisfies { readonly [name: string]: EventField };

const NODE_ID = {
  type: "text",
  pattern: "^[0-9a-f]{16}$",
  doc: "The node, by a hash of its content: equal in every run until the node changes.",
} as const;
const NODE_NAME = { type: "text", doc: "The node, as `pz ls` names it." } as const;
const NODE_KIND = {
  type: "word",
  words: { SourceLoad: true, Pipeline: true, Check: true, SinkWrite: true },
  doc: "What the node does.",
} as const;
const CONNECTION = { type: "text", doc: "The connection, as connections.yml names it." } as const;
const ENTITY = { type: "text", doc: "What is read from the connection." } as const;
const BREAKER_STATES = { closed: true, open: true, half_open: true } as const;
const STAGED_COLUMNS = {
  type: "list",
  of: { type: "text" },
  doc: "The names of the columns, in their staged order.",
} as const;

/**
 * The one definition of the run events: their fields, the order in which they are written, when each is there, and what
 * it means. The JSON Schema, the README's chapter and the JSON writer are made of it; a field that an event's type has
 * and this table lacks (or has with another type or presence) does not compile.
 */
export const RUN_EVENTS: EventDefinitions = {
  run_started: {
    doc: "The run begins.",
    fields: {
      projectName: { type: "text", doc: "The name in project.yml." },
      nodeCount: {
        type: "count",
        doc: "How many nodes this run will complete; those that a retry carries forward are not counted.",
      },
    },
  },
  node_started: {
    doc: "A node begins its work.",
    fields: { nodeId: NODE_ID, kind: NODE_KIND, name: NODE_NAME },
  },
  node_progress: {
    doc: "A load or write has moved ten more batches.",
    fields: {
      nodeId: NODE_ID,
      name: NODE_NAME,
      rows: { type: "count", doc: "Rows so far." },
      bytes: { type: "count", doc: "Bytes so far." },
      batches: { type: "count", doc: "Batches so far." },
    },
  },
  retry_scheduled: {
    doc: "An attempt failed in a way that may pass, and the next one is going to follow.",
    fields: {
      nodeId: NODE_ID,
      name: NODE_NAME,
      attempt: { type: "count", doc: "The number of the attempt to come; the first attempt of a node is 1." },
      maxAttempts: { type: "count", doc: "How many attempts the node has." },
      delayMs: { type: "count", doc: "Milliseconds until the attempt." },
      reason: { type: "text", doc: "Why the last attempt failed, in short." },
    },
  },
  source_drift_detected: {
    doc: "The columns of a source differ from those of the last run.",
    fields: {
      nodeId: NODE_ID,
      connection: CONNECTION,
      entity: ENTITY,
      policy: {
        type: "word",
        words: { warn: true, fail: true },
        doc: "What the project asks for: to go on, or to fail the node.",
      },
      changes: {
        type: "list",
        of: {
          type: "object",
          members: {
            kind: {
              type: "word",
              words: { added: true, removed: true, retyped: true },
              doc: "What happened to the column.",
            },
            column: { type: "text", doc: "The name of the column." },
            from: { type: "text", nullable: true, doc: "The old type; null for an added column." },
            to: { type: "text", nullable: true, doc: "The new type; null for a removed column." },
          },
        },
        doc: "Each column that differs.",
      },
      observed: {
        type: "list",
        of: {
          type: "object",
          members: {
            name: { type: "text", doc: "The name of the column." },
            type: { type: "text", doc: "Its DuckDB type." },
          },
        },
        doc: "All columns as they are now.",
      },
      hintsHash: { type: "text", doc: "A hash of the shape in which the source was read." },
    },
  },
  merge_key_duplicates_detected: {
    doc: "What a merge is about to write has several rows for one key; one row of each group will remain.",
    fields: {
      nodeId: NODE_ID,
      connection: CONNECTION,
      output: { type: "text", doc: "What of the connection is written to." },
      keys: { type: "list", of: { type: "text" }, doc: "The key's columns, in the order of their declaration." },
      duplicateGroups: { type: "count", doc: "How many keys have several rows." },
      extraRows: { type: "count", doc: "How many rows will be dropped." },
    },
  },
  lossy_integer_inference_detected: {
    doc: "A load without a contract took whole numbers beyond 2^53 for DOUBLE, which can't hold each of them.",
    fields: { nodeId: NODE_ID, connection: CONNECTION, entity: ENTITY, columns: STAGED_COLUMNS },
  },
  ambiguous_date_inference_detected: {
    doc: "A load without a contract read dates whose day and month could be taken for each other.",
    fields: {
      nodeId: NODE_ID,
      connection: CONNECTION,
      entity: ENTITY,
      columns: STAGED_COLUMNS,
      format: { type: "text", doc: "The date format that was used, such as `%d/%m/%Y`." },
    },
  },
  node_completed: {
    doc: "A node has ended, or will not be run.",
    fields: {
      nodeId: NODE_ID,
      kind: NODE_KIND,
      name: NODE_NAME,
      status: {
        type: "word",
        words: { success: true, failed: true, skipped: true },
        doc: "How it ended; a node is skipped when one that it needs failed, or when the run was stopped.",
      },
      rows: {
        type: "count",
        doc: "Rows staged or written, of a merge one of each key; for a check the rows that it found.",
      },
      durationMs: { type: "count", doc: "Milliseconds of all its attempts and the waits between them." },
      errorCode: {
        type: "text",
        pattern: "^PZ\\d{4}$",
        nullable: true,
        setWhen: { field: "status", is: "failed" },
        doc: "The code of the error.",
      },
      errorMessage: {
        type: "text",
        nullable: true,
        setWhen: { field: "status", is: "failed" },
        doc: "What went wrong.",
      },
      timings: {
        type: "object",
        nullable: true,
        members: {
          producerStallMs: { type: "count", doc: "Milliseconds that the reading side waited for the writing side." },
          consumerStallMs: { type: "count", doc: "Milliseconds that the writing side waited for the reading side." },
        },
        doc: "How long each side of a load or write waited for the other; null where no batches were passed on.",
      },
      provenance: {
        type: "word",
        optional: true,
        words: { reused: true, carried_forward: true },
        doc: "Where the result came from when this run did not compute it.",
      },
      ops: {
        type: "object",
        optional: true,
        members: {
          executed: { type: "count", doc: "How many were carried out." },
          retried: { type: "count", doc: "How many were repeated." },
          throttleWaitMs: { type: "count", doc: "Milliseconds spent waiting for a rate limit." },
        },
        doc: "The single operations of a connector that counts them.",
      },
      partitions: {
        type: "object",
        optional: true,
        members: {
          total: { type: "count", doc: "How many there are." },
          completed: { type: "count", doc: "How many this run has read to their ends." },
          reused: { type: "count", doc: "How many were taken from an earlier attempt." },
          resumed: { type: "count", doc: "How many were read on from a checkpoint." },
        },
        doc: "The parts of a load that is read in parts.",
      },
      delivery: {
        type: "object",
        optional: true,
        members: {
          abortSemantics: {
            type: "word",
            words: { discards_all: true, best_effort: true, none: true },
            doc: "What the sink takes back of a failed write.",
          },
          rowsVisible: { type: "count", doc: "Rows that others can see in the target." },
          resumedRows: { type: "count", doc: "Rows that an earlier attempt had delivered." },
        },
        doc: "What stands in the target after a failed write that can't be taken back, or after a resumed one.",
      },
      cdc: {
        type: "object",
        optional: true,
        members: {
          inserts: { type: "count", doc: "Rows inserted." },
          updates: { type: "count", doc: "Rows updated." },
          deletes: { type: "count", doc: "Rows deleted." },
          position: { type: "text", nullable: true, doc: "The place in the change log up to which it was read." },
        },
        doc: "What a load of changes has read, before several changes of one row are made one.",
      },
      caughtUp: {
        type: "flag",
        optional: true,
        doc: "Whether a load that has a stop has reached it.",
      },
    },
  },
  run_completed: {
    doc: "The run has ended.",
    fields: {
      status: {
        type: "word",
        words: { success: true, completed_with_failures: true, fatal: true },
        doc: "How it ended; `fatal` when pz itself failed or was stopped.",
      },
      succeeded: { type: "count", doc: "Nodes that succeeded, those carried forward included." },
      failed: { type: "count", doc: "Nodes that failed." },
      skipped: { type: "count", doc: "Nodes that were skipped." },
      durationMs: { type: "count", doc: "Milliseconds from the start of the run." },
    },
  },
  breaker_state_changed: {
    doc: "The circuit breaker of a connection has changed its state; while it is open, nothing is sent there.",
    fields: {
      instance: { type: "text", pattern: "^conn:.", doc: "`conn:` and the name of the connection." },
      oldState: { type: "word", words: BREAKER_STATES, doc: "The state before." },
      newState: { type: "word", words: BREAKER_STATES, doc: "The state now." },
      trigger: { type: "text", doc: "Why it changed." },
      coolDownMs: { type: "count", doc: "Milliseconds that it stays open; 0 for another state." },
    },
  },
  connector_log: {
    doc: "A connector said something.",
    fields: {
      level: {
        type: "word",
        words: { trace: true, debug: true, info: true, warn: true, error: true, critical: true, unknown: true },
        doc: "How grave it is.",
      },
      connection: CONNECTION,
      message: { type: "text", empty: true, doc: "What it said, without secrets." },
    },
  },
  retention_swept: {
    doc: "What old runs left behind was deleted, or could not be.",
    fields: {
      runsSwept: { type: "count", doc: "How many runs were deleted." },
      bytesFreed: { type: "count", doc: "Bytes freed on the disk." },
      failures: { type: "count", doc: "How many deletions failed." },
    },
  },
};

/** The definition of an event. */
export function eventDefinition(event: EventName): EventDefinition {
  return RUN_EVENTS[event];
}
