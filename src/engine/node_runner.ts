import type { DagNode } from "../compile/mod.ts";
import type { Tools } from "./attempts.ts";
import type { NodeControl, Verdict } from "./dispatcher.ts";
import { runCheck } from "./executors/check.ts";
import { runPipeline } from "./executors/pipeline.ts";
import { runSinkWrite } from "./executors/sink_write.ts";
import { runSourceLoad } from "./executors/source_load.ts";
import type { NodeEnd } from "./node_end.ts";
import type { NodeGate } from "./operation_gate.ts";
import { retryDelayMs, retryPolicy, transientError } from "./retry.ts";
import type { NodeContext, NodeOutcome } from "./run_context.ts";
import { faultPoint } from "../util/mod.ts";

/** Runs a node to its end; whatever happens it ends with exactly one record and one event. Never throws. */
export async function executeNode(
  tools: Tools,
  node: DagNode,
  control: NodeControl,
): Promise<Verdict> {
  const { run, ends } = tools;
  const start = run.now();
  run.bus.publish({ event: "node_started", nodeId: node.id, kind: node.kind, name: node.name });
  const operations = tools.gates.forNode(node, control);
  const end = await tryUntilEnd(tools, node, control, operations);
  ends.complete({ ...end, node, ops: operations?.stats, durationMs: Math.max(0, run.now() - start) });
  return end.verdict;
}

/** Ends a node that never ran. */
export function skipNode({ ends }: Pick<Tools, "ends">, node: DagNode): void {
  ends.complete({ node, verdict: "skipped", durationMs: 0 });
}

type AttemptEnd = Omit<NodeEnd, "node" | "durationMs">;

/** Tries until an attempt ends well, or its failure is not worth another one. */
async function tryUntilEnd(
  tools: Tools,
  node: DagNode,
  control: NodeControl,
  operations: NodeGate | undefined,
): Promise<AttemptEnd> {
  const { run, attempts: tries, breakers } = tools;
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
      const outcome = await tryOnce(tools, node, attempts, control, operations);
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
        await control.park(() => run.pause(delayMs, control.signal));
      } catch {
        return { verdict: "skipped", attempts };
      }
    }
  }
}

async function tryOnce(
  { attempts, perform }: Tools,
  node: DagNode,
  attempt: number,
  control: NodeControl,
  operations: NodeGate | undefined,
): Promise<NodeOutcome> {
  try {
    return await attempts.run(
      node,
      attempt,
      control,
      (context) => perform(operations?.equip(context) ?? context, node),
    );
  } finally {
    await operations?.endAttempt();
  }
}

/** Does one attempt of a node by the executor of its kind. */
export async function performNode(context: NodeContext, node: DagNode): Promise<NodeOutcome> {
  faultPoint("node_begun");
  switch (node.kind) {
    case "SourceLoad": {
      const outcome = await runSourceLoad(context, node);
      faultPoint("load_done");
      return outcome;
    }
    case "Pipeline":
      return await runPipeline(context, node);
    case "Check":
      return await runCheck(context, node);
    case "SinkWrite":
      return await runSinkWrite(context, node);
  }
}
