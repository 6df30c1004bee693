import { createHash } from "node:crypto";
import { connector } from "../../src/connectors/builtin/s3/connector.ts";
import { type ConfigMap, ConnectorError, type FetchedFile, type OutputSpec } from "../../src/connectors/mod.ts";
import type { FileGrowth, FileMover, StoreResult, StoreSession } from "../../src/connectors/sdk/mod.ts";
import { testHost } from "../harness/connector_host.ts";
import type { TestStore } from "../harness/s3_store.ts";
import { TempDir, writeFiles } from "../harness/temp_dir.ts";

export const NEVER = new AbortController().signal;

/** The connector's mover of files in this process; what may be repeated is, so many times. */
export function openMover(store: TestStore, labels: string[] = [], retries = 0): FileMover {
  const host = testHost({
    operate: async ({ label, idempotent, signal }, work) => {
      labels.push(`${label}${idempotent ? "" : " once"}`);
      for (let tried = 0;; tried++) {
        try {
          return await work(signal);
        } catch (error) {
          const isOver = tried >= retries || !idempotent || !(error instanceof ConnectorError) || !error.transient;
          if (isOver) throw error;
        }
      }
    },
  });
  const { files } = connector.open(store.config, host);
  if (files === undefined) throw new Error("no mover");
  return files;
}

/** The files of a path of the store's bucket, each with its content as text. */
export async function fetchAll(
  mover: FileMover,
  store: TestStore,
  prefix: string,
  path: string,
  { signal = NEVER, onBytes = () => {} }: { signal?: AbortSignal; onBytes?: (bytes: number) => void } = {},
): Promise<(FetchedFile & { readonly text: string })[]> {
  await using folder = await TempDir.create();
  const spec = { connection: "store", entity: "x", config: {}, options: { bucket: store.bucket, prefix, path } };
  const found: (FetchedFile & { readonly text: string })[] = [];
  for await (const file of mover.fetch(spec, { folder: folder.path, signal, onBytes })) {
    const bytes = await Deno.readFile(folder.join(...file.path.split("/")));
    found.push({ ...file, text: bytes.length > 1000 ? digestOf(bytes) : new TextDecoder().decode(bytes) });
  }
  return found;
}

/** One write of files out of a folder of its own. */
export class Storing implements AsyncDisposable {
  readonly failures: unknown[] = [];
  readonly stop = new AbortController();
  readonly #folder: TempDir;
  #session: StoreSession | undefined;

  private constructor(folder: TempDir) {
    this.#folder = folder;
  }

  static async begin(mover: FileMover, store: TestStore, options: ConfigMap): Promise<Storing> {
    const storing = new Storing(await TempDir.create());
    storing.#session = await mover.store(outputOf({ bucket: store.bucket, ...options }), {
      folder: storing.#folder.path,
      journal: storing.journal,
      signal: storing.stop.signal,
      fail: (error) => void storing.failures.push(error),
    });
    return storing;
  }

  get session(): StoreSession {
    if (this.#session === undefined) throw new Error("not begun");
    return this.#session;
  }

  /** Sends and makes visible. */
  async commit(): Promise<StoreResult> {
    try {
      await this.session.sent();
    } catch (error) {
      await this.session.abort();
      throw error;
    }
    return await this.session.commit();
  }

  get journal(): string {
    return this.#folder.join("journal");
  }

  async hasJournal(): Promise<boolean> {
    return await Deno.stat(this.journal).then(() => true, () => false);
  }

  /** Writes a file and tells that so many bytes, or all of it, are there. */
  async file(path: string, content: string | Uint8Array, growth: Partial<FileGrowth> = {}): Promise<void> {
    await writeFiles(this.#folder.path, { [path]: content });
    const bytes = typeof content === "string" ? new TextEncoder().encode(content).length : content.length;
    this.session.grew({ path, bytes, isWhole: true, ...growth });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#folder[Symbol.asyncDispose]();
  }
}

function outputOf(options: ConfigMap): OutputSpec {
  return {
    connection: "store",
    entity: "x",
    config: {},
    options,
    mode: "replace",
    schemaPolicy: "fail_on_change",
    keys: [],
    attempt: { node: "n", run: "r", ordinal: 1 },
  };
}

/** Stands for bytes that are too many to show. */
export function digestOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** Bytes that differ from place to place. */
export function manyBytes(length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  const words = new Uint32Array(bytes.buffer, 0, Math.floor(length / 4));
  for (let index = 0; index < words.length; index++) words[index] = Math.imul(index, 2654435761);
  return bytes;
}
