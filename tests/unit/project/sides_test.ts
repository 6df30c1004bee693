import assert from "node:assert/strict";
import { readBlockFromCall, type ValueMap, writeBlockFromCall } from "../../../src/project/mod.ts";
import { errorsOf, loaded, place } from "./helpers.ts";

const AT = { file: "pipelines/x.sql", line: 3, column: 7 };

function read(kwargs: ValueMap): unknown {
  const { value, errors, warnings } = readBlockFromCall(kwargs, AT);
  assert.equal(value === undefined, errors.length > 0);
  return errors.length > 0 ? errors.map(codeOf) : warnings.length > 0 ? [value, warnings.map(place)] : value;
}

function write(kwargs: ValueMap): unknown {
  const { value, errors, warnings } = writeBlockFromCall(kwargs, AT);
  assert.equal(value === undefined, errors.length > 0);
  return errors.length > 0 ? errors.map(codeOf) : warnings.length > 0 ? [value, warnings.map(place)] : value;
}

function codeOf(error: Parameters<typeof place>[0]): string {
  assert.deepEqual([error.file, error.line, error.column], [AT.file, AT.line, AT.column]);
  return error.code;
}

Deno.test("source() options are columns in their order, sync, retry, and the connector's own", () => {
  assert.deepEqual(
    read({
      columns: { b: "bigint", a: { type: "decimal", lossy: "allow" } },
      sync: {
        mode: "incremental",
        cursor: "b",
        initial: 5n,
        max_window: 1.5,
        until: "now",
        lookback: "2h",
        null_cursor: "skip",
      },
      retry: { max_attempts: 1n },
      format: "csv",
      partitions: 4n,
      nested: { list: [1n, null, true] },
    }),
    {
      columns: [{ name: "b", type: "bigint" }, { name: "a", type: "decimal", lossy: "allow" }],
      sync: {
        mode: "incremental",
        cursor: "b",
        initial: "5",
        maxWindow: "1.5",
        until: "now",
        lookback: "2h",
        nullCursor: "skip",
      },
      retry: { maxAttempts: 1 },
      options: { format: "csv", partitions: 4n, nested: { list: [1n, null, true] } },
    },
  );
});

Deno.test("the three forms of sync take their own keys only", () => {
  assert.deepEqual(read({ sync: { mode: "auto" } }), { sync: { mode: "auto" }, options: {} });
  assert.deepEqual(read({ sync: { mode: "cdc", slot: "s" } }), { sync: { mode: "cdc", slot: "s" }, options: {} });
  const wrong: ValueMap[] = [
    {},
    { mode: "full" },
    { mode: "auto", cursor: "id" },
    { mode: "cdc", cursor: "id" },
    { mode: "incremental" },
    { mode: "incremental", cursor: "" },
    { mode: "incremental", cursor: ["id"] },
    { mode: "incremental", cursor: "id", slot: "s" },
    { mode: "incremental", cursor: "id", max_window: { d: 1n } },
    { mode: "incremental", cursor: "id", lookback: "-2h" },
    { mode: "incremental", cursor: "id", lookback: "soon" },
    { mode: "incremental", cursor: "id", null_cursor: "drop" },
    { cursor: "id" },
  ];
  for (const sync of wrong) assert.deepEqual(read({ sync }), ["PZ0334"], Deno.inspect(sync));
  for (const sync of ["cdc", [], 5n, null]) assert.deepEqual(read({ sync }), ["PZ0334"]);
});

Deno.test("lookback is a duration or a number that isn't negative", () => {
  for (const lookback of ["2h", "0s", 100n, 1.5, "250"]) {
    const { value } = readBlockFromCall({ sync: { mode: "incremental", cursor: "c", lookback } }, AT);
    assert.equal(value?.sync?.mode === "incremental" ? value.sync.lookback : undefined, String(lookback));
  }
});

Deno.test("a columns contract is a map of types", () => {
  const wrong: ValueMap[string][] = [
    ["id"],
    "id",
    { id: "" },
    { id: ["int"] },
    { id: {} },
    { id: { type: "int", lossy: "yes" } },
    { id: { type: "int", nullable: true } },
    { id: "int", ID: "int" },
  ];
  for (const columns of wrong) assert.deepEqual(read({ columns }), ["PZ0101"], Deno.inspect(columns));
  assert.deepEqual(read({ columns: {} }), { options: {} });
});

Deno.test("what belongs elsewhere or is retired is refused on the read side", () => {
  assert.deepEqual(read({ rate_limit: {} }), ["PZ0318"]);
  assert.deepEqual(read({ max_concurrency: 1n }), ["PZ0122"]);
  assert.deepEqual(read({ schema: "dbo", table: "orders" }), ["PZ0348", "PZ0348"]);
  assert.deepEqual(read({ incremental: { cursor: "id" } }), ["PZ0332"]);
  const hints = (kwargs: ValueMap): (string | undefined)[] =>
    readBlockFromCall(kwargs, AT).errors.map(({ hint }) => hint);
  assert.deepEqual(hints({ schema: "dbo", table: "o" }), ["Name the entity 'dbo.o'.", "Name the entity 'dbo.o'."]);
  assert.deepEqual(hints({ incremental: { cursor: "id" } }), ["Write sync: { mode: incremental, cursor: id }."]);
});

