import { setTimeout } from "node:timers/promises";
import type { DagNode } from "../compile/mod.ts";
import type { Tools } from "./attempts.ts";
import type { NodeControl, Verdict } from "./dispatcher.ts";
import { runCheck } from "./executors/check.ts";
import { runPipeline } from "./executors/pipeline.ts";
import { runSinkWrite } from "./executors/sink_write.ts";
import { runSourceLoad } from "./executors/source_load.ts";
import type { NodeEnd } from "./node_end.ts";
import { retryDelayMs, retryPolicy, transientError } from "./retry.ts";
import type { NodeContext, NodeOutcome } from "./run_context.ts";

/** Runs a node to its end; whatever happens it ends with exactly one record and one event. Never throws. */
export async function executeNode(
  tools: Tools,
  node: DagNode,
  control: NodeControl,
): Promise<Verdict> {
  const { run, ends } = tools;
  const start = run.now();
  run.bus.publish({ event: "node_started", nodeId: node.id, kind: node.kind, name: node.name });
  const end = await tryUntilEnd(tools, node, control);
  ends.complete({ ...end, node, durationMs: Math.max(0, run.now() - start) });
  return end.verdict;
}

/** Ends a node that never ran. */
export function skipNode({ ends }: Pick<Tools, "ends">, node: DagNode): void {
  ends.complete({ node, verdict: "skipped", durationMs: 0 });
}

type AttemptEnd = Omit<NodeEnd, "node" | "durationMs">;

/** Tries until an attempt ends well, or its failure is not worth another one. */
async function tryUntilEnd(
  { run, attempts: tries, breakers, perform }: Tools,
  node: DagNode,
  control: NodeControl,
): Promise<AttemptEnd> {
  const policy = retryPolicy(node);
  const gate = breakers.gateFor(node);
  for (let attempts = 1;; attempts++) {
    const made = attempts > 1 ? { attempts: attempts - 1 } : {};
    try {
      if (await gate?.enter(control) === false) return { verdict: "failed", failure: gate?.refusal(), ...made };
    } catch {
      return { verdict: "skipped", ...made };
    }
    try {
      const outcome = await tries.run(node, attempts, control, (context) => perform(context, node));
      gate?.settle();
      const { failure } = outcome;
      return { verdict: failure === undefined ? "success" : "failed", outcome, failure, attempts };
    } catch (error) {
      gate?.settle({ error });
      const transient = attempts < policy.maxAttempts && !control.signal.aborted ? transientError(error) : undefined;
      if (transient === undefined) {
        const failure = tries.judge({ node, error }, control);
        return { verdict: failure === undefined ? "skipped" : "failed", failure, attempts };
      }
      const delayMs = retryDelayMs(policy, attempts, transient.retryAfterMs, run.random());
      run.bus.publish({
        event: "retry_scheduled",
        nodeId: node.id,
        name: node.name,
        attempt: attempts + 1,
        maxAttempts: policy.maxAttempts,
        delayMs,
        reason: tries.redact(transient.message.split("\n")[0] ?? ""),
      });
      try {
        await control.park(() => setTimeout(delayMs, undefined, { signal: control.signal }));
      } catch {
        return { verdict: "skipped", attempts };
      }
    }
  }
}

/** Does one attempt of a node by the executor of its kind. */
export async function performNode(context: NodeContext, node: DagNode): Promise<NodeOutcome> {
  switch (node.kind) {
    case "SourceLoad":
      return await runSourceLoad(context, node);
    case "Pipeline":
      return await runPipeline(context, node);
    case "Check":
      return await runCheck(context, node);
    case "SinkWrite":
      return await runSinkWrite(context, node);
  }
}
