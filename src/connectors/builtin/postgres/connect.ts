import { ConnectorError } from "../../contract/mod.ts";
import { readCertificate } from "../shared/certificate.ts";
import { requireNet } from "../../sdk/mod.ts";
import type { PostgresConfig } from "./config.ts";
import { CopyTap } from "./copy_tap.ts";
import Client from "./driver.ts";
import { stateOf, toTrouble } from "./trouble.ts";

const NO_TLS = "The server does not support SSL connections";
/** Kept true so that the driver does not look it up in the environment, and taken out before it connects. */
const UNSET = "unset";

type Tls = { readonly [option: string]: unknown };

/** A client, with what takes the rows of its COPY statements. */
export type OpenClient = { readonly client: Client; readonly tap: CopyTap };

/**
 * A connected client. Everything that the driver would take from the environment is given to it.
 *
 * @throws {ConnectorError}
 */
export async function openClient(config: PostgresConfig, signal: AbortSignal): Promise<OpenClient> {
  signal.throwIfAborted();
  requireNet(config.host, config.port);
  const doing = `Connecting to ${config.host}:${config.port}`;
  try {
    if (config.sslMode === "disable") return await open(config, false, signal);
    const tls = await tlsOptions(config);
    try {
      return await open(config, tls, signal);
    } catch (error) {
      const lacksTls = error instanceof Error && error.message === NO_TLS;
      // A server may take a client without TLS only.
      const refusesTls = stateOf(error) === "28000";
      if (config.sslMode === "prefer" && (lacksTls || refusesTls)) return await open(config, false, signal);
      if (!lacksTls) throw error;
      throw new ConnectorError(`${doing} failed: the server has no TLS, which ssl_mode "${config.sslMode}" asks for`, {
        transient: false,
        hint: "use ssl_mode: prefer or disable, or set TLS up on the server",
      });
    }
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw explain(error, doing);
  }
}

function explain(error: unknown, doing: string): unknown {
  const known = toTrouble(error, doing);
  if (known !== error || known instanceof ConnectorError) return known;
  const text = error instanceof Error ? error.message : String(error);
  if (/certificate|self.signed|UnknownIssuer|NotValidFor|altname/i.test(text)) {
    return new ConnectorError(`${doing} failed: the server's certificate is not trusted (${text})`, {
      transient: false,
      hint: "check ssl_root_cert and host of the connection",
    });
  }
  return error;
}

async function open(config: PostgresConfig, ssl: false | Tls, signal: AbortSignal): Promise<OpenClient> {
  const client = new Client({
    host: config.host,
    port: config.port,
    user: config.user,
    password: config.password ?? noPassword,
    database: config.database,
    ssl,
    application_name: "pz",
    client_encoding: "UTF8",
    sslnegotiation: "postgres",
    binary: true,
    options: UNSET,
    replication: UNSET,
    connectionTimeoutMillis: config.connectTimeoutSeconds * 1000,
    keepAlive: true,
  });
  const tap = new CopyTap(client.connection);
  client.connectionParameters.options = undefined;
  client.connectionParameters.replication = undefined;
  // Failures reach whoever waits for an answer; without a listener they would end the process.
  client.on("error", () => {});
  const abort = () => client.connection.stream.destroy(new Error("Connection terminated"));
  signal.addEventListener("abort", abort, { once: true });
  try {
    await client.connect();
    return { client, tap };
  } catch (error) {
    client.connection.stream.destroy();
    throw error;
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

function noPassword(): string {
  throw new ConnectorError("The server asks for a password, and the connection has none", {
    transient: false,
    hint: "add password: ${SOME_VARIABLE} to the connection",
  });
}

async function tlsOptions({ sslMode, sslRootCert, host }: PostgresConfig): Promise<Tls> {
  const ca = sslRootCert === undefined ? {} : { ca: await readCertificate(sslRootCert) };
  // As with libpq, a root certificate makes `require` check the chain too.
  if (sslMode === "verify-full") return { ...ca, rejectUnauthorized: true, host };
  if (sslMode === "verify-ca" || (sslMode === "require" && sslRootCert !== undefined)) {
    return { ...ca, rejectUnauthorized: true, checkServerIdentity: () => undefined };
  }
  return { ...ca, rejectUnauthorized: false };
}
