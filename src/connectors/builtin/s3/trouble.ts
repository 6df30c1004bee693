import { ConnectorError } from "../../contract/mod.ts";
import { parseXml, textOf } from "./xml.ts";

/** What a store said against a request. */
export type StoreAnswer = {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  /** The region that the bucket is in, where the store tells. */
  readonly region: string | undefined;
  readonly retryAfterMs: number | undefined;
};

/** A store's refusal, with what it answered. */
export class StoreRefusal extends ConnectorError {
  readonly answer: StoreAnswer;

  /** @param doing what was tried, such as `Reading s3://bucket/key` */
  constructor(doing: string, answer: StoreAnswer) {
    const { status, code, message, region, retryAfterMs } = answer;
    const name = code === "" ? `status ${status}` : `${code}, status ${status}`;
    super(`${doing} failed: ${message === "" ? explain(status) : message} (${name})`, {
      transient: isTransient(answer),
      retryAfterMs,
      hint: region !== undefined && WRONG_REGION.has(code)
        ? `the bucket is in the region "${region}": set region: ${region}`
        : HINTS[code] ?? HINTS[String(status)],
    });
    this.answer = answer;
  }
}

const TRANSIENT_CODES: ReadonlySet<string> = new Set([
  "BadDigest",
  "InternalError",
  "OperationAborted",
  "RequestTimeout",
  "ServiceUnavailable",
  "SlowDown",
  "ThrottlingException",
  "XAmzContentSHA256Mismatch",
]);
const WRONG_REGION: ReadonlySet<string> = new Set([
  "AuthorizationHeaderMalformed",
  "IllegalLocationConstraintException",
  "PermanentRedirect",
  "TemporaryRedirect",
]);
const HINTS: { readonly [code: string]: string } = {
  AccessDenied:
    "give the access key the right to it: s3:GetObject to read, s3:PutObject to write, s3:ListBucket for patterns",
  AuthorizationHeaderMalformed: "check the option region of the connection",
  EntityTooLarge: "write several objects, with partition_by",
  ExpiredToken: "the session token has expired: get new credentials",
  InvalidAccessKeyId: "check access_key of the connection, and that the endpoint is the one that knows it",
  InvalidObjectState: "the object is archived: restore it first, or copy it to another storage class",
  NoSuchBucket: "check the name of the bucket and the endpoint of the connection",
  NoSuchKey: "check the path; keys are case-sensitive and have no slash in front",
  PermanentRedirect: "check region and endpoint of the connection",
  RequestTimeTooSkewed: "the clock of this machine is wrong: set it",
  SignatureDoesNotMatch: "check secret_key and region of the connection",
  TemporaryRedirect: "check region and endpoint of the connection",
  "301": "check region and endpoint of the connection",
  "307": "check region and endpoint of the connection",
  "403": "check the keys of the connection, and what they have the right to",
  "404": "check the path; keys are case-sensitive and have no slash in front",
};

/** Reads what a store said against a request out of its answer, whose body may be any text. */
export function answerOf(response: Response, body: string): StoreAnswer {
  const document = parseXml(body);
  const error = document?.name === "Error" ? document : undefined;
  return {
    status: response.status,
    code: /^\w{1,64}$/.exec(textOf(error, "Code") ?? "")?.[0] ?? "",
    message: oneLine(textOf(error, "Message") ?? ""),
    region: response.headers.get("x-amz-bucket-region") ?? textOf(error, "Region"),
    retryAfterMs: retryAfter(response.headers.get("retry-after")),
  };
}

/** What went wrong on the way to a store or back, as an error of the connector; what is none of the two as it is. */
export function wayTrouble(error: unknown, doing: string): unknown {
  if (error instanceof ConnectorError || isDenied(error)) return error;
  const text = deepText(error);
  if (/invalid peer certificate|UnknownIssuer|certificate/i.test(text)) {
    return new ConnectorError(`${doing} failed: the server's certificate is not accepted (${innermost(error)})`, {
      transient: false,
      hint: "check the endpoint of the connection; a certificate of your own must be among the system's",
      cause: error,
    });
  }
  if (/failed to lookup address|dns error/i.test(text)) {
    return new ConnectorError(`${doing} failed: there is no host of that name`, {
      transient: /temporary failure|try again/i.test(text),
      hint: "check endpoint and region of the connection",
      cause: error,
    });
  }
  if (/requests to port \d+ are blocked/i.test(text)) {
    return new ConnectorError(`${doing} failed: the port of the endpoint belongs to another protocol`, {
      transient: false,
      hint: "check the endpoint of the connection",
      cause: error,
    });
  }
  const refused = /connection refused|actively refused/i.test(text);
  return new ConnectorError(
    `${doing} failed: ${
      refused ? "the server refused the connection" : `the connection was lost (${innermost(error)})`
    }`,
    {
      transient: true,
      hint: refused ? "check the endpoint of the connection, and that the server runs" : undefined,
      cause: error,
    },
  );
}

function isTransient({ status, code }: StoreAnswer): boolean {
  return TRANSIENT_CODES.has(code) || status === 408 || status === 429 || (status >= 500 && status !== 501);
}

function explain(status: number): string {
  switch (status) {
    case 301:
    case 307:
      return "the bucket is somewhere else";
    case 403:
      return "access was denied";
    case 404:
      return "there is no such object or bucket";
    default:
      return "the store refused";
  }
}

/** Seconds, or a date of HTTP. */
function retryAfter(text: string | null): number | undefined {
  if (text === null) return undefined;
  if (/^\d{1,6}$/.test(text)) return Number(text) * 1000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now());
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim().slice(0, 500);
}

function isDenied(error: unknown): boolean {
  for (let at = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth++) {
    if (at instanceof Deno.errors.NotCapable || at instanceof Deno.errors.PermissionDenied) return true;
  }
  return false;
}

function deepText(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message} ${deepText(error.cause)}` : "";
}

function innermost(error: unknown): string {
  let at = error;
  while (at instanceof Error && at.cause instanceof Error) at = at.cause;
  return oneLine(at instanceof Error ? at.message : String(at)).slice(0, 200);
}
