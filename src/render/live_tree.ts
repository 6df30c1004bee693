import type { NodeCompleted, NodeKind, NodeStatus, Provenance, RunEvent } from "../events/mod.ts";
import { ordinal } from "../util/mod.ts";
import { bottleneckHint } from "./hints.ts";
import { formatRate, formatSize, printable } from "./text.ts";
import { changeText } from "./warning_text.ts";

/** What a part of a line means; the terminal gives it a colour or none. */
export type Tone = "plain" | "good" | "bad" | "caution" | "faint";

/** One line of the tree. Details stand below the row that they belong to. */
export type TreeLine = {
  readonly text: string;
  readonly tone: Tone;
  /** How much of the text, from its start after the indent, has the tone; undefined: all. */
  readonly tonedLength?: number;
  /** Where in the text a name stands that may be shortened, from its start to behind its end. */
  readonly name?: readonly [start: number, end: number];
  /** What may follow the text where there is room, the most useful first. */
  readonly extras?: readonly string[];
  readonly indent: number;
  readonly importance: Importance;
};

/** What stays when a terminal is too small for the whole tree: low numbers first. */
export type Importance = 0 | 1 | 2;

type Row = {
  readonly kind: NodeKind;
  readonly name: string;
  /** Undefined for a node that moves no bytes to or from a system, or did not run. */
  readonly tier: string | undefined;
  status: NodeStatus | "running";
  rows: number;
  /** Bytes so far, as the last progress told; 0 where none did. */
  bytes: number;
  /** Milliseconds since 1970 when it started; undefined for a node that never did. */
  readonly startedAt: number | undefined;
  durationMs: number;
  error?: string;
  hint?: string;
  provenance?: Provenance;
  warning?: string;
};

const GROUPS: readonly (readonly [NodeKind, string])[] = [
  ["SourceLoad", "sources"],
  ["Pipeline", "pipelines"],
  ["Check", "checks"],
  ["SinkWrite", "sinks"],
];
const GLYPHS: { readonly [S in Row["status"]]: readonly [string, Tone] } = {
  success: ["ok", "good"],
  failed: ["FAIL", "bad"],
  skipped: ["skip", "caution"],
  running: ["..", "faint"],
};
const PROVENANCE: { readonly [P in Provenance]: string } = { reused: "(reused)", carried_forward: "(carried forward)" };

/** The state of a run as a tree: sources, pipelines, checks and sinks, each with its rows. It knows no terminal. */
export class LiveTree {
  readonly #tiers: ReadonlyMap<string, string>;
  readonly #rows = new Map<string, Row>();
  #nodeCount = 0;
  #completed = 0;
  #done = false;

  /** @param tiers how the bytes of a load or write move, such as `native scan: read_csv`, by node id */
  constructor(tiers: ReadonlyMap<string, string> = new Map()) {
    this.#tiers = tiers;
  }

  /** Whether the run is over: the tree changes no more. */
  get done(): boolean {
    return this.#done;
  }

