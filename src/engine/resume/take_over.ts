import type { DagNode, SinkWriteNode } from "../../compile/mod.ts";
import { fingerprint, isSameContent } from "../../staging/mod.ts";
import type { Tools } from "../attempts.ts";
import type { NodeControl, Verdict } from "../dispatcher.ts";
import type { NodeEnds } from "../node_end.ts";
import type { CarriedSink, ComparedSink } from "./resumption.ts";
import { isAppend } from "./work.ts";

/** Records outputs that stand as an earlier run wrote them. */
export function carryForward(ends: NodeEnds, carried: readonly CarriedSink[]): void {
  if (carried.length === 0) return;
  ends.completeTogether(
    carried.map(({ node, rows }) => ({
      node,
      verdict: "success",
      provenance: "carried_forward",
      outcome: { rows },
      durationMs: 0,
    })),
  );
}

/** Ends a load whose rows stand in staging already. */
export function takeOverLoad({ run, ends }: Tools, node: DagNode, rows: number): Verdict {
  run.bus.publish({ event: "node_started", nodeId: node.id, kind: node.kind, name: node.name });
  ends.complete({ node, verdict: "success", provenance: "reused", outcome: { rows }, durationMs: 0 });
  return "success";
}

/**
 * Records an output as carried forward if the rows that it is made of are those that it was written with; otherwise
 * `write` writes it. Rows that were appended stay as they are, and who watches is told that others were made since.
 */
export async function compareSink(
  tools: Tools,
  { node, control, compared }: {
    readonly node: SinkWriteNode;
    readonly control: NodeControl;
    readonly compared: ComparedSink;
  },
  { write, warn }: { readonly write: () => Promise<Verdict>; readonly warn: (message: string) => void },
): Promise<Verdict> {
  const start = tools.run.now();
  let isSame: boolean;
  try {
    const found = await tools.attempts.run(
      node,
      1,
      control,
      ({ connection, signal }) => fingerprint(connection, node.relation, { signal }),
    );
    isSame = isSameContent(found, compared.fingerprint);
  } catch {
    // Writing finds out what is wrong.
    isSame = false;
  }
  if (!isSame && !isAppend(node)) return await write();
  if (control.signal.aborted) {
    tools.ends.complete({ node, verdict: "skipped", durationMs: 0 });
    return "skipped";
  }
  if (!isSame) {
    warn(
      `'${node.name}' was appended by run ${compared.run}, and its pipeline gives other rows now: ` +
        "they are not appended again",
    );
  }
  tools.ends.complete({
    node,
    verdict: "success",
    provenance: "carried_forward",
    outcome: { rows: compared.rows },
    durationMs: Math.max(0, tools.run.now() - start),
  });
  return "success";
}
