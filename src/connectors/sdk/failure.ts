import { ConnectorError, type DeniedPermission, UNEXPECTED } from "../contract/mod.ts";

/**
 * The `ConnectorError` of packages: what the system refused is recognised behind it, too, since it may be the sandbox's
 * layer there. pz's own connectors know the rights of the user who runs pz, and tell these in their own words.
 */
export class PackageError extends ConnectorError {}

/** More causes than these are not looked through. */
const MAX_CAUSES = 100;

/**
 * Any thrown value as the error that reaches the engine. A refused permission is recognised through its causes, also
 * those of a `ConnectorError`, and names what was refused; whatever else is no `ConnectorError` counts as a permanent bug
 * of the connector, told with the place in the code of its package that it comes from.
 */
export function toConnectorError(error: unknown): ConnectorError {
  if (error instanceof ConnectorError) {
    if (error.denied !== undefined) return error;
    const denied = findDenied(error, error instanceof PackageError ? deniedByAny : deniedByRuntime);
    if (denied === undefined) return error;
    const { outcomeUnknown } = error;
    return outcomeUnknown === undefined ? refusal(denied, error) : refusal(denied, error).with({ outcomeUnknown });
  }
  const denied = findDenied(error, deniedByAny);
  if (denied !== undefined) return refusal(denied, error);
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return new ConnectorError(`${UNEXPECTED}${text}${placeOf(error)}`, { transient: false, cause: error });
}

/** Where in the code of a package an error comes from; empty where that can't be told. */
function placeOf(error: unknown): string {
  const stack = error instanceof Error && typeof error.stack === "string" ? error.stack : "";
  // The runtime shortens the text that the code was loaded from.
  const [, position] = /\n\s+at [^\n]*?data:text\/javascript;base64,[^\s:]*:(\d+:\d+)/.exec(stack) ?? [];
  return position === undefined ? "" : ` (connector.js:${position})`;
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

/** The first refusal that an error or one of its causes is. */
function findDenied(
  error: unknown,
  recognise: (error: Error) => DeniedPermission | undefined,
): DeniedPermission | undefined {
  const pending = [error];
  const seen = new Set<unknown>();
  while (pending.length > 0 && seen.size < MAX_CAUSES) {
    const at = pending.shift();
    if (!(at instanceof Error) || seen.has(at)) continue;
    seen.add(at);
    const found = recognise(at);
    if (found !== undefined) return found;
    pending.push(at.cause, ...(at instanceof AggregateError ? at.errors : []));
  }
  return undefined;
}

function deniedByAny(error: Error): DeniedPermission | undefined {
  return deniedByRuntime(error) ?? deniedBySystem(error);
}

/** What the runtime's layer of the sandbox refused; an import comes as a type error with the same sentence. */
function deniedByRuntime(error: Error): DeniedPermission | undefined {
  const isRefusal = error instanceof Deno.errors.NotCapable ||
    (error instanceof TypeError && error.message.startsWith("Requires "));
  return isRefusal ? deniedOf(error.message) : undefined;
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