  /** Takes the next event; false for one that the tree does not show. @param at milliseconds since 1970 */
  apply(event: RunEvent, at: number): boolean {
    if (this.#done) return false;
    switch (event.event) {
      case "run_started":
        this.#nodeCount = event.nodeCount;
        return true;
      case "node_started":
        this.#rows.set(event.nodeId, {
          kind: event.kind,
          name: event.name,
          tier: this.#tiers.get(event.nodeId),
          status: "running",
          rows: 0,
          bytes: 0,
          startedAt: at,
          durationMs: 0,
        });
        return true;
      case "node_progress":
        return this.#update(event.nodeId, (row) => {
          row.rows = event.rows;
          row.bytes = event.bytes;
        });
      case "node_completed":
        this.#complete(event);
        return true;
      case "source_drift_detected":
        return this.#warn(
          event.nodeId,
          `drift: ${event.connection}.${event.entity} (${event.policy}): ${event.changes.map(changeText).join(", ")}`,
        );
      case "merge_key_duplicates_detected":
        return this.#warn(
          event.nodeId,
          `dup keys: ${event.duplicateGroups} group(s) [${event.keys.join(", ")}] collapse ` +
            `${event.extraRows} staged row(s)`,
        );
      case "lossy_integer_inference_detected":
        return this.#warn(event.nodeId, `lossy ints: [${event.columns.join(", ")}] read as DOUBLE`);
      case "ambiguous_date_inference_detected":
        return this.#warn(event.nodeId, `ambiguous dates: [${event.columns.join(", ")}] assumed ${event.format}`);
      case "run_completed":
        this.#done = true;
        return true;
      case "retry_scheduled":
      case "breaker_state_changed":
      case "connector_log":
      case "retention_swept":
        return false;
    }
  }

  /** The whole tree. @param now milliseconds since 1970, for the nodes that run */
  lines(now: number): readonly TreeLine[] {
    const count = this.#nodeCount === 0 ? "" : ` (${this.#completed}/${this.#nodeCount})`;
    const lines: TreeLine[] = [{ text: `pz run${count}`, tone: "plain", indent: 0, importance: 0 }];
    const rows = [...this.#rows.values()];
    for (const [kind, label] of GROUPS) {
      const group = rows.filter((row) => row.kind === kind).sort((a, b) => ordinal(a.name, b.name));
      if (group.length === 0) continue;
      lines.push({ text: label, tone: "plain", indent: 1, importance: 1 });
      for (const row of group) lines.push(...rowLines(row, now));
    }
    return lines;
  }

  #complete(event: NodeCompleted): void {
    const row: Row = this.#rows.get(event.nodeId) ??
      {
        kind: event.kind,
        name: event.name,
        tier: undefined,
        status: event.status,
        rows: 0,
        bytes: 0,
        startedAt: undefined,
        durationMs: 0,
      };
    this.#rows.set(event.nodeId, row);
    this.#completed++;
    row.status = event.status;
    row.rows = event.rows;
    row.durationMs = event.durationMs;
    if (event.status === "failed" && event.errorCode !== null) {
      row.error = `${event.errorCode}: ${(event.errorMessage ?? "").split("\n")[0] ?? ""}`;
    }
    const hint = bottleneckHint(event);
    if (hint !== undefined) row.hint = hint;
    if (event.provenance !== undefined) row.provenance = event.provenance;
  }

  #warn(nodeId: string, text: string): boolean {
    return this.#update(nodeId, (row) => row.warning = text);
  }

  #update(nodeId: string, change: (row: Row) => void): boolean {
    const row = this.#rows.get(nodeId);
    if (row !== undefined) change(row);
    return row !== undefined;
  }
}

function rowLines(row: Row, now: number): TreeLine[] {
  const [glyph, tone] = GLYPHS[row.status];
  const elapsed = row.status === "running" ? Math.max(0, now - (row.startedAt ?? now)) : row.durationMs;
  const importance = row.status === "failed" ? 0 : row.status === "running" ? 1 : 2;
  const start = `${glyph} `;
  const named = `${start}${printable(row.name)}`;
  const lines: TreeLine[] = [{
    text: `${named} ${row.rows} rows ${elapsed}ms`,
    tone,
    tonedLength: glyph.length,
    name: [start.length, named.length],
    extras: extrasOf(row, elapsed),
    indent: 2,
    importance,
  }];
  const detail = (value: string | undefined, detailTone: Tone) => {
    if (value !== undefined) lines.push({ text: printable(value), tone: detailTone, indent: 3, importance });
  };
  detail(row.error, "bad");
  detail(row.hint, "faint");
  detail(row.provenance === undefined ? undefined : PROVENANCE[row.provenance], "faint");
  detail(row.warning, "caution");
  return lines;
}

/** Below these a rate says more of the clock than of the rows. */
const MIN_RATE_MS = 100;
const MIN_RATE_ROWS = 1000;
const MIN_BYTES = 1024;

function extrasOf({ kind, status, rows, bytes, tier }: Row, elapsed: number): readonly string[] {
  const moves = kind === "SourceLoad" || kind === "SinkWrite";
  return [
    ...(moves && rows >= MIN_RATE_ROWS && elapsed >= MIN_RATE_MS ? [formatRate(rows, elapsed)] : []),
    // Bytes are told on the way alone, and would stand beside more rows than they belong to.
    ...(status === "running" && bytes >= MIN_BYTES ? [formatSize(bytes)] : []),
    ...(tier === undefined ? [] : [tier]),
  ];
}
