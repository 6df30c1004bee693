import { ConnectorError, type DatasetSpec, type OutputSpec } from "../../../../src/connectors/mod.ts";
import type { ConnectorHost } from "../../../../src/connectors/sdk/mod.ts";

type Spec = Pick<DatasetSpec | OutputSpec, "options">;

/** How each try of an operation went and goes, over all reads and writes of the process. */
let tries = 0;

/** One operation through the host; `fates` says how each try ends: `ok`, `busy`, `busy:` and milliseconds, `no`, `wait`. */
export async function operate(host: ConnectorHost, spec: Spec, label: string, signal: AbortSignal): Promise<void> {
  const { fates, once, url } = spec.options;
  await host.operate({ label, idempotent: once !== true, signal }, async () => {
    if (typeof url === "string") return await request(url, signal);
    const fate = (typeof fates === "string" ? fates.split(",") : [])[tries++] ?? "ok";
    host.log("info", `${label} ${fate}`);
    const [name, ms] = fate.split(":");
    if (name === "busy") {
      throw new ConnectorError("busy", { transient: true, ...(ms === undefined ? {} : { retryAfterMs: Number(ms) }) });
    }
    if (name === "no") throw new ConnectorError("no", { transient: false });
    if (name === "budget") host.reportBudget(0, Number(ms));
    if (name === "wait") await aborted(signal);
  });
}

async function request(url: string, signal: AbortSignal): Promise<void> {
  const response = await fetch(url, { signal });
  await response.body?.cancel();
  if (response.ok) return;
  const seconds = Number(response.headers.get("retry-after") ?? NaN);
  throw new ConnectorError(`the server answered ${response.status}`, {
    transient: response.status === 429,
    retryAfterMs: Number.isFinite(seconds) ? seconds * 1000 : undefined,
  });
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true }));
}
