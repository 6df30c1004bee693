import { ConnectorError, type DeniedPermission } from "../contract/mod.ts";

/**
 * Any thrown value as the error that reaches the engine. A refused permission is recognised through its causes and
 * names what was refused; whatever else is no `ConnectorError` counts as a permanent bug of the connector.
 */
export function toConnectorError(error: unknown): ConnectorError {
  if (error instanceof ConnectorError) return error;
  const denied = findDenied(error);
  if (denied !== undefined) return refusal(denied, error);
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return new ConnectorError(`The connector failed unexpectedly: ${text}`, { transient: false, cause: error });
}

/**
 * To be called before a driver connects by node's sockets: on some versions of the runtime those tell a refused
 * permission as a refused connection.
 *
 * @throws {ConnectorError} PZ0740 when the sandbox does not let the connector reach the port
 */
export function requireNet(host: string, port: number): void {
  const target = host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
  if (Deno.permissions.querySync({ name: "net", host: target }).state === "granted") return;
  throw refusal({ permission: "net", target }, undefined);
}

function refusal(denied: DeniedPermission, cause: unknown): ConnectorError {
  return new ConnectorError(
    `The sandbox does not let the connector use ${denied.permission} ${denied.target}`.trim(),
    { transient: false, code: "PZ0740", denied, cause },
  );
}

function findDenied(error: unknown): DeniedPermission | undefined {
  let at = error;
  for (let depth = 0; depth < 8 && at instanceof Error; depth++) {
    // A refused import comes as a type error with the same sentence.
    if (at instanceof Deno.errors.NotCapable || (at instanceof TypeError && at.message.startsWith("Requires "))) {
      return deniedOf(at.message);
    }
    const bySystem = deniedBySystem(at);
    if (bySystem !== undefined) return bySystem;
    at = at.cause;
  }
  return undefined;
}

/** What the operating system refused: the sandbox's layer there, or the rights of the user who runs pz. */
function deniedBySystem(error: Error): DeniedPermission | undefined {
  const code = "code" in error ? error.code : undefined;
  const call = "syscall" in error ? error.syscall : undefined;
  if (code !== "EACCES" && code !== "EPERM" && !(error instanceof Deno.errors.PermissionDenied)) return undefined;
  if (call === "getaddrinfo") {
    return { permission: "net", target: "hostname" in error ? String(error.hostname) : "" };
  }
  if (call === "connect") return { permission: "net", target: "address" in error ? String(error.address) : "" };
  const path = /'([^']*)'/.exec(error.message)?.[1];
  return path === undefined ? { permission: "system", target: "" } : { permission: "file", target: path };
}

/** Reads permission and target out of the runtime's sentence, whose shape the tests pin for every supported version. */
function deniedOf(message: string): DeniedPermission {
  const parts = /^Requires (\w+(?: and \w+)?) access(?: to (?:"((?:[^"\\]|\\.)*)"|(.*?)))?(?:, run again|, specify|$)/
    .exec(message);
  const flag = /--allow-(\w+)/.exec(message); // of a sentence of another shape
  return { permission: parts?.[1] ?? flag?.[1] ?? "a", target: parts?.[2] ?? parts?.[3] ?? "" };
}
