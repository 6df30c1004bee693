import { ConnectorError, type OutputSpec } from "../../../../src/connectors/mod.ts";
import { FRAME, FrameDecoder } from "../../../../src/connectors/protocol/frame.ts";
import { decodeMessage, encodeMessage } from "../../../../src/connectors/protocol/messages.ts";
import {
  arrowSchema,
  BatchBuilder,
  type ConnectorHost,
  type ConnectorModule,
  ConnectorServer,
  type Sink,
  type Source,
  type WriteSession,
} from "../../../../src/connectors/sdk/mod.ts";
import { operate } from "./served_operations.ts";

/** A connector process without a sandbox, whose connector does what the options of a request say. */

const SCHEMA = arrowSchema([{ name: "n", type: "bigint" }]);

const served: ConnectorModule = {
  name: "served",
  version: "1",
  capabilities: ["CheckpointableReads", "CheckpointableWrites", "ApplyDeletes", "GatedOperations"],
  open: (config, host) => ({
    source: source(host),
    sink: sink(host),
    check: async (signal) => {
      if (config["host"] === "nowhere") {
        throw new ConnectorError("nobody at nowhere", { transient: true, hint: "dial" });
      }
      if (config["host"] === "silent") await forever(signal);
    },
  }),
};

function forever(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const timer = setInterval(() => {}, 1000);
    signal.addEventListener("abort", () => {
      clearInterval(timer);
      reject(signal.reason);
    });
  });
}

/** Longer than the limits of the tests. */
function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 300));
}

function source(host: ConnectorHost): Source {
  return {
    schema: async (spec, signal) => {
      const { gated } = spec.options;
      if (gated === "schema") await operate(host, spec, "describe", signal);
      else if (gated === "forgotten") operate(host, spec, "describe", signal).catch(() => {});
      return SCHEMA;
    },
    plan: async function* (spec, signal) {
      const { notice, plan } = spec.options;
      if (typeof notice === "string") host.notice(notice === "pid" ? String(Deno.pid) : notice);
      else host.log("info", `hints ${JSON.stringify(spec.hints)}`);
      yield { id: "first", checkpointing: true };
      if (plan === "single") return;
      if (plan === "waits") await forever(signal);
      if (plan === "pauses") await pause();
      yield { id: "second" };
    },
    resumeFrom: (_spec, _partition, token) => Promise.resolve(token !== "stale"),
    read: (spec, _partition, options) => {
      let done = Number(options.resumeFrom ?? 0);
      const batches = async function* () {
        for (; done < 6 || spec.options["endless"] === true;) {
          const { fail } = spec.options;
          if (fail === "after four" && done === 4) {
            // What is on its way when a read fails is not given any more.
            await pause();
            throw new ConnectorError("lost", { transient: true });
          }
          if (fail === "read" && done === 3) {
            throw new ConnectorError("lost", { transient: true });
          }
          if (spec.options["gated"] === true) await operate(host, spec, "page", options.signal);
          if (spec.options["stop"] === "exit" && done === 3) Deno.exit(9);
          if (spec.options["stop"] === "process") Deno.kill(Deno.pid, "SIGSTOP");
          const builder = new BatchBuilder(SCHEMA);
          builder.append([BigInt(done++)]);
          yield builder.finish();
          await Promise.resolve();
        }
      };
      return Object.assign(batches(), { checkpoint: () => done % 2 === 0 ? String(done) : undefined });
    },
  };
}

function sink(host: ConnectorHost): Sink {
  return { abortSemantics: "best_effort", begin: (spec, _schema, ...rest) => begin(spec, host, ...rest) };
}

async function begin(
  spec: OutputSpec,
  host: ConnectorHost,
  signal: AbortSignal,
  acknowledge?: (rows: bigint) => Promise<void>,
): Promise<WriteSession> {
  const say = (text: string) => host.log("info", text);
  const at = spec.options["at"];
  const step = async (name: string, stepSignal: AbortSignal = signal) => {
    if (at !== name) return;
    switch (spec.options["do"]) {
      case "fail":
        throw new ConnectorError(`${name} failed for hunter2`, {
          transient: true,
          retryAfterMs: 7,
          code: "PZ0741",
          hint: "h",
        });
      case "known":
        throw new ConnectorError("a constraint", { transient: false, outcomeUnknown: false });
      case "throw":
        throw new TypeError("a bug");
      case "die":
        Deno.exit(9);
        break;
      case "kill":
        Deno.kill(Deno.pid, "SIGKILL");
        await forever(stepSignal);
        break;
      case "wait":
        say(`waiting in ${name}`);
        await forever(stepSignal);
        break;
      case "pause":
        say(`pausing in ${name}`);
        await pause();
        break;
      case "hoard":
        for (const hoard: number[][] = [];;) hoard.push(new Array(1 << 20).fill(hoard.length));
      case "ignore":
        say(`ignoring all in ${name}`);
        await forever(new AbortController().signal);
    }
  };
  const { node, run, ordinal } = spec.attempt;
  say(`begin ${spec.mode} ${spec.keys} ${spec.onDelete} ${node}/${run}/${ordinal}`);
  await step("begin");
  let rows = 0n;
  let sum = 0n;
  let batches = 0;
  let deleted = 0;
  return {
    write: async (batch, writeSignal) => {
      if (spec.options["gated"] === true) await operate(host, spec, "put", writeSignal);
      await step("write", writeSignal);
      rows += BigInt(batch.numRows);
      batches++;
      for (const value of batch.getChild("n") ?? []) sum += value;
      if (spec.options["acks"] !== true) return;
      await acknowledge?.(rows);
      say(`kept ${rows}`);
    },
    applyDeletes: async (keys, deleteSignal) => {
      await step("deletes", deleteSignal);
      deleted += keys.numRows;
    },
    acknowledgedRows: () => rows,
    resumeFrom: async (from) => {
      if (spec.options["gated"] === true) await operate(host, spec, "look", signal);
      await step("resume");
      rows = from;
      return from < 100n;
    },
    commit: async () => {
      if (spec.options["gated"] === true) await operate(host, spec, "finish", new AbortController().signal);
      await step("commit");
      say(`commit ${rows} rows, sum ${sum}, ${deleted} deleted`);
      return { rows, batches };
    },
    abort: async () => {
      if (spec.options["gated"] === true) await operate(host, spec, "undo", new AbortController().signal);
      say(`abort after ${rows} rows`);
      await step("abort");
    },
  };
}

async function serve(): Promise<void> {
  const output = Deno.stdout.writable.getWriter();
  const post = (bytes: Uint8Array) => void output.write(bytes).catch(() => {});
  const server = new ConnectorServer(served, post);
  const decoder = new FrameDecoder();
  for await (const bytes of Deno.stdin.readable) {
    for (const frame of decoder.push(bytes)) {
      if (frame.stream !== 0) server.receive(frame);
      else if (frame.kind === FRAME.control && decodeMessage(frame.payload).m === "Ping") {
        post(encodeMessage(0, { m: "Pong" }));
      }
    }
  }
}

await serve();
Deno.exit(0);
