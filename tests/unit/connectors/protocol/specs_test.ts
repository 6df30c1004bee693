import assert from "node:assert/strict";
import fc from "fast-check";
import type { DatasetSpec, OutputSpec, Predicate } from "../../../../src/connectors/mod.ts";
import {
  datasetFromWire,
  datasetToWire,
  outputFromWire,
  outputToWire,
} from "../../../../src/connectors/protocol/specs.ts";

const CONFIG = { host: "h" };

function throughJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

const typed = fc.record({ type: fc.string(), text: fc.string() }, { noNullPrototype: true });
const plain = { noNullPrototype: true } as const;
const { predicate } = fc.letrec<{ predicate: Predicate }>((tie) => ({
  predicate: fc.oneof(
    { depthSize: "small" },
    fc.record({ op: fc.constantFrom("=", "<>", "<", "<=", ">", ">="), column: fc.string(), value: typed }, plain),
    fc.record({ op: fc.constantFrom("is_null", "is_not_null"), column: fc.string() }, plain),
    fc.record({ op: fc.constant("in"), column: fc.string(), values: fc.array(typed) }, plain),
    fc.record({ op: fc.constant("and"), args: fc.array(tie("predicate"), { maxLength: 3 }) }, plain),
  ),
}));

Deno.test("a dataset with its hints comes back the same", () => {
  fc.assert(fc.property(predicate, fc.array(fc.string()), (wanted, columns) => {
    const spec: DatasetSpec = {
      connection: "c",
      entity: "e",
      config: CONFIG,
      options: Object.assign(Object.create(null), { a: 2n ** 60n }),
      columns: [{ name: "n", type: "int" }],
      hints: { columns, predicate: wanted },
    };
    assert.deepEqual(datasetFromWire(throughJson(datasetToWire(spec)), CONFIG), spec);
  }));
});

Deno.test("an output comes back the same", () => {
  const spec: OutputSpec = {
    connection: "c",
    entity: "e",
    config: CONFIG,
    options: Object.create(null),
    mode: "merge",
    schemaPolicy: "evolve",
    keys: ["a", "b"],
    onDelete: "soft",
    attempt: { node: "n", run: "r", ordinal: 2 },
  };
  assert.deepEqual(outputFromWire(throughJson(outputToWire(spec)), CONFIG), spec);
  const { onDelete: _, ...without } = spec;
  assert.deepEqual(outputFromWire(throughJson(outputToWire(without)), CONFIG), without);
});

let nested: unknown = { op: "is_null", column: "a" };
for (let depth = 0; depth < 100; depth++) nested = { op: "and", args: [nested] };

for (
  const [what, predicate] of [
    ["an unknown operator", { op: "like", column: "a", value: { type: "VARCHAR", text: "x" } }],
    ["no column", { op: "=", value: { type: "VARCHAR", text: "x" } }],
    ["no value", { op: "=", column: "a" }],
    ["a value that is no text", { op: "=", column: "a", value: { type: "BIGINT", text: 1 } }],
    ["values that are no list", { op: "in", column: "a", values: {} }],
    ["parts that are no list", { op: "and", args: "x" }],
    ["too deep a nest", nested],
  ] as const
) {
  Deno.test(`a predicate with ${what} is refused`, () => {
    const wire = { connection: "c", entity: "e", options: { map: {} }, hints: { predicate } };
    assert.throws(() => datasetFromWire(wire, CONFIG), { name: "FrameError" });
  });
}

Deno.test("an output with an unknown mode or without its attempt is refused", () => {
  const wire = {
    connection: "c",
    entity: "e",
    options: { map: {} },
    mode: "append",
    schemaPolicy: "evolve",
    keys: [],
    attempt: { node: "n", run: "r", ordinal: 1 },
  };
  outputFromWire(wire, CONFIG);
  for (const change of [{ mode: "upsert" }, { keys: [1] }, { onDelete: "maybe" }, { attempt: { node: "n" } }]) {
    assert.throws(() => outputFromWire({ ...wire, ...change }, CONFIG), { name: "FrameError" }, JSON.stringify(change));
  }
});