Deno.test("an option one edit from a key of pz's is passed on with a warning", () => {
  assert.deepEqual(read({ colums: {} }), [
    { options: { colums: {} } },
    ["PZ0201 pipelines/x.sql:3:7 'colums' goes to the connector as an option of its own"],
  ]);
  const { value, warnings } = writeBlockFromCall({ startegy: "merge", key: ["id"], path: "x" }, AT);
  assert.deepEqual(value?.options, { startegy: "merge", key: ["id"], path: "x" });
  assert.deepEqual(warnings.map(({ code, hint }) => [code, hint]), [
    ["PZ0208", "Did you mean 'strategy'?"],
    ["PZ0208", "Did you mean 'keys'?"],
  ]);
});

Deno.test("sink() options have their defaults", () => {
  assert.deepEqual(write({ format: "parquet" }), {
    strategy: "append",
    keys: [],
    acceptDuplicates: false,
    schemaPolicy: "fail_on_change",
    options: { format: "parquet" },
  });
  assert.deepEqual(
    write({
      strategy: "merge",
      keys: ["a", "b"],
      duplicates: "accept",
      on_delete: "soft",
      schema_policy: "additive",
      retry: { base_delay: "1s" },
      order_by: "updated_at desc",
      skip_unchanged: true,
      checkpoint_rows: 1000n,
      partition_by: ["day"],
    }),
    {
      strategy: "merge",
      keys: ["a", "b"],
      acceptDuplicates: true,
      schemaPolicy: "additive",
      onDelete: "soft",
      retry: { baseDelayMs: 1000 },
      orderBy: ["updated_at desc"],
      skipUnchanged: true,
      checkpointRows: 1000,
      options: { partition_by: ["day"] },
    },
  );
});

Deno.test("wrong write words are PZ0334, wrong keys PZ0101", () => {
  const wrong: [ValueMap, string][] = [
    [{ strategy: "upsert" }, "PZ0334"],
    [{ strategy: null }, "PZ0334"],
    [{ duplicates: true }, "PZ0334"],
    [{ duplicates: "reject" }, "PZ0334"],
    [{ strategy: "merge", on_delete: "hard" }, "PZ0334"],
    [{ on_delete: "soft" }, "PZ0334"],
    [{ schema_policy: "evolv" }, "PZ0334"],
    [{ order_by: { a: 1n } }, "PZ0334"],
    [{ skip_unchanged: "yes" }, "PZ0334"],
    [{ checkpoint_rows: 0n }, "PZ0334"],
    [{ keys: "id" }, "PZ0101"],
    [{ keys: [["id"]] }, "PZ0101"],
    [{ keys: [""] }, "PZ0101"],
    [{ keys: ["id", "id"] }, "PZ0101"],
    [{ retry: { attempts: 1n } }, "PZ0121"],
    [{ mode: "merge" }, "PZ0333"],
    [{ write: "merge" }, "PZ0333"],
    [{ accept_duplicates: true }, "PZ0333"],
    [{ input: "x" }, "PZ0112"],
    [{ schema: "x" }, "PZ0348"],
    [{ table: "x" }, "PZ0348"],
    [{ rate_limit: {} }, "PZ0318"],
    [{ max_concurrency: 1n }, "PZ0122"],
  ];
  for (const [kwargs, code] of wrong) assert.deepEqual(write(kwargs), [code], Object.keys(kwargs).join());
});

Deno.test("both surfaces read the same block to the same value", async () => {
  const text = `
c:
  connector: x
  entities:
    o:
      read: { columns: { b: int, a: text }, sync: { mode: incremental, cursor: b, initial: 2026-01-01 }, n: 5, d: 1.5 }
      write: { strategy: merge, keys: [b], order_by: [a], path: p }
`;
  const entity = (await loaded({ "connections.yml": text })).connections["c"]?.entities["o"];
  const sync = { mode: "incremental", cursor: "b", initial: "2026-01-01" };
  assert.deepEqual(entity?.read, read({ columns: { b: "int", a: "text" }, sync, n: 5n, d: 1.5 }));
  assert.deepEqual(entity?.write, write({ strategy: "merge", keys: ["b"], order_by: ["a"], path: "p" }));
});

Deno.test("a call's block is frozen", () => {
  const { value } = readBlockFromCall({ a: { b: [1n] } }, AT);
  assert.ok(Object.isFrozen(value?.options) && Object.isFrozen(value?.options["a"]));
});

Deno.test("a number in an option that would lose digits is refused", async () => {
  const text = "c: { connector: x, entities: { o: { read: { v: 0.12345678901234567890 } } } }\n";
  assert.equal((await errorsOf({ "connections.yml": text }))[0]?.slice(0, 27), "PZ0137 connections.yml:1:48");
});

Deno.test("no message or hint repeats a value of a call whose arguments are secret", () => {
  const secret = "12345";
  const cases: ValueMap[] = [
    { strategy: secret },
    { keys: secret },
    { keys: [secret, secret] },
    { checkpoint_rows: secret },
    { retry: { base_delay: secret } },
    { schema: secret, table: secret },
  ];
  for (const kwargs of cases) {
    const { errors } = writeBlockFromCall(kwargs, AT, { secret: true });
    assert.ok(errors.length > 0);
    for (const { message, hint } of errors) assert.ok(!`${message} ${hint}`.includes(secret), `${message} ${hint}`);
  }
  const { errors } = readBlockFromCall({ incremental: { cursor: secret } }, AT, { secret: true });
  assert.ok(!errors.map(({ hint }) => hint).join().includes(secret));
});
