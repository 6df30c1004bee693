import { CHILD_VERB, type ChildCommand, childCommand } from "../../src/connectors/host/command.ts";
import { FrameDecoder } from "../../src/connectors/protocol/frame.ts";
import { decodeMessage, encodeMessage, PROTOCOL_MAJOR } from "../../src/connectors/protocol/messages.ts";
import { BINARY } from "../harness/cli.ts";
import { median } from "./cpu.ts";
import { numberAfter, reportGates, say } from "./gates.ts";

/** The most milliseconds from the start of a child to its answer to the handshake, for a binary. */
const LIMITS = { unconfined: 100, confined: 250 } as const;

const START = { m: "Start", connector: "generate", grant: { net: ["127.0.0.1:5432"], read: [], write: [], env: [] } };

/**
 * The time from the start of a connector's process to its answer to the handshake: as it is, confined by the operating
 * system where that can do so, and with the sandbox of the runtime alone.
 *
 *     deno task bench child [--rounds 11]
 */
export async function bench(args: readonly string[]): Promise<void> {
  const rounds = numberAfter(args, "--rounds", 11);
  say(`a connector's process, pz from ${BINARY === undefined ? "source" : "the binary"}`);
  const command = BINARY === undefined ? childCommand() : { path: BINARY, args: [CHILD_VERB], env: {} };
  // What the process that confines itself hands over to the one that it becomes.
  const handed = { ...command, env: { ...command.env, PZ_CONNECTOR_START: JSON.stringify(START) } };
  const kinds = {
    unconfined: () => start(handed, []),
    confined: () => start(command, [encodeMessage(0, START)]),
  };
  for (const kind of ["unconfined", "confined"] as const) {
    const costs: Cost[] = [];
    for (let round = 0; round <= rounds; round++) {
      const cost = await kinds[kind]();
      if (round > 0) costs.push(cost);
    }
    const wall = median(costs.map(({ wall }) => wall));
    const gate = { what: `${kind}, start to handshake (median of ${rounds})`, value: wall, unit: " ms" };
    reportGates([BINARY === undefined ? gate : { ...gate, limit: LIMITS[kind] }]);
    const least = Math.min(...costs.map(({ wall }) => wall));
    const cpu = median(costs.map(({ cpu }) => cpu));
    say(`      ${kind}: least ${least.toFixed(0)} ms; CPU ${Number.isNaN(cpu) ? "unknown" : `${cpu.toFixed(0)} ms`}`);
  }
}

/** Milliseconds to the answer, on the clock and of CPU; the latter only where the system tells it by a file. */
type Cost = { readonly wall: number; readonly cpu: number };

/** Starts a child, waits for its answer to the handshake and ends it. */
async function start(command: ChildCommand, first: readonly Uint8Array<ArrayBuffer>[]): Promise<Cost> {
  const began = performance.now();
  const child = new Deno.Command(command.path, {
    args: [...command.args],
    env: { ...command.env },
    clearEnv: true,
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const input = child.stdin.getWriter();
  for (const frame of first) await input.write(frame);
  await input.write(encodeMessage(1, { m: "Handshake", protocolMajor: PROTOCOL_MAJOR, runId: "bench" }));
  const wall = await answer(child.stdout, began);
  const cpu = cpuOf(child.pid);
  await input.close();
  const { code } = await child.status;
  if (code !== 0) throw new Error(`the child ended with ${code}`);
  return { wall, cpu };
}

/** The CPU milliseconds of a process so far, in steps of ten. */
function cpuOf(pid: number): number {
  if (Deno.build.os !== "linux") return NaN;
  const { stdout } = new Deno.Command("cat", { args: [`/proc/${pid}/stat`] }).outputSync();
  const fields = new TextDecoder().decode(stdout).split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

async function answer(output: ReadableStream<Uint8Array>, began: number): Promise<number> {
  const decoder = new FrameDecoder();
  let time: number | undefined;
  for await (const bytes of output) {
    for (const { payload } of decoder.push(bytes)) {
      if (decodeMessage(payload).m === "Hello") time = performance.now() - began;
    }
    if (time !== undefined) break;
  }
  if (time === undefined) throw new Error("the child ended without an answer");
  return time;
}
