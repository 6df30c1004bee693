import type { ConnectorHost } from "../../sdk/mod.ts";
import { publicAddress, type Target, targetOf, withSecret } from "./address.ts";
import { Body } from "./body.ts";
import type { HttpConfig } from "./config.ts";
import { budgetOf, retryAfterMs } from "./limits_told.ts";
import { excerpt, secretsOf } from "./redaction.ts";
import { refused, RequestError, tooSlow, toTrouble } from "./trouble.ts";

/** An answer whose body is yet to be read, or closed. */
export type Answer = {
  readonly status: number;
  readonly headers: Headers;
  /** Without the connection's secret. */
  readonly url: URL;
  readonly body: Body;
  /** Names the request in messages. */
  readonly doing: string;
};

/** One request. */
export type Request = {
  /** A fixed word for the engine. */
  readonly label: string;
  readonly method: "GET" | "POST" | "PUT" | "PATCH";
  /** Where it goes, in words that hold no value of a parameter or of data. */
  readonly shown: string;
  readonly idempotent: boolean;
  readonly headers?: readonly (readonly [string, string])[];
  readonly content?: { readonly type: string; readonly bytes: Uint8Array<ArrayBuffer> };
  /** The statuses that mean success; absent: all from 200 to 299. */
  readonly expected?: readonly number[] | undefined;
  /** Whether it only looks if the server is there and lets the connection in. */
  readonly isProbe?: boolean;
};

const MAX_REDIRECTS = 5;
/** An answer up to this size belongs to its request as a whole, so that what is lost of it is asked for again. */
const WHOLE_BYTES = 4 * 1024 * 1024;
const TOLD_BYTES = 4096;

const HINTS: { readonly [status: number]: string } = {
  401: "check auth of the connection",
  403: "check auth of the connection, and what it may do",
  404: "check base_url of the connection and path",
  405: "check path, and method of a write",
  413: "lower rows_per_request",
  429: "set rate_limit of the connection",
};

/** Sends requests, each as one operation of the engine and each once: the engine repeats what may be repeated. */
export class HttpClient implements Disposable {
  readonly config: HttpConfig;
  readonly secrets: readonly string[];
  readonly #host: ConnectorHost;
  #certificates: Deno.HttpClient | undefined;

  constructor(config: HttpConfig, host: ConnectorHost) {
    this.config = config;
    this.secrets = secretsOf(config);
    this.#host = host;
  }

