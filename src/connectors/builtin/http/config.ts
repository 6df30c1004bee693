import { isAbsolute } from "node:path";
import type { ConfigMap, ConfigProblem } from "../../contract/mod.ts";
import { Settings } from "./settings.ts";

/** How a request says who asks. */
export type Auth =
  | { readonly kind: "header"; readonly name: string; readonly value: string }
  | { readonly kind: "param"; readonly name: string; readonly value: string };

/** A connection's options, checked. */
export type HttpConfig = {
  /** Without a slash at its end. */
  readonly baseUrl: string;
  readonly origin: string;
  readonly auth: Auth | undefined;
  readonly headers: readonly (readonly [string, string])[];
  readonly checkPath: string | undefined;
  readonly timeoutMs: number;
  readonly maxResponseBytes: number;
  readonly maxRecordBytes: number;
  /** `host:port` of each other place that links and redirects may lead to. */
  readonly allowed: readonly string[];
  /** The absolute path of a file of certificates. */
  readonly sslRootCert: string | undefined;
};

/** The options that a connection may have. */
export const CONNECTION_OPTIONS: readonly string[] = [
  "base_url",
  "auth",
  "headers",
  "check_path",
  "timeout_seconds",
  "max_response_mb",
  "max_record_mb",
  "allow_hosts",
  "ssl_root_cert",
];

const MB = 1024 * 1024;
const TOKEN_REGEXP = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** What a request's headers get from its body, its address and the connection itself. */
const OWN_HEADERS: readonly string[] = [
  "host",
  "connection",
  "content-length",
  "content-encoding",
  "transfer-encoding",
  "accept-encoding",
  "content-type",
];

/** Reads a connection's options; every problem is told, and none of them holds a value that may be secret. */
export function readConfig(
  config: ConfigMap,
): { readonly config?: HttpConfig; readonly problems: readonly ConfigProblem[] } {
  const settings = new Settings(config, "setting");
  const base = baseOf(settings);
  const auth = authOf(settings);
  const headers = headersOf(settings, auth);
  const checkPath = pathOf(settings, "check_path");
  const timeout = settings.whole("timeout_seconds", 1, 3600, 30);
  const maxResponse = settings.whole("max_response_mb", 1, 4096, 256);
  const maxRecord = settings.whole("max_record_mb", 1, 512, 16);
  const allowed = settings.list("allow_hosts").flatMap((host) =>
    allowedHost(settings, host, base?.protocol ?? "https:")
  );
  const sslRootCert = settings.text("ssl_root_cert");
  if (sslRootCert !== undefined && !isAbsolute(sslRootCert)) {
    settings.refuse(
      "ssl_root_cert",
      `is "${sslRootCert}", a path that depends on where pz is started`,
      "give the whole path of the file, from the root of the file system",
    );
  }
  const { problems } = settings;
  if (problems.length > 0 || base === undefined) return { problems };
  return {
    problems,
    config: {
      baseUrl: base.href.replace(/\/+$/, ""),
      origin: base.origin,
      auth,
      headers,
      checkPath,
      timeoutMs: timeout * 1000,
      maxResponseBytes: maxResponse * MB,
      maxRecordBytes: maxRecord * MB,
      allowed,
      sslRootCert,
    },
  };
}

/** `host:port` of an address. */
export function hostAndPort({ hostname, port, protocol }: URL): string {
  return `${hostname}:${port === "" ? (protocol === "https:" ? 443 : 80) : port}`;
}

