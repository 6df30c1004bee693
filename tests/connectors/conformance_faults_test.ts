import assert from "node:assert/strict";
import { VECTORS } from "../../src/connectors/conformance/suite.ts";
import type { Vector } from "../../src/connectors/conformance/target.ts";
import { Trial } from "../../src/connectors/conformance/trial.ts";
import type { Capability, ConnectorDescription } from "../../src/connectors/mod.ts";
import { describePackage } from "../../src/connectors/packages/description.ts";
import { parseManifest } from "../../src/connectors/packages/manifest.ts";
import { TempDir } from "../harness/temp_dir.ts";

const CAPABILITIES: readonly Capability[] = [
  "ReplaceWrites",
  "Merge",
  "PartitionedRead",
  "StablePartitionIds",
  "ColumnPruning",
  "PredicatePushdown",
  "BoundedWindow",
  "InclusiveWatermarkBound",
  "GatedOperations",
];

/** A connector of one file that does everything right but for one fault. */
const CODE = `import { readFileSync, writeFileSync } from "node:fs";
const { arrowSchema, BatchBuilder, columnReaders, ConnectorError } = globalThis[Symbol.for("pz.connector.sdk")];
const FAULT = "__FAULT__";
const ALL = [{ name: "id", type: "BIGINT" }, { name: "name", type: "VARCHAR" }];
const compare = { "=": (a, b) => a === b, "<>": (a, b) => a !== b, "<": (a, b) => a < b, "<=": (a, b) => a <= b, ">": (a, b) => a > b, ">=": (a, b) => a >= b };
const fits = (id, p) => {
  if (p === undefined) return true;
  if (p.op === "and") return p.args.every((part) => fits(id, part));
  const op = FAULT === "exclusive" && p.op === ">=" ? ">" : FAULT === "unbounded" && p.op === "<=" ? "<>" : p.op;
  return compare[op](BigInt(id), BigInt(p.value.text));
};
let reads = 0;
export const connector = {
  name: "faulty",
  version: FAULT === "version" ? "2.0.0" : "1.0.0",
  capabilities: ${JSON.stringify(CAPABILITIES)},
  open(config, host) {
    const file = (entity) => config.folder + "/" + entity + ".json";
    const load = (entity) => {
      try {
        return JSON.parse(readFileSync(file(entity), "utf8"));
      } catch (cause) {
        if (FAULT === "shape") throw new Error("no such thing");
        throw new ConnectorError("There is no dataset", { transient: false, cause });
      }
    };
    const gated = (signal, work) => FAULT === "ungated"
      ? work()
      : host.operate({ label: FAULT === "label" ? "read " + file("x") : "touch", idempotent: true, signal }, work);
    const columns = (spec) => {
      const names = FAULT === "unpruned" ? undefined : spec.hints?.columns;
      const wanted = names === undefined ? ALL : names.map((name) => ALL.find((column) => column.name === name));
      return FAULT === "schema" ? [...wanted, { name: "more", type: "VARCHAR" }] : wanted;
    };
    return {
      source: {
        schema: (spec, signal) => gated(signal, async () => (load(spec.entity), arrowSchema(columns(spec)))),
        plan: async () => [0, 1].map((part) => ({ id: part + (FAULT === "ids" ? crypto.randomUUID() : "") })),
        async *read(spec, partition, { batchBytes, signal }) {
          const rows = await gated(signal, async () => load(spec.entity));
          const shown = columns(spec).filter(({ name }) => name !== "more");
          const builder = new BatchBuilder(arrowSchema(shown));
          const part = Number(partition.id.slice(0, 1));
          if (FAULT === "restless") reads++;
          for (const row of rows) {
            if (FAULT !== "deaf") signal.throwIfAborted();
            if (FAULT !== "double" && row.id % 2 !== part) continue;
            if (FAULT === "restless" && row.id <= reads) continue;
            if (FAULT === "lossy" && spec.hints?.predicate !== undefined && row.id === 20) continue;
            if (!fits(row.id, spec.hints?.predicate)) continue;
            builder.append(shown.map(({ name }) => name === "id" ? BigInt(row.id) : row.name));
            if (builder.bytes >= batchBytes) yield builder.finish();
            if (FAULT === "deaf" && builder.rows === 0) await new Promise(() => {});
          }
          if (builder.rows > 0) yield builder.finish();
        },
      },
      sink: {
        abortSemantics: "discards_all",
        async begin(spec, schema, signal) {
          const missing = spec.keys.find((key) => !schema.fields.some(({ name }) => name === key));
          if (missing !== undefined && FAULT !== "keyless") {
            throw new ConnectorError("There is no column " + missing, { transient: false });
          }
          let former = [];
          try {
            former = JSON.parse(readFileSync(file(spec.entity), "utf8"));
          } catch { /* new */ }
          let rows = spec.mode === "replace" && FAULT !== "append" ? [] : former;
          let count = 0n, batches = 0;
          const save = () => writeFileSync(file(spec.entity), JSON.stringify(rows));
          return {
            async write(batch) {
              const [ids, names] = columnReaders(batch);
              for (let row = 0; row < batch.numRows; row++) {
                const id = Number(ids.value(row));
                if (FAULT === "first" && rows.some((other) => other.name.startsWith("first"))) continue;
                if (spec.mode === "merge" && FAULT !== "insert") rows = rows.filter((other) => other.id !== id);
                rows.push({ id, name: names.value(row) });
              }
              if (FAULT === "drop") rows.pop();
              if (FAULT === "early") save();
              count += BigInt(batch.numRows);
              batches++;
            },
            commit: () => gated(signal, async () => (save(), { rows: FAULT === "count" ? count + 1n : count, batches })),
            abort: async () => {
              if (FAULT === "abort") throw new Error("can't");
            },
          };
        },
      },
      check: async () => FAULT === "fragile" && config.folder === undefined ? Deno.exit(7) : undefined,
      close: async () => FAULT === "stay" ? await new Promise(() => {}) : undefined,
    };
  },
};
`;

