import { isIPv6 } from "node:net";
import { isAbsolute } from "node:path";
import type { ConfigMap, ConfigProblem, ConfigValue } from "../../contract/mod.ts";

/** Whether and how a connection is encrypted, by libpq's names. */
export const SSL_MODES = ["disable", "prefer", "require", "verify-ca", "verify-full"] as const;
export type SslMode = typeof SSL_MODES[number];

/** A database server's connection options, checked. */
export type ServerConfig = {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
  /** Undefined: none is given. */
  readonly password: string | undefined;
  readonly sslMode: SslMode;
  /** The absolute path of a file. */
  readonly sslRootCert: string | undefined;
  readonly connectTimeoutSeconds: number;
  /** 0: no limit. */
  readonly commandTimeoutSeconds: number;
};

/** What one kind of server has of its own. */
export type ServerKind = {
  /** The connector's name. */
  readonly connector: string;
  readonly port: number;
  /** What a user is called there. */
  readonly user: string;
};

/** The options that a connection to a database server may have. */
export const SERVER_OPTIONS: readonly string[] = [
  "host",
  "port",
  "database",
  "user",
  "password",
  "ssl_mode",
  "ssl_root_cert",
  "connect_timeout_seconds",
  "command_timeout_seconds",
];

const DEFAULT_CONNECT_SECONDS = 15;
const DEFAULT_COMMAND_SECONDS = 30;

/** Reads a connection's options; every problem is told, and none of them holds a value that may be secret. */
export function readServerConfig(
  config: ConfigMap,
  kind: ServerKind,
): { readonly config?: ServerConfig; readonly problems: readonly ConfigProblem[] } {
  const problems: ConfigProblem[] = [];
  const host = text(config, "host", problems);
  const database = text(config, "database", problems);
  if (host === undefined && problems.length === 0) problems.push(missing(kind, "host", "such as db.example.com"));
  if (database === undefined && config["database"] === undefined) {
    problems.push(missing(kind, "database", "the name of the database"));
  }
  checkHost(host, kind, problems);
  const sslMode = text(config, "ssl_mode", problems) ?? "prefer";
  const mode = SSL_MODES.find((known) => known === sslMode);
  if (mode === undefined) {
    problems.push({
      code: "PZ0301",
      message: `Option "ssl_mode" is "${sslMode}"`,
      setting: "ssl_mode",
      hint: `expected one of ${SSL_MODES.join(", ")}`,
    });
  }
  const user = text(config, "user", problems);
  if (user === undefined && config["user"] === undefined) {
    problems.push(missing(kind, "user", `the name of the ${kind.user} to log in as`));
  }
  const port = whole(config, "port", { least: 1, most: 65535, otherwise: kind.port }, problems);
  const connectTimeoutSeconds = whole(
    config,
    "connect_timeout_seconds",
    { least: 1, most: 3600, otherwise: DEFAULT_CONNECT_SECONDS },
    problems,
  );
  const commandTimeoutSeconds = whole(
    config,
    "command_timeout_seconds",
    { least: 0, most: 86_400, otherwise: DEFAULT_COMMAND_SECONDS },
    problems,
  );
  const password = text(config, "password", problems);
  const sslRootCert = text(config, "ssl_root_cert", problems);
  if (sslRootCert !== undefined && !isAbsolute(sslRootCert)) {
    problems.push({
      code: "PZ0301",
      message: `Option "ssl_root_cert" is "${sslRootCert}", a path that depends on where pz is started`,
      setting: "ssl_root_cert",
      hint: "give the whole path of the file, from the root of the file system",
    });
  }
  if (
    problems.length > 0 || host === undefined || database === undefined || mode === undefined || user === undefined
  ) return { problems };
  return {
    problems,
    config: {
      host,
      port,
      database,
      user,
      password: password === "" ? undefined : password,
      sslMode: mode,
      sslRootCert,
      connectTimeoutSeconds,
      commandTimeoutSeconds,
    },
  };
}

/** The address of a server as a grant names it. */
export function netTarget({ host, port }: ServerConfig): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

function checkHost(host: string | undefined, { connector }: ServerKind, problems: ConfigProblem[]): void {
  if (host === undefined) return;
  if (host.startsWith("/") || host.startsWith("@")) {
    problems.push({
      code: "PZ0301",
      message: `Option "host" names a unix socket: connector '${connector}' connects by TCP only`,
      setting: "host",
      hint: "give a host name or an IP address, such as 127.0.0.1",
    });
  } else if (!isHost(host)) {
    problems.push({
      code: "PZ0301",
      message: `Option "host" is no name of one host`,
      setting: "host",
      hint: "give a host name or an IP address alone; port, user and database have options of their own",
    });
  }
}

/** Whether it may be the name or address of a host, as the runtime takes them in a grant. */
function isHost(text: string): boolean {
  return isIPv6(text) ? !text.includes("%") : /^(?:[A-Za-z0-9_-]+\.)*[A-Za-z0-9_-]+\.?$/.test(text);
}

function missing({ connector }: ServerKind, name: string, what: string): ConfigProblem {
  return {
    code: "PZ0301",
    message: `A connection of '${connector}' needs the option "${name}"`,
    setting: name,
    hint: `add ${name}: ${what}`,
  };
}

/** Text, or a number or truth value as its text, since interpolated values may look like one. */
function text(config: ConfigMap, name: string, problems: ConfigProblem[]): string | undefined {
  const value: ConfigValue | undefined = config[name];
  if (value === undefined || value === null) return undefined;
  const asText = typeof value === "object" ? "" : String(value);
  if (asText !== "" && !asText.includes("\0")) return asText;
  if (name === "password" && asText === "" && typeof value === "string") return "";
  problems.push({
    code: "PZ0301",
    message: `Option "${name}" is ${value === "" ? "empty" : "no text"}`,
    setting: name,
    hint: `give ${name} a text`,
  });
  return undefined;
}

function whole(
  config: ConfigMap,
  name: string,
  { least, most, otherwise }: { readonly least: number; readonly most: number; readonly otherwise: number },
  problems: ConfigProblem[],
): number {
  const value = config[name];
  if (value === undefined || value === null) return otherwise;
  const number = typeof value === "string" ? (/^\d{1,9}$/.test(value) ? Number(value) : NaN) : Number(value);
  if (typeof value !== "object" && Number.isInteger(number) && number >= least && number <= most) return number;
  problems.push({
    code: "PZ0301",
    message: `Option "${name}" is ${typeof value === "object" ? "no number" : `"${value}"`}`,
    setting: name,
    hint: `expected a whole number from ${least} to ${most}`,
  });
  return otherwise;
}
