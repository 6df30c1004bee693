import assert from "node:assert/strict";
import { StopSignals } from "../../../src/cli/stop_signals.ts";

const LISTENER = new URL("./stop_signals_child.ts", import.meta.url).href;

async function stopped(
  signals: readonly Deno.Signal[],
): Promise<{ readonly output: string; readonly status: Deno.CommandStatus }> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-prompt", LISTENER],
    stdin: "null",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  let output = "";
  const waiting = [...signals];
  for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
    output += text;
    const next = waiting.shift();
    if (next !== undefined) child.kill(next);
  }
  return { output, status: await child.status };
}

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  Deno.test({
    name: `the first ${signal} aborts and the second kills`,
    ignore: Deno.build.os === "windows",
    fn: async () => {
      const { output, status } = await stopped([signal, signal]);
      assert.equal(output, "ready\naborted: AbortError\n");
      assert.equal(status.signal, signal);
    },
  });
}

Deno.test("without a signal nothing is aborted, and closing twice is fine", () => {
  const stop = new StopSignals();
  stop.listen();
  stop.listen();
  assert.equal(stop.signal.aborted, false);
  stop[Symbol.dispose]();
  stop[Symbol.dispose]();
  assert.equal(stop.signal.aborted, false);
});