/** What each fault breaks. */
const FAULTS: { readonly [fault: string]: string } = {
  version: "handshake",
  schema: "schema-batch-equality",
  count: "commit-abort-session-rules",
  deaf: "cancellation",
  shape: "transient-error-shape",
  fragile: "validation-aggregation",
  ids: "partition-id-stability",
  restless: "read-is-deterministic",
  unpruned: "column-pruning",
  lossy: "predicate-pushdown",
  unbounded: "bounded-window",
  exclusive: "inclusive-watermark-bound",
  ungated: "reads-go-through-the-gate",
  label: "writes-go-through-the-gate",
  drop: "commit-persists-all-batches",
  early: "abort-discards-everything",
  append: "replace-overwrites",
  insert: "merge-is-idempotent",
  first: "merge-duplicates-in-one-write",
  keyless: "merge-without-its-key-column",
  stay: "clean-exit-on-shutdown",
};

function faulty(fault: string): ConnectorDescription {
  const manifest = parseManifest(
    JSON.stringify({
      name: "faulty",
      version: "1.0.0",
      protocol: 1,
      entry: "connector.js",
      capabilities: CAPABILITIES,
      connection: { properties: { folder: { type: "string" } }, required: ["folder"] },
      read: {},
      write: {},
      permissions: { read: ["{folder}"], write: ["{folder}"] },
    }),
    "m.json",
  );
  assert.ok("name" in manifest);
  const code = new TextEncoder().encode(CODE.replace("__FAULT__", fault));
  return describePackage(manifest, { kind: "module", code }, "faulty 1.0.0");
}

/** Why a vector fails for a connector; undefined where it passes. */
async function failureOf({ run }: Vector, fault: string): Promise<string | undefined> {
  await using folder = await TempDir.create();
  const rows = Array.from({ length: 2000 }, (_, index) => ({ id: index + 1, name: `n${index + 1}` }));
  await Deno.writeTextFile(folder.join("things.json"), JSON.stringify(rows));
  await using trial = new Trial({
    connector: faulty(fault),
    config: { folder: folder.path },
    root: folder.path,
    read: { dataset: "things", options: {} },
    write: {
      output: "out",
      options: {},
      mode: "replace",
      schemaPolicy: "fail_on_change",
      readBack: { dataset: "out", options: {} },
    },
  });
  try {
    await run(trial);
    return undefined;
  } catch (error) {
    return String(error);
  }
}

for (const [fault, name] of Object.entries(FAULTS)) {
  Deno.test(`${name} fails for a connector with the fault '${fault}'`, async () => {
    const vector = VECTORS.find((one) => one.name === name);
    assert.ok(vector !== undefined);
    const failure = await failureOf(vector, fault);
    assert.match(failure ?? "it passed", /^(?!Skipped)\w*Error: /);
  });
}

Deno.test("without a fault the same connector passes all that it declares", async () => {
  for (const name of new Set(Object.values(FAULTS))) {
    const vector = VECTORS.find((one) => one.name === name);
    assert.ok(vector !== undefined);
    assert.equal(await failureOf(vector, "none"), undefined, name);
  }
});
