import { isIP, isIPv6 } from "node:net";
import type { ConfigMap, ConfigProblem } from "../../contract/mod.ts";
import { setting, text } from "./config.ts";

/** Where a store is reached. */
export type Endpoint = {
  readonly tls: boolean;
  readonly host: string;
  readonly port: number;
  /** Whether a bucket's name stands in front of the host's, instead of in the path. */
  readonly inHost: boolean;
  /** Whether it is the one of the cloud that the protocol comes from. */
  readonly isDefault: boolean;
};

/** The endpoint of a connection; what is wrong with it is pushed, and then the result is undefined. */
export function parseEndpoint(config: ConfigMap, region: string, problems: ConfigProblem[]): Endpoint | undefined {
  const found = problems.length;
  const given = text(config, "endpoint", problems);
  const tls = useSsl(config, given, problems);
  const style = text(config, "url_style", problems);
  if (style !== undefined && style !== "vhost" && style !== "path") {
    problems.push(setting("url_style", `Option "url_style" is "${style}"`, "expected vhost or path"));
  }
  const place = given === undefined ? { host: awsHost(region), port: undefined } : hostAndPort(given);
  if (place === undefined) {
    problems.push(
      setting(
        "endpoint",
        `Option "endpoint" is no address of a server`,
        "write it as host or host:port, without a path",
      ),
    );
  }
  if (place === undefined || problems.length > found) return undefined;
  const { host, port = tls ? 443 : 80 } = place;
  // An address, or a name without a dot, has no names below it.
  const isLone = isIP(host) !== 0 || !host.includes(".");
  if (style === "vhost" && isIP(host) !== 0) {
    problems.push(
      setting(
        "url_style",
        `Option "url_style" is "vhost", but "${host}" is an address: no name stands below it`,
        "use path",
      ),
    );
    return undefined;
  }
  const inHost = style === undefined ? !isLone : style === "vhost";
  return { tls, host, port, inHost, isDefault: given === undefined };
}

/** The `host:port`s that requests for these buckets, or for none, go to. */
export function netTargets(endpoint: Endpoint, buckets: readonly string[]): readonly string[] {
  const hosts = [endpoint.host, ...buckets.map((bucket) => hostFor(endpoint, bucket))];
  return [...new Set(hosts)].map((host) => `${isIPv6(host) ? `[${host}]` : host}:${endpoint.port}`);
}

/**
 * The URL of an object, of its bucket, or of the store itself. Undefined for a key that no URL can name: one with a part
 * that is `.` or `..`.
 */
export function urlOf(endpoint: Endpoint, bucket?: string, key?: string): URL | undefined {
  if (key !== undefined && key.split("/").some((part) => part === "." || part === "..")) return undefined;
  const host = bucket === undefined ? endpoint.host : hostFor(endpoint, bucket);
  const inPath = bucket !== undefined && host === endpoint.host ? `/${bucket}` : "";
  const path = key === undefined ? inPath === "" ? "/" : inPath : `${inPath}/${key.split("/").map(encoded).join("/")}`;
  const origin = `${endpoint.tls ? "https" : "http"}://${isIPv6(host) ? `[${host}]` : host}:${endpoint.port}`;
  return new URL(`${origin}${path}`);
}

/** What people call an object or a bucket. */
export function nameOf(endpoint: Endpoint, bucket: string, key = ""): string {
  return endpoint.isDefault ? `s3://${bucket}/${key}` : `s3://${endpoint.host}:${endpoint.port}/${bucket}/${key}`;
}

/** The host that a bucket is asked at; one whose name has a dot fits no certificate, and stays in the path. */
function hostFor(endpoint: Endpoint, bucket: string): string {
  const fits = /^[a-z0-9-]+$/.test(bucket) || (!endpoint.tls && /^[a-z0-9.-]+$/.test(bucket));
  return endpoint.inHost && fits ? `${bucket}.${endpoint.host}` : endpoint.host;
}

function awsHost(region: string): string {
  return `s3.${region}.amazonaws.com${region.startsWith("cn-") ? ".cn" : ""}`;
}

function encoded(part: string): string {
  return encodeURIComponent(part).replaceAll(
    /[!'()*]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function useSsl(config: ConfigMap, endpoint: string | undefined, problems: ConfigProblem[]): boolean {
  const scheme = /^(https?):\/\//.exec(endpoint ?? "")?.[1];
  const given = config["use_ssl"];
  const value = given === "true" ? true : given === "false" ? false : given;
  if (value === undefined || value === null) return scheme !== "http";
  if (typeof value !== "boolean") {
    problems.push(setting("use_ssl", `Option "use_ssl" is no truth value`, "expected true or false"));
    return true;
  }
  if (scheme !== undefined && value !== (scheme === "https")) {
    problems.push(
      setting(
        "use_ssl",
        `Option "use_ssl" is ${value}, but the endpoint begins with ${scheme}://`,
        "leave one of them out",
      ),
    );
  }
  return value;
}

function hostAndPort(text: string): { readonly host: string; readonly port: number | undefined } | undefined {
  const bare = text.replace(/^https?:\/\//, "").replace(/\/$/, "");
  const [, v6, name, digits] = /^(?:\[([0-9A-Fa-f:.]+)\]|([^:/[\]@?#]+))(?::(\d{1,5}))?$/.exec(bare) ?? [];
  const host = v6 ?? name?.toLowerCase();
  if (host === undefined || (v6 !== undefined && !isIPv6(v6))) return undefined;
  if (v6 === undefined && !/^(?:[a-z0-9_-]+\.)*[a-z0-9_-]+$/.test(host)) return undefined;
  const port = digits === undefined ? undefined : Number(digits);
  return port !== undefined && (port < 1 || port > 65_535) ? undefined : { host, port };
}
