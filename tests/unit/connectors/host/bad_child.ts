import {
  DATA_FRAME_BYTES,
  encodeFrame,
  FRAME,
  type Frame,
  FrameDecoder,
} from "../../../../src/connectors/protocol/frame.ts";
import { decodeMessage, encodeMessage, type Message } from "../../../../src/connectors/protocol/messages.ts";

/** A connector process that misbehaves in the way its first argument names. */
const mode = Deno.args[0] ?? "";
const encoder = new TextEncoder();

function say(text: string): void {
  Deno.stderr.writeSync(encoder.encode(text));
}

function send(bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length;) at += Deno.stdout.writeSync(bytes.subarray(at));
}

function reply(stream: number, message: Message): void {
  send(encodeMessage(stream, message));
}

function end(stream: number, frames = 0): void {
  reply(stream, { m: "EndOfStream", frames });
}

function hello(stream: number): void {
  const name = mode === "other name" ? "someone" : "bad";
  reply(stream, { m: "Hello", name, version: "1", protocolMajor: 1, capabilities: "0" });
  end(stream);
}

function answer({ stream, kind, payload }: Frame): void {
  if (kind !== FRAME.control) return;
  const message = decodeMessage(payload);
  switch (message.m) {
    case "Handshake":
      if (mode === "garbage") return send(encoder.encode("Segmentation fault (core dumped)\n"));
      if (mode === "oversized") return send(new Uint8Array([0xff, 0xff, 0xff, 0x7f, FRAME.data, 1, 0, 0, 0]));
      return mode === "silent" ? undefined : hello(stream);
    case "Configure":
      if (mode === "chatter") chatter();
      return end(stream);
    case "PlanRead":
      reply(stream, { m: "Partition", id: "p" });
      if (mode === "twice" || mode === "unnamed" || mode === "blank") reply(stream, { m: "Partition", id: "o" });
      if (mode === "twice") reply(stream, { m: "Partition", id: "o" });
      if (mode === "unnamed") reply(stream, { m: "Partition" });
      if (mode === "blank") reply(stream, { m: "Partition", id: "" });
      return end(stream);
    case "OpenReadStream":
      return misbehave(stream);
    case "Shutdown":
      return end(stream);
  }
}

function chatter(): void {
  for (let index = 0; index < 5000; index++) {
    reply(0, { m: "LogEvent", level: "info", message: `note ${index} hunter2` });
  }
  for (let index = 0; index < 300; index++) say(`${"x".repeat(10_000)}\n`);
}

function misbehave(stream: number): void {
  // The start of an Arrow message whose end does not come.
  const block = encodeFrame(FRAME.data, stream, new Uint8Array(DATA_FRAME_BYTES).fill(0xff, 0, 7).fill(0x7f, 7, 8));
  switch (mode) {
    case "dies":
      say("cannot reach hunter2\n");
      return Deno.exit(7);
    case "killed":
      return Deno.kill(Deno.pid, "SIGKILL");
    case "torn":
      send(block);
      return end(stream, 2);
    case "deaf":
      reply(0, { m: "LogEvent", level: "info", message: "deaf now" });
      for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000);
    case "unopened":
      return end(stream + 100);
    case "fails":
      return reply(stream, {
        m: "Failed",
        error: { message: "login of hunter2 failed\u001b[0m", transient: true, retryAfterMs: 5000, hint: "wait" },
      });
  }
}

const decoder = new FrameDecoder();
for await (const bytes of Deno.stdin.readable) for (const frame of decoder.push(bytes)) answer(frame);