/** A path below the connection's address; undefined where it is missing or refused. */
export function pathOf(settings: Settings, name: string): string | undefined {
  const path = settings.text(name);
  if (path === undefined) return undefined;
  if (!path.startsWith("/")) settings.refuse(name, `is "${path}"`, "start it with /; the host stands in base_url");
  else if (/[?#]/.test(path)) {
    settings.refuse(name, `is "${path}"`, "leave out ? and #; parameters have the option query");
  } else if (/\{\{/.test(path)) {
    settings.refuse(name, `is "${path}"`, "a path has no template; the values of query may have one");
  } else return path;
  return undefined;
}

function baseOf(settings: Settings): URL | undefined {
  const text = settings.needed("base_url", "such as https://api.example.com/v1");
  if (text === undefined) return undefined;
  const hint = "give a whole address, such as https://api.example.com/v1";
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.hostname === "") {
    settings.refuse("base_url", "is no http or https address", hint);
  } else if (url.username !== "" || url.password !== "") {
    settings.refuse(
      "base_url",
      "holds a user or a password",
      "give them as auth: { type: basic, user: …, password: … }",
    );
  } else if (/[?#]/.test(text)) {
    settings.refuse("base_url", "holds parameters or a fragment", "parameters stand in the option query of a read");
  } else return url;
  return undefined;
}

const AUTH_TYPES = ["api_key", "bearer", "basic"] as const;

function authOf(settings: Settings): Auth | undefined {
  const inner = settings.inside("auth");
  if (inner === undefined) return undefined;
  if (!inner.has("type")) inner.refuse("type", "is missing", `expected one of ${AUTH_TYPES.join(", ")}`);
  switch (inner.oneOf("type", AUTH_TYPES, undefined)) {
    case "api_key": {
      inner.only(["type", "key", "header", "param"]);
      const value = inner.needed("key", "the secret, such as ${API_KEY}");
      const header = inner.text("header");
      const param = inner.text("param");
      if ((header === undefined) === (param === undefined)) {
        inner.refuse(
          "header",
          "and auth.param: exactly one of them says where the key goes",
          "add one, such as header: X-Api-Key",
        );
        return undefined;
      }
      if (header !== undefined && !TOKEN_REGEXP.test(header)) {
        inner.refuse("header", "is no name of a header", "such as X-Api-Key");
      }
      if (value === undefined) return undefined;
      if (param !== undefined) return { kind: "param", name: param, value };
      return headerAuth(inner, "key", header ?? "", value);
    }
    case "bearer": {
      inner.only(["type", "token"]);
      const token = inner.needed("token", "the secret, such as ${API_TOKEN}");
      return token === undefined ? undefined : headerAuth(inner, "token", "Authorization", `Bearer ${token}`);
    }
    case "basic": {
      inner.only(["type", "user", "password"]);
      const user = inner.needed("user", "the name of the user");
      const password = inner.get("password") === ""
        ? ""
        : inner.needed("password", "the secret, such as ${API_PASSWORD}");
      if (user === undefined || password === undefined) return undefined;
      if (user.includes(":")) inner.refuse("user", "holds a colon", "which would end the name of the user");
      const bytes = new TextEncoder().encode(`${user}:${password}`);
      return { kind: "header", name: "Authorization", value: `Basic ${btoa(String.fromCharCode(...bytes))}` };
    }
  }
  return undefined;
}

function headerAuth(inner: Settings, option: string, name: string, value: string): Auth | undefined {
  if (isHeaderValue(value)) return { kind: "header", name, value };
  inner.refuse(option, "holds characters that no header can carry", "check the value");
  return undefined;
}

function headersOf(settings: Settings, auth: Auth | undefined): readonly (readonly [string, string])[] {
  return settings.texts("headers").filter(([name, value]) => {
    const lower = name.toLowerCase();
    if (!TOKEN_REGEXP.test(name)) settings.refuse("headers", `has "${name}", no name of a header`, "check the name");
    else if (!isHeaderValue(value)) {
      settings.refuse("headers", `has a value for "${name}" that no header can carry`, "check the value");
    } else if (OWN_HEADERS.includes(lower)) {
      settings.refuse("headers", `has "${name}", which pz sets itself`, "remove it");
    } else if (auth?.kind === "header" && auth.name.toLowerCase() === lower) {
      settings.refuse("headers", `has "${name}", which auth sets`, "keep one of the two");
    } else return true;
    return false;
  });
}

function isHeaderValue(text: string): boolean {
  return /^[\x20-\x7e\xa0-\xff]*$/.test(text) && text.trim() === text;
}

function allowedHost(settings: Settings, host: string, protocol: string): readonly string[] {
  const url = /^[^\s/?#@\\]+$/.test(host) ? URL.parse(`${protocol}//${host}`) : null;
  if (url !== null && url.hostname !== "" && !url.hostname.includes("*")) return [hostAndPort(url)];
  settings.refuse("allow_hosts", `has "${host}", which names no host`, "give hosts as host or host:port");
  return [];
}
