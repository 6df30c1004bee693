import { ConnectorError } from "../../contract/mod.ts";
import { isRefusedPermission } from "../shared/refused_permission.ts";

/** SQLSTATEs after which the same statement may succeed: lost connections, conflicts, exhausted or stopping servers. */
const TRANSIENT_STATE = /^(?:08...|40001|40P01|53...|55P03|57P0.)$/;
const TRANSIENT_CODES: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "ECONNABORTED",
  "EPIPE",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EAI_AGAIN",
]);

/** Next steps for what users meet most. */
const HINTS: { readonly [state: string]: string } = {
  "28P01": "check user and password of the connection",
  "28000": "check user, password and ssl_mode of the connection, and the server's pg_hba.conf",
  "3D000": "check the option database of the connection",
  "42P01": "check the spelling; names are case-sensitive here, and `table` alone means public.table",
  "3F000": "create the schema first; it is not created by a write",
  "42501": "grant the role of the connection the right that is missing",
  "53300": "lower max_concurrency of the connection or partitions of the read",
  "57014": "raise command_timeout_seconds of the connection; 0 means no limit",
  "25006": "the server is read-only, perhaps a standby; connect to the primary",
};

/** What of a server's error may be shown: never its detail or context, which can hold rows. */
type ServerError = { readonly code: string; readonly message: string; readonly column: string | undefined };

/** The SQLSTATE of an error of the server. */
export function stateOf(error: unknown): string | undefined {
  return serverError(error)?.code;
}

/** Whether the server has said, in its answer to a COMMIT, that nothing was committed: not that it or the line went away. */
export function isRolledBack(error: unknown): boolean {
  const state = stateOf(error);
  return state !== undefined && !/^(?:08...|40003|57P0.)$/.test(state);
}

/**
 * An error of the driver or the server as a connector's; `doing` says what failed, such as `Reading "public.t"`. One
 * that is a connector's error already, and the runtime's refusal of a permission, pass as they are.
 */
export function toTrouble(error: unknown, doing: string): unknown {
  if (error instanceof ConnectorError || isRefusedPermission(error)) return error;
  const server = serverError(error);
  if (server !== undefined) {
    const { code, message, column } = server;
    const where = column === undefined || message.includes(column) ? "" : `, column "${column}"`;
    return new ConnectorError(`${doing} failed: ${message}${where} (SQLSTATE ${code})`, {
      transient: TRANSIENT_STATE.test(code),
      hint: HINTS[code],
      cause: error,
    });
  }
  const code = textMember(error, "code");
  const text = error instanceof Error ? error.message : String(error);
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") {
    return new ConnectorError(`${doing} failed: there is no host of that name`, {
      transient: code === "EAI_AGAIN",
      hint: "check the option host of the connection",
    });
  }
  const lost = (code !== undefined && TRANSIENT_CODES.has(code)) ||
    /terminated|timeout expired|not queryable/.test(text);
  if (lost) {
    const how = code === "ECONNREFUSED"
      ? "the server refused the connection"
      : text.includes("timeout expired")
      ? "the server did not answer in time"
      : "the connection was lost";
    return new ConnectorError(`${doing} failed: ${how}${code === undefined ? "" : ` (${code})`}`, {
      transient: true,
      ...(code === "ECONNREFUSED" ? { hint: "check host and port of the connection, and that the server runs" } : {}),
    });
  }
  return error;
}

function serverError(error: unknown): ServerError | undefined {
  const code = textMember(error, "code");
  if (code === undefined || !/^[0-9A-Z]{5}$/.test(code) || textMember(error, "severity") === undefined) {
    return undefined;
  }
  const context = textMember(error, "where");
  const column = textMember(error, "column") ?? /^COPY .*?, column (.+?)(?::|$)/m.exec(context ?? "")?.[1];
  return { code, message: textMember(error, "message") ?? "", column };
}

function textMember(value: unknown, name: string): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const member: unknown = Reflect.get(value, name);
  return typeof member === "string" ? member : undefined;
}
