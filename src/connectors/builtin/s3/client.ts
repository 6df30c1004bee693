import { createHash } from "node:crypto";
import { AwsV4Signer } from "aws4fetch";
import { ConnectorError } from "../../contract/mod.ts";
import type { ConnectorHost } from "../../sdk/connector.ts";
import type { S3Config } from "./config.ts";
import { nameOf, urlOf } from "./endpoint.ts";
import { answerOf, StoreRefusal, wayTrouble } from "./trouble.ts";
import { parseXml, textOf, type XmlElement } from "./xml.ts";

/** One request to a store. */
export type S3Request = {
  /** A fixed word for what it does, for the engine's gate. */
  readonly label: string;
  readonly idempotent: boolean;
  readonly method: "GET" | "HEAD" | "PUT" | "POST" | "DELETE";
  readonly bucket?: string;
  readonly key?: string;
  readonly query?: { readonly [name: string]: string };
  readonly headers?: { readonly [name: string]: string };
  readonly body?: Uint8Array<ArrayBuffer>;
  /** What people are told that it was, such as `Reading`. */
  readonly doing: string;
  readonly signal: AbortSignal;
};

/** Takes an answer; `alive` says that something has come, so that a slow answer is no lost one. */
type Take<T> = (response: Response, alive: () => void) => Promise<T>;

const QUIET_LIMIT_MS = 60_000;
/** A part is sent in this time, or the way is too slow. */
const SEND_LIMIT_MS = 300_000;
const MAX_DOCUMENT_BYTES = 16 << 20;
const EMPTY_SHA256 = createHash("sha256").update("").digest("hex");

/** Signs requests and sends each through the engine's gate, never twice by itself. */
export class S3Client {
  readonly config: S3Config;
  readonly #host: ConnectorHost;
  /** Keys derived from the secret one, by day. */
  readonly #cache = new Map<string, ArrayBuffer>();

  constructor(config: S3Config, host: ConnectorHost) {
    this.config = config;
    this.#host = host;
  }

  /**
   * Sends a request and has its answer taken.
   *
   * @throws {ConnectorError} also for an answer of another kind than success, which is a `StoreRefusal`
   */
  async send<T>(request: S3Request, take: Take<T>): Promise<T> {
    const { label, idempotent, signal } = request;
    return await this.#host.operate({ label, idempotent, signal }, (live) => this.#once(request, live, take));
  }

  /** Sends a request whose answer is a document. */
  async document(request: S3Request): Promise<XmlElement> {
    return await this.send(request, async (response, alive) => {
      const text = await readText(response, alive);
      const document = parseXml(text);
      // Some answers begin as a success before it is one.
      if (document?.name === "Error") throw new StoreRefusal(this.#what(request), answerOf(response, text));
      if (document !== undefined) return document;
      throw new ConnectorError(`${this.#what(request)} failed: the answer is no document of a store`, {
        transient: false,
        hint: "check the endpoint of the connection",
      });
    });
  }

  /** Sends a request of whose answer only the headers count. */
  async headers(request: S3Request): Promise<Headers> {
    return await this.send(request, async (response, alive) => {
      await readText(response, alive);
      return response.headers;
    });
  }

  async #once<T>(request: S3Request, signal: AbortSignal, take: Take<T>): Promise<T> {
    const quiet = new QuietLimit(request.body === undefined ? QUIET_LIMIT_MS : SEND_LIMIT_MS);
    const either = AbortSignal.any([signal, quiet.signal]);
    let response: Response | undefined;
    try {
      response = await fetch(...await this.#signed(request, either));
      quiet.alive();
      if (response.ok) return await take(response, () => quiet.alive());
      const text = request.method === "HEAD" ? "" : await readText(response, () => quiet.alive());
      throw new StoreRefusal(this.#what(request), answerOf(response, text));
    } catch (error) {
      signal.throwIfAborted();
      if (quiet.signal.aborted) {
        throw new ConnectorError(`${this.#what(request)} failed: the server did not answer in time`, {
          transient: true,
        });
      }
      throw wayTrouble(error, this.#what(request));
    } finally {
      quiet.stop();
      if (response?.bodyUsed === false) await response.body?.cancel().catch(() => {});
    }
  }

  async #signed(request: S3Request, signal: AbortSignal): Promise<[URL, RequestInit]> {
    const { method, bucket, key, query = {}, headers = {}, body } = request;
    const { config } = this;
    const url = urlOf(config.endpoint, bucket, key);
    if (url === undefined) {
      throw new ConnectorError(`${this.#what(request)} failed: a key with a part "." or ".." can't be asked for`, {
        transient: false,
        hint: "copy the object to another key",
      });
    }
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const digest = body === undefined
      ? EMPTY_SHA256
      : config.endpoint.tls
      ? "UNSIGNED-PAYLOAD"
      : createHash("sha256").update(body).digest("hex");
    const signer = new AwsV4Signer({
      method,
      url: url.href,
      headers: { ...headers, "x-amz-content-sha256": digest },
      accessKeyId: config.accessKey,
      secretAccessKey: config.secretKey,
      ...(config.sessionToken === undefined ? {} : { sessionToken: config.sessionToken }),
      service: "s3",
      region: config.region,
      cache: this.#cache,
    });
    const signed = await signer.sign();
    return [signed.url, {
      method,
      // Not signed, since servers on the way may change it.
      headers: [...signed.headers, ["accept-encoding", "identity"]],
      redirect: "manual",
      signal,
      ...(body === undefined ? {} : { body }),
    }];
  }

  #what({ doing, bucket, key }: S3Request): string {
    if (bucket === undefined) return `${doing} ${this.config.endpoint.host}:${this.config.endpoint.port}`;
    return `${doing} ${nameOf(this.config.endpoint, bucket, key)}`;
  }
}

/** The region, code or status of a store's refusal. */
export function refusedWith(error: unknown, ...codes: readonly (string | number)[]): boolean {
  return error instanceof StoreRefusal &&
    (codes.includes(error.answer.code) || (error.answer.code === "" && codes.includes(error.answer.status)));
}

/** The texts of the answers that name one thing, such as the id of an upload. */
export function neededText(document: XmlElement, name: string): string {
  const text = textOf(document, name);
  if (text !== undefined && text !== "") return text;
  throw new ConnectorError(`The store's answer ${document.name} has no ${name}`, { transient: false });
}

/** Base64 of the MD5 of bytes, and the same in the form of an ETag's inside. */
export function md5(bytes: Uint8Array): { readonly base64: string; readonly hex: string } {
  const digest = createHash("md5").update(bytes).digest();
  return { base64: digest.toString("base64"), hex: digest.toString("hex") };
}

async function readText(response: Response, alive: () => void): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    alive();
    bytes += chunk.length;
    if (bytes > MAX_DOCUMENT_BYTES) {
      throw new ConnectorError("The store's answer is larger than any that it should give", { transient: false });
    }
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/** Aborts when nothing was heard for a time. */
class QuietLimit {
  readonly #controller = new AbortController();
  readonly #ms: number;
  #timer: ReturnType<typeof setTimeout>;

  constructor(ms: number) {
    this.#ms = ms;
    this.#timer = this.#start();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  alive(): void {
    clearTimeout(this.#timer);
    this.#timer = this.#start();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #start(): ReturnType<typeof setTimeout> {
    return setTimeout(() => this.#controller.abort(), this.#ms);
  }
}
