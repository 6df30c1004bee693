import type { ConfigMap, ConnectorContext, ConnectorDescription, Grant } from "../contract/mod.ts";
import { childCommand } from "../host/command.ts";
import type { SessionOptions } from "../host/session.ts";

/**
 * What of a session depends on where the connector comes from.
 *
 * @param connector undefined: one inside pz of which nothing else is known
 */
export function childOf(
  connector: ConnectorDescription | undefined,
  config: ConfigMap,
  context: ConnectorContext,
  settings: { readonly sandbox?: "auto" | "require"; readonly grant: Grant },
): Pick<SessionOptions, "config" | "command" | "program" | "capabilities"> {
  const program = connector?.program;
  return {
    config: connector?.childConfig?.(config, context) ?? config,
    command: childCommand({ ...settings, env: settings.grant.env, program }),
    program,
    // pz knows its own.
    capabilities: program === undefined ? undefined : connector?.capabilities,
  };
}
