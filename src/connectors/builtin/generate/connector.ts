import type { RecordBatch } from "../../../util/arrow.ts";
import { type ColumnSpec, ConnectorError, type DatasetSpec } from "../../contract/mod.ts";
import { arrowSchema, BatchBuilder, type ConnectorModule } from "../../sdk/mod.ts";
import { tryForbidden } from "./attempt.ts";
import { valueMaker } from "./value.ts";

const DEFAULT_COLUMNS: readonly ColumnSpec[] = [
  { name: "id", type: "bigint" },
  { name: "name", type: "varchar" },
  { name: "amount", type: "decimal" },
  { name: "active", type: "boolean" },
  { name: "born", type: "date" },
  { name: "updated_at", type: "timestamp" },
];

/** Rows out of nothing: the same ones for the same options, each column filled by its type and row number. */
export const connector: ConnectorModule = {
  name: "generate",
  version: "1.0.0",
  capabilities: [],
  open: () => ({
    source: {
      schema: (spec) => Promise.resolve(arrowSchema(columnsOf(spec))),
      plan: () => Promise.resolve([{ id: "all" }]),
      read: (spec, _partition, options) => rows(spec, options),
    },
  }),
};

function columnsOf(spec: DatasetSpec): readonly ColumnSpec[] {
  return spec.columns === undefined || spec.columns.length === 0 ? DEFAULT_COLUMNS : spec.columns;
}

async function* rows(
  spec: DatasetSpec,
  options: { readonly batchBytes: number; readonly signal: AbortSignal },
): AsyncGenerator<RecordBatch> {
  const count = wholeOption(spec, "rows", 0, 1000);
  const batchRows = wholeOption(spec, "batch_rows", 1, 65_536);
  const attempt = spec.options["attempt"];
  if (attempt !== undefined) await tryForbidden(attempt);
  const columns = columnsOf(spec);
  const makers = columns.map(({ type }) => valueMaker(type));
  const builder = new BatchBuilder(arrowSchema(columns));
  for (let row = 0; row < count; row++) {
    builder.append(makers.map((make) => make(row)));
    if (builder.rows >= batchRows || ((row & 1023) === 1023 && builder.bytes >= options.batchBytes)) {
      yield builder.finish();
      await Promise.resolve();
      options.signal.throwIfAborted();
    }
  }
  if (builder.rows > 0) yield builder.finish();
}

function wholeOption(spec: DatasetSpec, name: string, least: number, otherwise: number): number {
  const value = spec.options[name] ?? otherwise;
  const whole = typeof value === "bigint" ? Number(value) : value;
  if (typeof whole === "number" && Number.isSafeInteger(whole) && whole >= least) return whole;
  throw new ConnectorError(
    `Option "${name}" is ${JSON.stringify(String(value))}: expected a whole number from ${least}`,
    {
      transient: false,
      code: "PZ0301",
    },
  );
}
