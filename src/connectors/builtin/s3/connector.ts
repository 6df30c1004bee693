import { type ConfigMap, ConnectorError } from "../../contract/mod.ts";
import type { ConnectorHost, ConnectorInstance, ConnectorModule, FileMover } from "../../sdk/connector.ts";
import { S3_CAPABILITIES } from "./capabilities.ts";
import { refusedWith, S3Client } from "./client.ts";
import { readConfig } from "./config.ts";
import { fetchFiles } from "./fetch_files.ts";
import { readJournal, removeJournal } from "./journal.ts";
import { listPage } from "./listing.ts";
import { Slots } from "./slots.ts";
import { StoreFiles } from "./store_files.ts";
import { fetchRequest, storeRequest } from "./store_request.ts";
import { sweepNote } from "./uploads.ts";

/** Requests that carry data at once; what they hold in memory is bounded by them. */
const DATA_REQUESTS = 4;

/** Objects of any store that speaks the protocol of S3. It never repeats anything by itself. */
export const connector: ConnectorModule = {
  name: "s3",
  version: "1.0.0",
  capabilities: S3_CAPABILITIES,
  open,
};

function open(raw: ConfigMap, host: ConnectorHost): ConnectorInstance {
  const { config, problems } = readConfig(raw);
  const [problem] = problems;
  if (config === undefined || problem !== undefined) {
    throw new ConnectorError(problem?.message ?? "A connection without options", {
      transient: false,
      code: "PZ0301",
      hint: problem?.hint,
    });
  }
  const client = new S3Client(config, host);
  return { files: mover(client), check: (signal) => check(client, host, signal) };
}

function mover(client: S3Client): FileMover {
  const down = new Slots(DATA_REQUESTS);
  const up = new Slots(DATA_REQUESTS);
  return {
    fetch: (spec, options) => fetchFiles(client, fetchRequest(spec.options), { ...options, slots: down }),
    store: (spec, options) => Promise.resolve(new StoreFiles(client, storeRequest(spec.options), options, up)),
    sweep: async (journals, signal) => {
      for (const journal of journals) {
        for (const note of await readJournal(journal)) await sweepNote(client, note, signal);
        removeJournal(journal);
      }
    },
  };
}

/** Asks for one key of the root, or for the buckets; that they may not be listed says nothing against reading them. */
async function check(client: S3Client, host: ConnectorHost, signal: AbortSignal): Promise<void> {
  const { root } = client.config;
  try {
    if (root === undefined) {
      await client.document({ label: "check", idempotent: true, method: "GET", doing: "Asking", signal });
    } else {
      await listPage(client, root.bucket, { prefix: root.prefix === "" ? "" : `${root.prefix}/`, most: 1 }, signal);
    }
  } catch (error) {
    if (!refusedWith(error, "AccessDenied")) throw error;
    host.log("info", "the access key may not list what is there, so that patterns can't be read");
  }
}
