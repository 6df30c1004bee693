/** The entry of a new connector. */
export const CONNECTOR_TEXT = `import {
  arrowSchema,
  BatchBuilder,
  columnReaders,
  ConnectorError,
  type ConnectorModule,
  type OutputSpec,
  type RecordBatch,
  type Sink,
  type Source,
  type WriteSession,
} from "./sdk.js";
import { type Column, columnsOf, FolderOfLines, lineOf, valueOf } from "./lines.ts";

/** Reads and writes files of JSON lines in one folder: the dataset "things" is the file things.jsonl. */
export const connector: ConnectorModule = {
  name: "__NAME__",
  version: "0.1.0",
  capabilities: ["ReplaceWrites", "Transactional"],
  open(config, host) {
    const folder = new FolderOfLines(String(config["path"] ?? ""));
    return {
      source: sourceOf(folder),
      sink: sinkOf(folder, (text) => host.notice(text)),
      check: () => folder.check(),
    };
  },
};

function sourceOf(folder: FolderOfLines): Source {
  return {
    async schema(spec) {
      return arrowSchema(await columns(folder, spec.entity));
    },
    // Without the capability PartitionedRead there is exactly one part.
    plan: () => Promise.resolve([{ id: "all" }]),
    async *read(spec, _partition, { batchBytes, signal }) {
      const found = await columns(folder, spec.entity);
      const builder = new BatchBuilder(arrowSchema(found));
      for await (const record of folder.records(spec.entity)) {
        signal.throwIfAborted();
        builder.append(found.map((column) => valueOf(record, column)));
        if (builder.bytes >= batchBytes) yield builder.finish();
      }
      if (builder.rows > 0) yield builder.finish();
    },
  };
}

/** The columns of a file, by what stands in it. */
async function columns(folder: FolderOfLines, entity: string): Promise<readonly Column[]> {
  return columnsOf(folder.records(entity));
}

function sinkOf(folder: FolderOfLines, notice: (text: string) => void): Sink {
  return {
    abortSemantics: "discards_all",
    begin: (spec) => Write.begin(folder, spec, notice),
  };
}

/** Collects the rows in a file of its own, which takes the target's name at the end. */
class Write implements WriteSession {
  #rows = 0n;
  #batches = 0;

  private constructor(
    private readonly folder: FolderOfLines,
    private readonly spec: OutputSpec,
    private readonly draft: string,
  ) {}

  static async begin(folder: FolderOfLines, spec: OutputSpec, notice: (text: string) => void): Promise<Write> {
    if (spec.mode === "append") notice("the whole file is written anew to append to it");
    const { run, ordinal } = spec.attempt;
    return new Write(folder, spec, await folder.begin(spec.entity, run + "-" + ordinal, spec.mode === "append"));
  }

  async write(batch: RecordBatch): Promise<void> {
    const readers = columnReaders(batch);
    const lines: string[] = [];
    for (let row = 0; row < batch.numRows; row++) lines.push(lineOf(readers, row));
    await this.folder.add(this.draft, lines);
    this.#rows += BigInt(batch.numRows);
    this.#batches++;
  }

  async commit(): Promise<{ rows: bigint; batches: number }> {
    try {
      await this.folder.publish(this.draft, this.spec.entity);
    } catch (error) {
      // The rename did not happen, and so nothing is to be seen.
      throw new ConnectorError("The file could not be published: " + String(error), {
        transient: false,
        outcomeUnknown: false,
        cause: error,
      });
    }
    return { rows: this.#rows, batches: this.#batches };
  }

  async abort(): Promise<void> {
    await this.folder.discard(this.draft);
  }
}
`;
