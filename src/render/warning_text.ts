import type { RunEvent, SchemaChange } from "../events/mod.ts";

type DataWarning = Extract<
  RunEvent,
  {
    readonly event:
      | "source_drift_detected"
      | "merge_key_duplicates_detected"
      | "lossy_integer_inference_detected"
      | "ambiguous_date_inference_detected";
  }
>;

/** The sentence that a person reads for a warning about data, without the word `warning`. */
export function warningText(event: DataWarning): string {
  switch (event.event) {
    case "source_drift_detected":
      return `schema drift on ${event.connection}.${event.entity} (${event.policy}): ${
        event.changes.map(changeText).join(", ")
      }`;
    case "merge_key_duplicates_detected":
      return `output '${event.connection}.${event.output}': ${
        plural(event.duplicateGroups, "group")
      } of rows share a value of the merge ` +
        `keys [${event.keys.join(", ")}]; ${plural(event.extraRows, "extra row")} will be dropped — ` +
        `remove duplicates in the pipeline to choose which row stays`;
    case "lossy_integer_inference_detected":
      return `${event.connection}.${event.entity}: columns [${
        event.columns.join(", ")
      }] were read as DOUBLE but hold ` +
        `whole numbers beyond 2^53, which DOUBLE rounds — declare them in a columns: contract (bigint, ubigint, hugeint ` +
        `or varchar)`;
    case "ambiguous_date_inference_detected":
      return `${event.connection}.${event.entity}: the dates in [${
        event.columns.join(", ")
      }] can be read day first or ` +
        `month first; '${event.format}' was assumed — write them as ISO 8601, or declare the columns as varchar and ` +
        `parse them in the pipeline`;
  }
}

/** One change of a schema: `added c`, `removed c` or `retyped c (from->to)`. */
export function changeText(change: SchemaChange): string {
  if (change.kind === "retyped") return `retyped ${change.column} (${change.from}->${change.to})`;
  return `${change.kind} ${change.column}`;
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
