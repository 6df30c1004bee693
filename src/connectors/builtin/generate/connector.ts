import type { RecordBatch } from "../../../util/arrow.ts";
import { type ColumnSpec, type ConfigValue, ConnectorError, type DatasetSpec } from "../../contract/mod.ts";
import { arrowSchema, BatchBuilder, type ConnectorModule } from "../../sdk/mod.ts";
import { tryForbidden } from "./attempt.ts";
import { detailOf, idsOf, valueMaker } from "./value.ts";

const DEFAULT_COLUMNS: readonly ColumnSpec[] = [
  { name: "id", type: "bigint" },
  { name: "name", type: "varchar" },
  { name: "amount", type: "decimal" },
  { name: "active", type: "boolean" },
  { name: "born", type: "date" },
  { name: "updated_at", type: "timestamp" },
];
/** What `nested: true` adds. */
const NESTED_COLUMNS: readonly ColumnSpec[] = [
  { name: "ids", type: "BIGINT[]" },
  { name: "detail", type: "STRUCT(name VARCHAR, amounts DOUBLE[])" },
];

/** Rows out of nothing: the same ones for the same options, each column filled by its type and row number. */
export const connector: ConnectorModule = {
  name: "generate",
  version: "1.0.0",
  capabilities: [],
  open: () => ({
    source: {
      schema: (spec) => Promise.resolve(arrowSchema([...columnsOf(spec), ...nestedOf(spec)])),
      plan: () => Promise.resolve([{ id: "all" }]),
      read: (spec, _partition, options) => rows(spec, options),
    },
  }),
};

function columnsOf(spec: DatasetSpec): readonly ColumnSpec[] {
  return spec.columns === undefined || spec.columns.length === 0 ? DEFAULT_COLUMNS : spec.columns;
}

function nestedOf(spec: DatasetSpec): readonly ColumnSpec[] {
  const nested = spec.options["nested"] ?? false;
  if (typeof nested === "boolean") return nested ? NESTED_COLUMNS : [];
  throw misfit("nested", nested, "true or false");
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
  const nested = nestedOf(spec);
  const makers = [...columns.map(({ type }) => valueMaker(type)), ...nested.length > 0 ? [idsOf, detailOf] : []];
  const builder = new BatchBuilder(arrowSchema([...columns, ...nested]));
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
  throw misfit(name, value, `a whole number from ${least}`);
}

function misfit(name: string, value: ConfigValue, expected: string): ConnectorError {
  const told = typeof value === "object" && value !== null ? "a list or a map" : JSON.stringify(String(value));
  return new ConnectorError(`Option "${name}" is ${told}: expected ${expected}`, { transient: false, code: "PZ0301" });
}
