import { S3Client } from "../../src/connectors/builtin/s3/client.ts";
import { readConfig } from "../../src/connectors/builtin/s3/config.ts";
import { listObjects } from "../../src/connectors/builtin/s3/listing.ts";
import { elements, textOf } from "../../src/connectors/builtin/s3/xml.ts";
import type { ConfigMap } from "../../src/connectors/mod.ts";
import { testHost } from "./connector_host.ts";
import { startMoto } from "./moto.ts";

const NEVER = new AbortController().signal;

/** A bucket of a store, and what tests do with it beside pz. */
export class TestStore {
  readonly name: string;
  readonly bucket: string;
  /** Options of a connection to the store, without a root. */
  readonly config: ConfigMap;
  readonly #client: S3Client;

  private constructor(name: string, bucket: string, config: ConfigMap) {
    const { config: checked, problems } = readConfig(config);
    if (checked === undefined) throw new Error(problems[0]?.message);
    this.name = name;
    this.bucket = bucket;
    this.config = config;
    this.#client = new S3Client(checked, testHost());
  }

  /** A new bucket of a store. */
  static async create(name: string, config: ConfigMap): Promise<TestStore> {
    const store = new TestStore(name, `pz-${crypto.randomUUID()}`, config);
    await store.#ask("PUT");
    return store;
  }

  /** A bucket that is there. */
  static of(name: string, bucket: string, config: ConfigMap): TestStore {
    return new TestStore(name, bucket, config);
  }

  /** The same bucket at another address, such as that of a proxy. */
  at(endpoint: string): TestStore {
    return new TestStore(this.name, this.bucket, { ...this.config, endpoint });
  }

  /** The connection as YAML, its secret in `S3_SECRET`. */
  yaml(prefix: string, more = ""): string {
    const { endpoint, access_key: key } = this.config;
    return `  connector: s3\n  endpoint: ${endpoint}\n  access_key: ${key}\n  secret_key: \${S3_SECRET}\n` +
      `  root: ${this.bucket}/${prefix}\n  url_style: path\n${more}`;
  }

  get secret(): string {
    return String(this.config["secret_key"]);
  }

  async put(
    key: string,
    content: string | Uint8Array<ArrayBuffer>,
    headers: { [name: string]: string } = {},
  ): Promise<void> {
    const body = typeof content === "string" ? new TextEncoder().encode(content) : content;
    await this.#ask("PUT", { key, body, headers });
  }

  async get(key: string): Promise<Uint8Array<ArrayBuffer>> {
    return await this.#client.send(
      { label: "t", idempotent: true, method: "GET", bucket: this.bucket, key, doing: "Testing", signal: NEVER },
      async (response) => new Uint8Array(await response.arrayBuffer()),
    );
  }

  async text(key: string): Promise<string> {
    return new TextDecoder().decode(await this.get(key));
  }

  async headers(key: string): Promise<Headers> {
    return await this.#ask("HEAD", { key });
  }

  async remove(key: string): Promise<void> {
    await this.#ask("DELETE", { key });
  }

  /** The keys below a prefix, in order. */
  async keys(prefix = ""): Promise<string[]> {
    return (await Array.fromAsync(listObjects(this.#client, this.bucket, prefix, NEVER), ({ key }) => key)).sort();
  }

  /** The keys of the uploads that are under way. */
  async uploads(): Promise<string[]> {
    const page = await this.#client.document({
      label: "t",
      idempotent: true,
      method: "GET",
      bucket: this.bucket,
      query: { uploads: "" },
      doing: "Testing",
      signal: NEVER,
    });
    return elements(page, "Upload").map((upload) => textOf(upload, "Key") ?? "");
  }

  /** Begins an upload that is nobody's business, and gives its id. */
  async beginUpload(key: string): Promise<string> {
    const answer = await this.#client.document({
      label: "t",
      idempotent: false,
      method: "POST",
      bucket: this.bucket,
      key,
      query: { uploads: "" },
      doing: "Testing",
      signal: NEVER,
    });
    return textOf(answer, "UploadId") ?? "";
  }

  async #ask(
    method: "PUT" | "HEAD" | "DELETE",
    more: { key?: string; body?: Uint8Array<ArrayBuffer>; headers?: { [name: string]: string } } = {},
  ): Promise<Headers> {
    return await this.#client.headers({
      label: "t",
      idempotent: false,
      method,
      bucket: this.bucket,
      doing: "Testing",
      signal: NEVER,
      ...more,
    });
  }
}

/**
 * The stores to test with: moto's server where the machine has it, and the one that the variables PZ_TEST_S3_ENDPOINT,
 * PZ_TEST_S3_ACCESS_KEY and PZ_TEST_S3_SECRET_KEY name. To be called outside of a test.
 */
export async function openStores(): Promise<readonly TestStore[]> {
  const stores: TestStore[] = [];
  const moto = await startMoto();
  if (moto !== undefined) {
    const config = { endpoint: moto.endpoint, access_key: "AKIATESTTESTTEST", secret_key: `s3-${crypto.randomUUID()}` };
    stores.push(await TestStore.create("moto", config));
  }
  const endpoint = Deno.env.get("PZ_TEST_S3_ENDPOINT");
  if (endpoint !== undefined) {
    const [access = "", secret = ""] = ["ACCESS", "SECRET"].map((name) => Deno.env.get(`PZ_TEST_S3_${name}_KEY`));
    const config = { endpoint, access_key: access, secret_key: secret, url_style: "path" };
    stores.push(await TestStore.create("other", config));
  }
  return stores;
}