  /**
   * Gets an answer, following redirects to allowed places.
   *
   * @throws {ConnectorError}
   */
  async get(
    target: Target,
    request: Pick<Request, "label" | "shown" | "isProbe">,
    signal: AbortSignal,
  ): Promise<Answer> {
    let at = target;
    for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
      const answer = await this.send(at, { ...request, method: "GET", idempotent: true }, signal);
      if (answer.status < 300 || answer.status >= 400) return answer;
      await answer.body.close();
      const location = answer.headers.get("location");
      if (location === null) throw refused(`${answer.doing} answered ${answer.status} without saying where to go`);
      at = targetOf(this.config, location, at.url, `A redirect of ${answer.doing}`);
    }
    throw refused(`GET ${request.shown} is redirected more than ${MAX_REDIRECTS} times`);
  }

  /**
   * Sends one request as one operation. A redirect of a GET is an answer too, any other one a failure.
   *
   * @throws {ConnectorError}
   */
  send(target: Target, request: Request, signal: AbortSignal): Promise<Answer> {
    const { label, idempotent } = request;
    return this.#host.operate({ label, idempotent, signal }, (own) => this.#once(target, request, signal, own));
  }

  [Symbol.dispose](): void {
    this.#certificates?.close();
    this.#certificates = undefined;
  }

  /** @param own the signal of this try; `signal` is that of the reader, who goes on with what is left of the body */
  async #once(target: Target, request: Request, signal: AbortSignal, own: AbortSignal): Promise<Answer> {
    const doing = `${request.method} ${request.shown}`;
    const stop = new AbortController();
    const onSignal = () => stop.abort(signal.reason);
    const onOwn = () => stop.abort(own.reason);
    signal.addEventListener("abort", onSignal, { once: true });
    own.addEventListener("abort", onOwn, { once: true });
    let body: Body | undefined;
    try {
      signal.throwIfAborted();
      own.throwIfAborted();
      const onOver = () => signal.removeEventListener("abort", onSignal);
      const { response, body: begun } = await this.#begin(target, request, stop, { doing, onOver });
      body = begun;
      const { status, headers } = response;
      const budget = budgetOf(headers, Date.now());
      if (budget !== undefined) this.#host.reportBudget(budget.remaining, budget.resetAtMs);
      if (!isExpected(status, request)) throw await this.#failure(response, body, doing);
      await body.buffer(WHOLE_BYTES);
      return { status, headers, url: publicAddress(this.config, target.url), body, doing };
    } catch (error) {
      signal.removeEventListener("abort", onSignal);
      stop.abort();
      await body?.close();
      if (signal.aborted) throw signal.reason;
      if (own.aborted) throw own.reason;
      throw toTrouble(error, doing);
    } finally {
      own.removeEventListener("abort", onOwn);
    }
  }

  /** Sends the request and waits for the beginning of its answer. */
  async #begin(
    target: Target,
    request: Request,
    stop: AbortController,
    { doing, onOver }: { readonly doing: string; readonly onOver: () => void },
  ): Promise<{ readonly response: Response; readonly body: Body }> {
    const { timeoutMs, maxResponseBytes: maxBytes } = this.config;
    const late = tooSlow(doing, timeoutMs / 1000, "no answer came");
    const timer = setTimeout(() => stop.abort(late), timeoutMs);
    try {
      const client = await this.#ownCertificates();
      const response = await fetch(withSecret(this.config, target), {
        method: request.method,
        headers: this.#headers(target, request),
        body: request.content?.bytes ?? null,
        redirect: "manual",
        signal: stop.signal,
        ...(client === undefined ? {} : { client }),
      });
      return { response, body: await Body.of(response, { maxBytes, timeoutMs, doing, onOver }) };
    } finally {
      clearTimeout(timer);
    }
  }

  #headers({ isHome }: Target, { headers = [], content }: Request): Headers {
    const all = new Headers({
      accept: "application/json, application/x-ndjson;q=0.9, */*;q=0.1",
      "accept-encoding": "gzip, deflate, br",
      "user-agent": "pz",
    });
    if (content !== undefined) all.set("content-type", content.type);
    if (!isHome) return all;
    for (const [name, value] of [...this.config.headers, ...headers]) all.set(name, value);
    const { auth } = this.config;
    if (auth?.kind === "header") all.set(auth.name, auth.value);
    return all;
  }

  async #ownCertificates(): Promise<Deno.HttpClient | undefined> {
    const { sslRootCert } = this.config;
    if (sslRootCert === undefined) return undefined;
    this.#certificates ??= Deno.createHttpClient({ caCerts: [await certificates(sslRootCert)] });
    return this.#certificates;
  }

  async #failure(response: Response, body: Body, doing: string): Promise<RequestError> {
    const { status, headers } = response;
    const told = excerpt(await beginning(body), this.secrets);
    const now = Date.now();
    const budget = budgetOf(headers, now);
    const isSpent = budget?.remaining === 0 && status >= 400;
    const wait = retryAfterMs(headers, now) ?? (isSpent ? Math.max(0, budget.resetAtMs - now) : undefined);
    const isThrottled = status === 403 && (isSpent || headers.has("retry-after"));
    const isTransient = status === 408 || status === 425 || status === 429 || status >= 500 || isThrottled;
    const location = status >= 300 && status < 400 ? " (a redirect, which no write follows)" : "";
    return new RequestError(`${doing} answered ${status}${location}${told === undefined ? "" : `: ${told}`}`, {
      transient: isTransient,
      mayHaveLanded: status === 408 || status >= 500,
      retryAfterMs: wait,
      hint: HINTS[status],
    });
  }
}

function isExpected(status: number, { method, expected, isProbe = false }: Request): boolean {
  if (isProbe && status >= 400) return status < 500 && ![401, 403, 407, 408, 425, 429].includes(status);
  if (expected !== undefined) return expected.includes(status);
  return status >= 200 && (status < 300 || (method === "GET" && [301, 302, 303, 307, 308].includes(status)));
}

/** What a failed request's answer begins with; that it can't be read matters less than that it failed. */
async function beginning(body: Body): Promise<Uint8Array> {
  const bytes = new Uint8Array(TOLD_BYTES);
  let fill = 0;
  try {
    while (fill < TOLD_BYTES) {
      const chunk = await body.next();
      if (chunk === undefined) break;
      const part = chunk.subarray(0, TOLD_BYTES - fill);
      bytes.set(part, fill);
      fill += part.length;
    }
  } catch { /* it failed anyway */ }
  return bytes.subarray(0, fill);
}

async function certificates(path: string): Promise<string> {
  try {
    return await Deno.readTextFile(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) {
      throw refused(`ssl_root_cert names "${path}", and there is no such file`);
    }
    throw error;
  }
}
