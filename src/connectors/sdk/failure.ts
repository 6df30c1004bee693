import { ConnectorError, type DeniedPermission } from "../contract/mod.ts";

/**
 * Any thrown value as the error that reaches the engine. A refused permission is recognised through its causes and
 * names what was refused; whatever else is no `ConnectorError` counts as a permanent bug of the connector.
 */
export function toConnectorError(error: unknown): ConnectorError {
  if (error instanceof ConnectorError) return error;
  const denied = findDenied(error);
  if (denied !== undefined) {
    return new ConnectorError(
      `The sandbox does not let the connector use ${denied.permission} ${denied.target}`.trim(),
      {
        transient: false,
        code: "PZ0740",
        denied,
        cause: error,
      },
    );
  }
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return new ConnectorError(`The connector failed unexpectedly: ${text}`, { transient: false, cause: error });
}

function findDenied(error: unknown): DeniedPermission | undefined {
  let at = error;
  for (let depth = 0; depth < 8 && at instanceof Error; depth++) {
    if (at instanceof Deno.errors.NotCapable) return deniedOf(at.message);
    at = at.cause;
  }
  return undefined;
}

/** Reads permission and target out of the runtime's sentence, whose shape the tests pin for every supported version. */
function deniedOf(message: string): DeniedPermission {
  const parts = /^Requires (\w+) access(?: to (?:"((?:[^"\\]|\\.)*)"|(.*?)))?(?:, run again|, specify|$)/.exec(message);
  return { permission: parts?.[1] ?? "a permission", target: parts?.[2] ?? parts?.[3] ?? "" };
}
