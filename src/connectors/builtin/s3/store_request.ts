import { type ConfigMap, ConnectorError } from "../../contract/mod.ts";
import type { ReadPlace } from "./place.ts";

/** What the process is asked to store: one object of a key, or files below a prefix. */
export type StoreRequest = {
  readonly bucket: string;
  readonly key?: string;
  readonly prefix?: string;
  /** Whether what else stands below the prefix is deleted in the end. */
  readonly clear: boolean;
  readonly contentType: string;
};

/** What the options of a write ask of the process. */
export function storeRequest(options: ConfigMap): StoreRequest {
  const { bucket, key, prefix, clear, format, array } = options;
  if (typeof bucket !== "string" || (typeof key !== "string" && typeof prefix !== "string")) throw misuse();
  return {
    bucket,
    ...(typeof key === "string" ? { key } : { prefix: String(prefix) }),
    clear: clear === true,
    contentType: contentTypeOf(String(format), array === true),
  };
}

/** What the options of a read ask of the process. */
export function fetchRequest({ bucket, prefix, path }: ConfigMap): ReadPlace {
  if (typeof bucket !== "string" || typeof prefix !== "string" || typeof path !== "string") throw misuse();
  return { bucket, prefix, path };
}

function contentTypeOf(format: string, array: boolean): string {
  switch (format) {
    case "csv":
      return "text/csv";
    case "tsv":
      return "text/tab-separated-values";
    case "json":
      return array ? "application/json" : "application/x-ndjson";
    case "parquet":
      return "application/vnd.apache.parquet";
    default:
      return "application/octet-stream";
  }
}

function misuse(): ConnectorError {
  return new ConnectorError("A request without the place that it is about", { transient: false, code: "PZ0357" });
}
