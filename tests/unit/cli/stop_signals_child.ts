import { StopSignals } from "../../../src/cli/stop_signals.ts";

// Waits for signals for as long as its parent reads what it says.
const stop = new StopSignals();
stop.listen();
const say = (line: string) => Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
stop.signal.addEventListener("abort", () => say(`aborted: ${stop.signal.reason.name}`));
say("ready");
setInterval(() => {}, 1000);
