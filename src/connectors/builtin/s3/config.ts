import type { ConfigMap, ConfigProblem } from "../../contract/mod.ts";
import { type Endpoint, parseEndpoint } from "./endpoint.ts";

/** A connection's options, checked. */
export type S3Config = {
  readonly accessKey: string;
  readonly secretKey: string;
  /** Of credentials that were lent for a time. */
  readonly sessionToken: string | undefined;
  readonly region: string;
  readonly endpoint: Endpoint;
  /** The bucket that all of the connection is in, and a prefix without a slash at its ends, perhaps empty. */
  readonly root: { readonly bucket: string; readonly prefix: string } | undefined;
};

/** The options that a connection may have. */
export const CONNECTION_OPTIONS: readonly string[] = [
  "access_key",
  "secret_key",
  "session_token",
  "root",
  "region",
  "endpoint",
  "url_style",
  "use_ssl",
];

/** Options that are no secret, so that messages may show them. */
export const PLAIN_OPTIONS: readonly string[] = ["root", "region", "endpoint", "url_style", "use_ssl"];

/** Reads a connection's options; every problem is told, and none of them holds a value that may be secret. */
export function readConfig(
  config: ConfigMap,
): { readonly config?: S3Config; readonly problems: readonly ConfigProblem[] } {
  const problems: ConfigProblem[] = [];
  const accessKey = needed(config, "access_key", problems);
  const secretKey = needed(config, "secret_key", problems);
  const sessionToken = text(config, "session_token", problems);
  const region = text(config, "region", problems) ?? "us-east-1";
  if (!/^[A-Za-z0-9-]+$/.test(region)) {
    problems.push(setting("region", `Option "region" is no name of a region`, "such as eu-central-1"));
  }
  const endpoint = parseEndpoint(config, region, problems);
  const root = rootOf(config, problems);
  if (problems.length > 0 || accessKey === undefined || secretKey === undefined || endpoint === undefined) {
    return { problems };
  }
  return { problems, config: { accessKey, secretKey, sessionToken, region, endpoint, root } };
}

/** Whether a text may be the name of a bucket; what stores allow beyond that has no place in a URL. */
export function isBucket(name: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._-]{1,253}[A-Za-z0-9]$/.test(name) && !name.includes("..");
}

function rootOf(config: ConfigMap, problems: ConfigProblem[]): S3Config["root"] {
  const root = text(config, "root", problems);
  if (root === undefined) return undefined;
  const [bucket = "", ...parts] = root.replace(/^s3:\/\//, "").replace(/\/$/, "").split("/");
  if (!isBucket(bucket)) {
    problems.push(
      setting("root", `Option "root" is ${JSON.stringify(root)}: "${bucket}" is no name of a bucket`, ROOT_HINT),
    );
  } else if (parts.some((part) => part === "" || part === "." || part === "..")) {
    problems.push(
      setting(
        "root",
        `Option "root" is ${JSON.stringify(root)}: expected a bucket, or a bucket and a prefix`,
        ROOT_HINT,
      ),
    );
  }
  return { bucket, prefix: parts.join("/") };
}

const ROOT_HINT = "write it as bucket or bucket/prefix";

function needed(config: ConfigMap, name: string, problems: ConfigProblem[]): string | undefined {
  const value = text(config, name, problems);
  if (value === undefined && (config[name] === undefined || config[name] === null)) {
    problems.push(
      setting(
        name,
        `A connection of 's3' needs the option "${name}"`,
        `add ${name}: \${…}, from an environment variable`,
      ),
    );
  }
  return value;
}

/** Text, or a number as its text, since interpolated values may look like one; undefined where there is none. */
export function text(config: ConfigMap, name: string, problems: ConfigProblem[]): string | undefined {
  const value = config[name];
  if (value === undefined || value === null) return undefined;
  const asText = typeof value === "object" ? "" : String(value);
  if (asText !== "" && /^[\x21-\x7e](?:.*[\x21-\x7e])?$/.test(asText)) return asText;
  problems.push(
    setting(name, `Option "${name}" is ${value === "" ? "empty" : "no plain text"}`, `give ${name} a text`),
  );
  return undefined;
}

/** A problem of the whole connection. */
export function setting(name: string, message: string, hint: string): ConfigProblem {
  return { code: "PZ0301", message, setting: name, hint };
}
