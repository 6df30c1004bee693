import { dirname } from "node:path";
import type { RecordBatch, Schema } from "../../../../util/arrow.ts";
import type { OutputSpec, WriteResult } from "../../../contract/mod.ts";
import type { ConnectorHost, Sink, WriteSession } from "../../../sdk/connector.ts";
import { toConnectorError } from "../../../sdk/failure.ts";
import { csvFormat } from "./csv_format.ts";
import { makeFolders, publish, removeLeftovers } from "./folders.ts";
import { jsonFormat } from "./json_format.ts";
import type { LineFormat } from "./lines.ts";
import { PartitionedFiles, SingleFile, type TextOutput } from "./text_output.ts";
import { during } from "./trouble.ts";
import { type WriteRequest, writeRequest } from "./write_request.ts";

/** Writes files of lines: under a temporary name until they are complete. */
export class FileSink implements Sink {
  readonly abortSemantics = "discards_all";
  readonly #host: ConnectorHost;

  constructor(host: ConnectorHost) {
    this.#host = host;
  }

  async begin(spec: OutputSpec, schema: Schema): Promise<WriteSession> {
    const request = writeRequest(spec);
    const { final, aside, partitions } = request;
    const made = guarded(final, () => makeFolders(dirname(final)));
    try {
      const output = partitions === undefined
        ? await SingleFile.create(aside, this.#format(request, schema, schema.fields.map((_, index) => index)))
        : PartitionedFiles.create(aside, partitions, schema, (places) => this.#format(request, schema, places));
      return new FileWrite(request, output, made);
    } catch (error) {
      removeLeftovers([aside], made);
      throw during(`Writing "${final}"`, error);
    }
  }

  #format({ format, delimiter }: WriteRequest, schema: Schema, places: readonly number[]): LineFormat {
    const fields = places.flatMap((place) => schema.fields[place] ?? []);
    if (format !== "json") return csvFormat(fields, delimiter);
    return jsonFormat(fields, (column) => {
      this.#host.notice(
        `Column "${column}" holds numbers that JSON has none for, NaN or infinite: they are null in the file`,
      );
    });
  }
}

/** One write, from its temporary name to its final one. */
class FileWrite implements WriteSession {
  /** A repetition has the same final name, so that it replaces what has landed. */
  readonly provesAttempt = true;
  readonly #request: WriteRequest;
  readonly #output: TextOutput;
  readonly #made: readonly string[];
  #rows = 0n;
  #batches = 0;

  constructor(request: WriteRequest, output: TextOutput, made: readonly string[]) {
    this.#request = request;
    this.#output = output;
    this.#made = made;
  }

  async write(batch: RecordBatch): Promise<void> {
    try {
      await this.#output.write(batch);
    } catch (error) {
      throw during(`Writing "${this.#request.final}"`, error);
    }
    this.#rows += BigInt(batch.numRows);
    this.#batches++;
  }

  async commit(): Promise<WriteResult> {
    const { aside, final } = this.#request;
    try {
      await this.#output.finish();
      publish(aside, final);
    } catch (error) {
      // A name that is not there any more was published.
      const isPublished = !exists(aside);
      if (!isPublished) await this.abort();
      const failure = toConnectorError(during(`Writing "${final}"`, error));
      throw failure.with({ outcomeUnknown: isPublished });
    }
    return { rows: this.#rows, batches: this.#batches };
  }

  abort(): Promise<void> {
    try {
      this.#output.close();
    } catch { /* closed already */ }
    removeLeftovers([this.#request.aside], this.#made);
    return Promise.resolve();
  }
}

function guarded<T>(final: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw during(`Writing "${final}"`, error);
  }
}

function exists(path: string): boolean {
  try {
    Deno.lstatSync(path);
    return true;
  } catch {
    return false;
  }
}
