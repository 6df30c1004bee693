import type { ConnectorHost } from "../../src/connectors/sdk/mod.ts";

/** A host for a connector that a test opens in its own process: says nothing, and lets every request go at once. */
export function testHost(own: Partial<ConnectorHost> = {}): ConnectorHost {
  return {
    log: () => {},
    notice: () => {},
    operate: ({ signal }, work) => work(signal),
    reportBudget: () => {},
    ...own,
  };
}
