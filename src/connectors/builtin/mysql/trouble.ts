import { ConnectorError } from "../../contract/mod.ts";
import { isRefusedPermission } from "../shared/refused_permission.ts";

/** The server's errors after which the same statement may succeed: lost connections, conflicts, exhausted or stopping servers. */
const TRANSIENT: ReadonlySet<number> = new Set([
  1040, // too many connections
  1041, // out of memory
  1042, // can't get a hostname
  1043, // bad handshake
  1053, // shutdown in progress
  1077, // normal shutdown
  1078, // got a signal
  1079, // shutdown complete
  1152, // aborted connection
  1154,
  1156, // packets out of order
  1158, // trouble while reading
  1159, // timeout while reading
  1160, // trouble while writing
  1161, // timeout while writing
  1184, // aborted connection
  1203, // too many connections of this user
  1205, // lock wait timeout
  1206, // too many locks
  1213, // deadlock
  1226, // a limit of this user per hour
  1317, // interrupted
  1412, // the table's definition has changed
  1613, // XA transaction rolled back
  1637, // too many transactions
  1826, // tables flushed
  1927, // connection was killed
  2006, // server has gone away
  2013, // lost connection
  3024, // execution time exceeded
  3058, // deadlock of user-level locks
  3168, // server is not available
  4031, // disconnected for inactivity
]);
const TRANSIENT_CODES: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "ECONNABORTED",
  "EPIPE",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EAI_AGAIN",
  "PROTOCOL_CONNECTION_LOST",
]);

/** Next steps for what users meet most. */
const HINTS: { readonly [number: number]: string } = {
  1040: "lower max_concurrency of the connection or partitions of the read",
  1044: "grant the user of the connection the right to use the database",
  1045: "check user and password of the connection",
  1049: "check the option database of the connection",
  1130: "let the server's user connect from this host",
  1142: "grant the user of the connection the right that is missing",
  1146: "check the spelling; the database stands in the connection",
  1153: "raise max_allowed_packet of the server",
  1203: "lower max_concurrency of the connection or partitions of the read",
  1205: "raise command_timeout_seconds of the connection, or find who holds the lock",
  1227: "grant the user of the connection the right that is missing",
  1290: "the server is read-only, perhaps a replica; connect to the primary",
  1698: "give the server's user a password; logging in by a socket is for local programs alone",
  1836: "the server is read-only, perhaps a replica; connect to the primary",
};

type ServerError = { readonly number: number; readonly message: string; readonly state: string };

/** The number of an error that the server answered with. */
export function numberOf(error: unknown): number | undefined {
  return serverError(error)?.number;
}

/** Whether the server itself has answered, and so a COMMIT has not happened: not that it or the line went away. */
export function isRefused(error: unknown): boolean {
  const number = numberOf(error);
  return number !== undefined && !/^(?:1053|107[789]|1152|1184|1927|2006|2013|1317|4031)$/.test(String(number));
}

/**
 * An error of the driver or the server as a connector's; `doing` says what failed, such as `Reading "t"`. One that is a
 * connector's error already, and the runtime's refusal of a permission, pass as they are.
 */
export function toTrouble(error: unknown, doing: string): unknown {
  if (error instanceof ConnectorError || isRefusedPermission(error)) return error;
  const server = serverError(error);
  if (server !== undefined) {
    const { number, message, state } = server;
    return new ConnectorError(
      `${doing} failed: ${withoutValues(number, message)} (error ${number}, SQLSTATE ${state})`,
      {
        transient: TRANSIENT.has(number),
        hint: HINTS[number],
        cause: error,
      },
    );
  }
  const code = member(error, "code");
  const text = error instanceof Error ? error.message : String(error);
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") {
    return new ConnectorError(`${doing} failed: there is no host of that name`, {
      transient: code === "EAI_AGAIN",
      hint: "check the option host of the connection",
    });
  }
  const lost = (typeof code === "string" && TRANSIENT_CODES.has(code)) || /closed state|Connection lost/.test(text);
  if (lost) {
    const how = code === "ECONNREFUSED"
      ? "the server refused the connection"
      : code === "ETIMEDOUT"
      ? "the server did not answer in time"
      : "the connection was lost";
    const shown = typeof code === "string" && code.startsWith("E") ? ` (${code})` : "";
    return new ConnectorError(`${doing} failed: ${how}${shown}`, {
      transient: true,
      ...(code === "ECONNREFUSED" ? { hint: "check host and port of the connection, and that the server runs" } : {}),
    });
  }
  return error;
}

/** Some of the server's messages quote a value of the rows, which is nobody's business; a place in a statement is. */
function withoutValues(number: number, message: string): string {
  switch (number) {
    case 1062: // Duplicate entry '…' for key '…'
      return message.replace(/^(Duplicate entry) '.*' (for key '[^']*')$/s, "$1 $2");
    case 1264:
    case 1265:
    case 1292:
    case 1366:
    case 1406: // Incorrect … value: '…' for column … at row n
      return message.replace(/: '.*' (for column)/s, " $1").replace(/ at row \d+$/, "");
    default:
      return message;
  }
}

function serverError(error: unknown): ServerError | undefined {
  const number = member(error, "errno");
  const state = member(error, "sqlState");
  const message = member(error, "sqlMessage");
  if (typeof number !== "number" || typeof message !== "string") return undefined;
  return { number, message, state: typeof state === "string" && state !== "" ? state : "HY000" };
}

function member(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}
