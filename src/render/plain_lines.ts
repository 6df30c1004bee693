import type { BreakerStateChanged, NodeCompleted, NodeStatus, RunEvent } from "../events/mod.ts";
import { bottleneckHint } from "./hints.ts";
import { formatSeconds, printable } from "./text.ts";
import { warningText } from "./warning_text.ts";

const STATUS_WORDS: { readonly [S in NodeStatus]: string } = { success: "ok", failed: "FAIL", skipped: "skip" };
const QUIET_LEVELS: ReadonlySet<string> = new Set(["trace", "debug", "info"]);

/** The lines that one event gives in plain text; empty for events that a person need not see. */
export function plainLines(event: RunEvent): readonly string[] {
  switch (event.event) {
    case "node_completed":
      return completedLines(event);
    case "retry_scheduled":
      return [
        `retry: ${event.name} attempt ${event.attempt}/${event.maxAttempts} in ${event.delayMs}ms ` +
        `(${printable(event.reason)})`,
      ];
    case "breaker_state_changed":
      return [breakerLine(event)];
    case "source_drift_detected":
    case "merge_key_duplicates_detected":
    case "lossy_integer_inference_detected":
    case "ambiguous_date_inference_detected":
      return [`warning: ${printable(warningText(event))}`];
    case "connector_log":
      return QUIET_LEVELS.has(event.level)
        ? []
        : [`connector [${event.level}] ${event.connection}: ${printable(event.message)}`];
    case "run_started":
    case "node_started":
    case "node_progress":
    case "run_completed":
    case "retention_swept":
      return [];
  }
}

function completedLines(node: NodeCompleted): string[] {
  const lines = [`${STATUS_WORDS[node.status]} ${printable(node.name)} ${node.rows} rows ${node.durationMs}ms`];
  if (node.status === "failed" && node.errorCode !== null) {
    const [first = "", ...more] = printable(node.errorMessage ?? "").split("\n");
    lines.push(`  ${node.errorCode}: ${first}`, ...more.map((line) => `  ${line}`));
  }
  const hint = bottleneckHint(node);
  if (hint !== undefined) lines.push(hint);
  const { delivery } = node;
  if (delivery !== undefined && node.status === "failed") {
    lines.push(
      `delivery stopped: up to ${delivery.rowsVisible} row(s) already visible (abort: ${delivery.abortSemantics})`,
    );
  }
  if (delivery !== undefined && node.status === "success" && delivery.resumedRows > 0) {
    lines.push(`resumed past ${delivery.resumedRows} delivered row(s)`);
  }
  return lines;
}

/** A breaker's move, with the `conn:` of its instance left out. */
export function breakerLine(event: BreakerStateChanged): string {
  const name = event.instance.startsWith("conn:") ? event.instance.slice("conn:".length) : event.instance;
  return `breaker: connection ${name} ${event.oldState}->${event.newState} ` +
    `(${printable(event.trigger)}; cool down ${formatSeconds(event.coolDownMs)})`;
}
