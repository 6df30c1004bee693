import { deepStrictEqual, notStrictEqual, strictEqual } from "node:assert/strict";
import fc from "fast-check";
import { canonicalJson } from "../../../src/util/mod.ts";
import { checkId, pipelineId, sinkId, sourceId } from "../../../src/compile/node_id.ts";
import type { Value, ValueMap, WriteBlock } from "../../../src/project/mod.ts";
import { check, columns, connection, dagOf, pipeline, project } from "./support.ts";

const scalars = fc.oneof(
  fc.constant(null),
  fc.boolean(),
  fc.bigInt(),
  fc.string(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);
const values: fc.Arbitrary<Value> = fc.letrec<{ value: Value }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    scalars,
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(fc.string(), tie("value"), { maxKeys: 4 }),
  ),
})).value;
const maps: fc.Arbitrary<ValueMap> = fc.dictionary(fc.string(), values, { maxKeys: 5 });

/** The same value with the keys of all its maps in reverse order. */
function reversed(value: Value): Value {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).reverse().map(([key, member]) => [key, reversed(member)]));
}

function reversedMap(map: ValueMap): ValueMap {
  return Object.fromEntries(Object.entries(map).reverse().map(([key, member]) => [key, reversed(member)]));
}

const WRITE: WriteBlock = {
  strategy: "append",
  keys: [],
  acceptDuplicates: false,
  schemaPolicy: "fail_on_change",
  options: {},
};

Deno.test("ids do not depend on the order of keys, at any depth", () => {
  fc.assert(fc.property(maps, (options) => {
    strictEqual(canonicalJson(reversedMap(options)), canonicalJson(options));
    strictEqual(
      sourceId("c", "e", { options: reversedMap(options) }, undefined),
      sourceId("c", "e", { options }, undefined),
    );
    strictEqual(
      sinkId("c", "e", "p", { ...WRITE, options: reversedMap(options) }),
      sinkId("c", "e", "p", { ...WRITE, options }),
    );
  }));
});

Deno.test("canonical JSON is JSON: what it writes reads back as the same value", () => {
  fc.assert(fc.property(values, (value) => {
    const text = canonicalJson(value);
    strictEqual(canonicalJson(asValue(JSON.parse(text, exact))), text);
  }));
});

function exact(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  return typeof value === "number" && context?.source !== undefined && /^-?\d+$/.test(context.source)
    ? BigInt(context.source)
    : value;
}

function asValue(value: unknown): Value {
  if (value === null || ["boolean", "number", "bigint", "string"].includes(typeof value)) return value as Value;
  if (Array.isArray(value)) return value.map(asValue);
  return Object.fromEntries(Object.entries(value ?? {}).map(([key, member]) => [key, asValue(member)]));
}

Deno.test("a source's id changes with what is read and with nothing else", () => {
  const id = sourceId("c", "e", { options: { a: 1n }, columns: columns("x int, y varchar") }, undefined);
  strictEqual(
    sourceId("c", "e", {
      options: { a: 1 },
      columns: columns("y varchar, x int"),
      sync: { mode: "auto" },
      retry: { maxAttempts: 9 },
    }, undefined),
    id,
  );
  for (
    const other of [
      sourceId("d", "e", { options: { a: 1n }, columns: columns("x int, y varchar") }, undefined),
      sourceId("c", "f", { options: { a: 1n }, columns: columns("x int, y varchar") }, undefined),
      sourceId("c", "e", { options: { a: "1" }, columns: columns("x int, y varchar") }, undefined),
      sourceId("c", "e", { options: { a: 1n }, columns: columns("x int, y text") }, undefined),
      sourceId("c", "e", { options: { a: 1n } }, undefined),
      sourceId("c", "e", { options: { a: 1n }, columns: columns("x int, y varchar") }, { columns: ["x"] }),
    ]
  ) notStrictEqual(other, id);
});

Deno.test("a pipeline's id changes with name, materialization, SQL and what it inlines", () => {
  const id = pipelineId("p", "table", "SELECT 1", []);
  const others = [
    pipelineId("q", "table", "SELECT 1", []),
    pipelineId("p", "view", "SELECT 1", []),
    pipelineId("p", "table", "SELECT 2", []),
    pipelineId("p", "table", "SELECT 1", [["e", "SELECT 1"]]),
  ];
  strictEqual(new Set([id, ...others]).size, 5);
});

Deno.test("a check's id ignores severity and samples, a write's id its retry settings", () => {
  const unique = check("unique", { columns: ["a"] });
  strictEqual(
    checkId("p", check("unique", { columns: ["a"], severity: "gate", sampleValues: false })),
    checkId("p", unique),
  );
  notStrictEqual(checkId("p", check("unique", { columns: ["a", "b"] })), checkId("p", unique));
  const id = sinkId("c", "e", "p", WRITE);
  strictEqual(sinkId("c", "e", "p", { ...WRITE, retry: { maxAttempts: 2 } }), id);
  const others: Partial<WriteBlock>[] = [
    { strategy: "replace" },
    { keys: ["a"] },
    { acceptDuplicates: true },
    { onDelete: "soft" },
    { schemaPolicy: "additive" },
    { options: { format: "csv" } },
  ];
  strictEqual(new Set(others.map((other) => sinkId("c", "e", "p", { ...WRITE, ...other }))).size, 6);
  for (const other of others) notStrictEqual(sinkId("c", "e", "p", { ...WRITE, ...other }), id);
});

Deno.test("the run's id in SQL, line ends and a closing semicolon do not change ids", async () => {
  const ids = async (template: string) =>
    (await dagOf(project([connection("raw")], [pipeline("a", template)]))).nodes.map(({ id }) => id);
  const plain = await ids("SELECT {{ run_id }} AS r,\n 1");
  deepStrictEqual(await ids("SELECT {{ run_id }} AS r,\r\n 1;\r\n"), plain);
  notStrictEqual((await ids("SELECT {{ run_id }} AS r, 1"))[0], plain[0]);
});
