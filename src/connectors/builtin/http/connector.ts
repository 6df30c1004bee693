import { type ConfigMap, ConnectorError } from "../../contract/mod.ts";
import type { ConnectorHost, ConnectorInstance, ConnectorModule } from "../../sdk/connector.ts";
import { addressOf } from "./address.ts";
import { HTTP_CAPABILITIES } from "./capabilities.ts";
import { HttpClient } from "./client.ts";
import { readConfig } from "./config.ts";
import { HttpSink } from "./sink.ts";
import { HttpSource } from "./source.ts";

/** APIs over HTTP. It never repeats anything by itself. */
export const connector: ConnectorModule = {
  name: "http",
  version: "1.0.0",
  capabilities: HTTP_CAPABILITIES,
  open,
};

function open(raw: ConfigMap, host: ConnectorHost): ConnectorInstance {
  const { config, problems: [problem] } = readConfig(raw);
  if (config === undefined || problem !== undefined) {
    throw new ConnectorError(problem?.message ?? "A connection without options", {
      transient: false,
      code: "PZ0301",
      hint: problem?.hint,
    });
  }
  const client = new HttpClient(config, host);
  return {
    source: new HttpSource(client, host),
    sink: new HttpSink(client, host),
    check: (signal) => check(client, signal),
    close: () => {
      client[Symbol.dispose]();
      return Promise.resolve();
    },
  };
}

/** With a path to check, its answer must be good; else any answer but a refusal of who asks. */
async function check(client: HttpClient, signal: AbortSignal): Promise<void> {
  const { config } = client;
  const target = { url: addressOf(config, config.checkPath ?? "", []), isHome: true };
  const shown = `${target.url.origin}${target.url.pathname}`;
  const { body } = await client.get(target, { label: "check", shown, isProbe: config.checkPath === undefined }, signal);
  await body.close();
}
