import { ConnectorError } from "../../contract/mod.ts";
import { isRefusedPermission } from "../shared/refused_permission.ts";

/** A request that failed. `mayHaveLanded`: the server may have done what it was asked for all the same. */
export class RequestError extends ConnectorError {
  readonly mayHaveLanded: boolean;

  constructor(
    message: string,
    init: {
      readonly transient: boolean;
      readonly mayHaveLanded: boolean;
      readonly retryAfterMs?: number | undefined;
      readonly hint?: string | undefined;
    },
  ) {
    super(message, init);
    this.mayHaveLanded = init.mayHaveLanded;
  }
}

/** A permanent failure that tells what is wrong and the next step. */
export function refused(message: string, hint?: string): ConnectorError {
  return new ConnectorError(message, { transient: false, hint });
}

/**
 * What the runtime threw while a request was under way; `doing` names the request. The runtime's own words are left out,
 * since they hold the whole address. A refused permission passes as it is.
 */
export function toTrouble(error: unknown, doing: string): unknown {
  if (error instanceof ConnectorError || isRefusedPermission(error)) return error;
  const words = wordsOf(error);
  if (/dns error|failed to lookup address/i.test(words)) {
    const isForNow = /temporary failure/i.test(words);
    const what = isForNow ? "the name of its host can't be looked up now" : "there is no host of that name";
    return new RequestError(`${doing} failed: ${what}`, {
      transient: isForNow,
      mayHaveLanded: false,
      hint: "check base_url of the connection",
    });
  }
  if (/certificate|UnknownIssuer|NotValidForName|InvalidContentType|received fatal alert/i.test(words)) {
    return new RequestError(`${doing} failed: no secure connection could be made`, {
      transient: false,
      mayHaveLanded: false,
      hint:
        "check that base_url is the server's https address; ssl_root_cert names a file with the certificate of a private authority",
    });
  }
  if (/\(Connect\)|connection refused|tcp connect/i.test(words)) {
    const isRefused = /refused/i.test(words);
    return new RequestError(
      `${doing} failed: ${isRefused ? "the server refused the connection" : "the server could not be reached"}`,
      { transient: true, mayHaveLanded: false, hint: "check base_url of the connection, and that the server runs" },
    );
  }
  if (/unexpected end of file|decompress|corrupt|deflate|brotli|gzip/i.test(words)) {
    return new RequestError(`${doing} failed: the compressed body is damaged or incomplete`, {
      transient: true,
      mayHaveLanded: true,
    });
  }
  if (/HTTP version|invalid HTTP|parsed?\b/i.test(words)) {
    return new RequestError(`${doing} failed: what the server answered is no HTTP`, {
      transient: false,
      mayHaveLanded: true,
      hint: "check scheme and port of base_url",
    });
  }
  return new RequestError(`${doing} failed: the connection was lost`, { transient: true, mayHaveLanded: true });
}

/** What is thrown where the server takes longer than the connection allows. */
export function tooSlow(doing: string, seconds: number, what: string): RequestError {
  return new RequestError(`${doing} failed: ${what} within ${seconds} s`, {
    transient: true,
    mayHaveLanded: true,
    hint: "raise timeout_seconds of the connection",
  });
}

function wordsOf(error: unknown): string {
  const words: string[] = [];
  for (let at = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth++) words.push(at.message);
  // What an address says is not what happened.
  return words.join(" ").replaceAll(/\w+:\/\/\S+/g, "");
}
