import { ConnectorError } from "../../contract/mod.ts";
import { readCertificate } from "../shared/certificate.ts";
import { requireNet } from "../../sdk/mod.ts";
import type { MysqlConfig } from "./config.ts";
import { type Connection, createConnection } from "./driver.ts";
import { numberOf, toTrouble } from "./trouble.ts";

const NO_TLS = "HANDSHAKE_NO_SSL_SUPPORT";
const TLS_FAILED = "HANDSHAKE_SSL_ERROR";
const ACCESS_DENIED = 1045;

type Tls = { readonly [option: string]: unknown };

/**
 * An authenticated connection; nothing of it is taken from the environment.
 *
 * @throws {ConnectorError}
 */
export async function openConnection(config: MysqlConfig, signal: AbortSignal): Promise<Connection> {
  signal.throwIfAborted();
  requireNet(config.host, config.port);
  const doing = `Connecting to ${config.host}:${config.port}`;
  try {
    if (config.sslMode === "disable") return await open(config, undefined, signal);
    const tls = await tlsOptions(config);
    try {
      return await open(config, tls, signal);
    } catch (error) {
      const lacksTls = codeOf(error) === NO_TLS;
      // An old server may offer encryption that no client takes any more.
      const mayGoOn = lacksTls || codeOf(error) === TLS_FAILED;
      if (config.sslMode === "prefer" && mayGoOn) return await open(config, undefined, signal);
      if (!lacksTls) throw error;
      throw new ConnectorError(`${doing} failed: the server has no TLS, which ssl_mode "${config.sslMode}" asks for`, {
        transient: false,
        hint: "use ssl_mode: prefer or disable, or set TLS up on the server",
      });
    }
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw explain(error, doing, config);
  }
}

function explain(error: unknown, doing: string, config: MysqlConfig): unknown {
  const known = toTrouble(error, doing);
  if (numberOf(error) === ACCESS_DENIED && config.password === undefined && known instanceof ConnectorError) {
    return known.with({ hint: "add password: ${SOME_VARIABLE} to the connection, or check its user" });
  }
  if (known !== error || known instanceof ConnectorError) return known;
  const text = error instanceof Error ? error.message : String(error);
  // What some versions of the runtime say of a certificate that they have refused.
  const isRefusal = checksCertificate(config) && codeOf(error) === "UNKNOWN";
  if (
    isRefusal || codeOf(error) === TLS_FAILED || /certificate|self.signed|UnknownIssuer|NotValidFor|altname/i.test(text)
  ) {
    return new ConnectorError(`${doing} failed: the server's certificate is not trusted (${text})`, {
      transient: false,
      hint: "check ssl_root_cert and host of the connection",
    });
  }
  if (codeOf(error)?.startsWith("AUTH_SWITCH") === true || /authentication|auth plugin/i.test(text)) {
    return new ConnectorError(`${doing} failed: the server asks for a way to log in that is not supported`, {
      transient: false,
      hint: "let the server's user log in by mysql_native_password, caching_sha2_password or sha256_password",
    });
  }
  return error;
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

async function open(config: MysqlConfig, ssl: Tls | undefined, signal: AbortSignal): Promise<Connection> {
  const connection = createConnection({
    host: config.host,
    port: config.port,
    user: config.user,
    password: config.password,
    database: config.database,
    charset: "UTF8MB4_GENERAL_CI",
    connectTimeout: config.connectTimeoutSeconds * 1000,
    disableEval: true,
    flags: ["-CLIENT_QUERY_ATTRIBUTES", "-LOCAL_FILES", "-SESSION_TRACK"],
    trace: false,
    connectAttributes: { program_name: "pz" },
    ...(ssl === undefined ? {} : { ssl }),
  });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  connection.once("connect", () => resolve());
  // Stays: failures reach whoever waits for an answer, and without a listener they would end the process.
  connection.on("error", reject);
  const abort = () => {
    connection.stream.destroy();
    reject(signal.reason);
  };
  signal.addEventListener("abort", abort, { once: true });
  try {
    await promise;
    return connection;
  } catch (error) {
    connection.destroy();
    connection.stream.destroy();
    throw error;
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

async function tlsOptions(config: MysqlConfig): Promise<Tls> {
  const { sslMode, sslRootCert } = config;
  const ca = sslRootCert === undefined ? {} : { ca: await readCertificate(sslRootCert) };
  return { ...ca, rejectUnauthorized: checksCertificate(config), verifyIdentity: sslMode === "verify-full" };
}

/** As with libpq, a root certificate makes `require` check the chain too. */
function checksCertificate({ sslMode, sslRootCert }: MysqlConfig): boolean {
  return sslMode.startsWith("verify") || (sslMode === "require" && sslRootCert !== undefined);
}
