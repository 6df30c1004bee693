import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import fc from "fast-check";
import { canonicalCursor, compareCursors, isStep } from "../../../src/compile/semantics/cursor_value.ts";
import { dateTokens, tokenProblem } from "../../../src/compile/semantics/path_tokens.ts";
import type { ReadBlock, SyncBlock, WriteBlock } from "../../../src/project/mod.ts";
import { build, columns, connection, type Options, pipeline, project } from "./support.ts";

const AT = { file: "connections.yml", line: 4, column: 5 };
const WRITE: WriteBlock = {
  strategy: "merge",
  keys: ["id"],
  acceptDuplicates: false,
  schemaPolicy: "fail_on_change",
  options: {},
};
const CONTRACT = columns("id int, big bigint, price decimal, day date, ts timestamp, name varchar, f double");
const S = "{{ source('raw', 'o') }}";
const SINK = "{{ sink('lake', 'out') }}";

type Told = {
  readonly errors: readonly string[];
  readonly notices: readonly string[];
  readonly sync?: SyncBlock | undefined;
};

async function told(
  read: Partial<ReadBlock>,
  write: Partial<WriteBlock> = {},
  sql = `INSERT INTO ${SINK} SELECT * FROM ${S}`,
): Promise<Told> {
  const raw = connection("raw", { o: { name: "o", read: { options: {}, ...read }, position: AT } });
  const options: Options = { [SINK]: { ...WRITE, ...write } };
  const outcome = await build(project([raw, connection("lake")], [pipeline("p", sql)]), options);
  if (!outcome.ok) return { errors: outcome.errors.map(({ code, message }) => `${code} ${message}`), notices: [] };
  const load = outcome.value.nodes.find((node) => node.kind === "SourceLoad");
  return { errors: [], notices: outcome.notices, sync: load?.kind === "SourceLoad" ? load.read.sync : undefined };
}

function incremental(
  init: Partial<Extract<SyncBlock, { mode: "incremental" }>> = {},
  options: ReadBlock["options"] = {},
): Partial<ReadBlock> {
  return { columns: CONTRACT, options, sync: { mode: "incremental", cursor: "ts", ...init } };
}

async function errors(...args: Parameters<typeof told>): Promise<readonly string[]> {
  return (await told(...args)).errors;
}

Deno.test("a cursor must stand in the contract with a type that is ordered", async () => {
  deepStrictEqual(await errors(incremental()), []);
  deepStrictEqual(await errors(incremental({ cursor: "tz" })), [
    "PZ0212 source 'raw.o': the cursor 'tz' is not in the columns: contract",
  ]);
  deepStrictEqual(await errors(incremental({ cursor: "name" })), [
    "PZ0212 source 'raw.o': the cursor 'name' has the type 'varchar'",
  ]);
  deepStrictEqual(await errors(incremental({ cursor: "f" })), [
    "PZ0212 source 'raw.o': the cursor 'f' has the type 'double'",
  ]);
  const loose = await told({ sync: { mode: "incremental", cursor: "ts" } });
  deepStrictEqual(loose.notices, [
    "the cursor 'ts' of 'raw.o' is unverified until the first run: it has no columns: contract",
  ]);
  deepStrictEqual(
    (await told({ options: { cursor: "ts", cursor_type: "timestamp" }, sync: { mode: "incremental", cursor: "ts" } }))
      .notices,
    [],
  );
  deepStrictEqual(
    await errors({
      options: { cursor: "other", cursor_type: "timestamp" },
      sync: { mode: "incremental", cursor: "ts" },
    }),
    [
      "PZ0212 source 'raw.o': 'cursor' is 'other', but sync follows 'ts'",
    ],
  );
});

Deno.test("each rule of a window is PZ0213, and all of them come together", async () => {
  const window = { initial: "2026-01-01", maxWindow: "1d" };
  deepStrictEqual(await errors(incremental(window)), []);
  const cases: readonly [Parameters<typeof incremental>, readonly string[]][] = [
    [[{ initial: "2026-01-01" }], ["initial needs max_window"]],
    [[{ until: "2026-01-01" }], ["until needs max_window"]],
    [[{ maxWindow: "1d" }], ["max_window needs initial"]],
    [[window, { query: "SELECT 1" }], ["max_window can't limit a query of your own"]],
    [[window, { query: { since: "x" } }], []],
    [[{ ...window, cursor: "name" }], ["max_window needs the type of the cursor 'name'"]],
    [[{ ...window, maxWindow: "soon" }], ["max_window is 'soon', but a timestamp cursor needs a duration such as 6h"]],
    [[{ ...window, cursor: "day", maxWindow: "6h" }], [
      "max_window is '6h', but a date cursor needs a number of days such as 7d",
    ]],
    [[{ cursor: "id", initial: "0", maxWindow: "1d" }], [
      "max_window is '1d', but a int cursor needs a whole number above 0",
    ]],
    [[{ ...window, initial: "2026-02-30" }], [
      "initial is '2026-02-30', but a timestamp cursor needs a timestamp such as 2026-01-31T08:30:00",
    ]],
    [[{ ...window, until: "2026-01-01T00:00:00Z" }], [
      "until '2026-01-01T00:00:00Z' does not lie behind initial '2026-01-01'",
    ]],
    [[{ ...window, until: "now" }], []],
    [[{ cursor: "id", initial: "0", maxWindow: "5", until: "now" }], ["until is 'now', but the cursor is int"]],
    [[{ lookback: "5" }], ["lookback is '5', but a timestamp cursor needs a duration such as 6h"]],
    [[{ lookback: "2h" }], []],
    [
      [{ maxWindow: "x", until: "y" }],
      [
        "max_window needs initial",
        "max_window is 'x', but a timestamp cursor needs a duration such as 6h",
        "until is 'y', but a timestamp cursor needs a timestamp such as 2026-01-31T08:30:00",
      ],
    ],
  ];
  for (const [args, expected] of cases) {
    deepStrictEqual(await errors(incremental(...args)), expected.map((message) => `PZ0213 source 'raw.o': ${message}`));
  }
});

Deno.test("initial and until come back in the one text that is stored", async () => {
  const { sync } = await told(incremental({ initial: "2026-01-01", maxWindow: "1d", until: "2026-03-01 10:00:00.5Z" }));
  deepStrictEqual(sync, {
    mode: "incremental",
    cursor: "ts",
    initial: "2026-01-01T00:00:00.000000",
    maxWindow: "1d",
    until: "2026-03-01T10:00:00.500000",
  });
});

Deno.test("cursor values have one text for each value, and their order is that of the values", () => {
  for (
    const [type, text, expected] of [
      ["int", "007", "7"],
      ["bigint", "-99999999999999999999", "-99999999999999999999"],
      ["int", "1.0", undefined],
      ["decimal", "01.50", "1.50"],
      ["decimal", "-0.0", "0.0"],
      ["decimal", "1e3", undefined],
      ["date", "2024-02-29", "2024-02-29"],
      ["date", "2026-02-29", undefined],
      ["date", "2026-13-01", undefined],
      ["timestamp", "2026-01-31 23:59:59", "2026-01-31T23:59:59.000000"],
      ["timestamp", "2026-01-31T23:59:59.123456Z", "2026-01-31T23:59:59.123456"],
      ["timestamp", "2026-01-31T23:59:59+02:00", undefined],
      ["timestamp", "2026-01-31T24:00:00", undefined],
      ["timestamp", "2026-01-31T10:00", undefined],
    ] as const
  ) strictEqual(canonicalCursor(type, text), expected, `${type} ${text}`);
  fc.assert(fc.property(fc.bigInt(), fc.bigInt(), fc.integer({ min: 0, max: 9 }), (a, b, scale) => {
    const text = (value: bigint) => {
      const digits = (value < 0n ? -value : value).toString().padStart(scale + 1, "0");
      return `${value < 0n ? "-" : ""}${digits.slice(0, digits.length - scale)}${
        scale === 0 ? "" : `.${digits.slice(-scale)}`
      }`;
    };
    strictEqual(Math.sign(compareCursors("decimal", text(a), text(b))), a < b ? -1 : a > b ? 1 : 0);
  }));
  ok(
    isStep("timestamp", "1ms") && !isStep("timestamp", "0s") && isStep("date", "48h") && !isStep("date", "5h") &&
      !isStep("int", "0"),
  );
});

Deno.test("pages in descending order may lose rows", async () => {
  deepStrictEqual(await errors(incremental({}, { cursor_order: "desc", max_pages: 5n })), [
    "PZ0229 source 'raw.o': cursor_order is 'desc' and max_pages may cut off the rows between two runs",
  ]);
  strictEqual((await told(incremental({}, { max_pages: 5n }))).notices.length, 1);
  deepStrictEqual((await told(incremental({}, { max_pages: 5n, cursor_order: "asc" }))).notices, []);
  deepStrictEqual(await errors({ options: { cursor_order: "desc", max_pages: 5n } }), []);
});

Deno.test("date tokens in a path: sequence, cursor and window", async () => {
  const window = { initial: "2026-01-01", maxWindow: "1d" };
  deepStrictEqual(await errors(incremental(window, { path: "x/{yyyy}/{MM}/{dd}/*.csv" })), []);
  deepStrictEqual(await errors({ options: { path: "x/{yyyy}/{dd}.csv" } }), [
    "PZ0218 source 'raw.o': '{dd}' can't follow '{yyyy}'; tokens go from coarse to fine without a gap",
    "PZ0217 source 'raw.o': date tokens in a path need an incremental cursor of type date or timestamp",
    "PZ0221 source 'raw.o': date tokens in a path need a bounded window",
  ]);
  deepStrictEqual(await errors({ options: { files_per_partition: 0n } }), [
    "PZ0222 source 'raw.o': files_per_partition is '0'",
  ]);
  deepStrictEqual(await errors({ options: { files_per_partition: 3n } }), []);
  strictEqual(tokenProblem(dateTokens("{MM}/x")), "date tokens start with {yyyy} or {yy}, not with '{MM}'");
  strictEqual(tokenProblem(dateTokens("{YYYY}")), "'{YYYY}' is no date token; use {yyyy} {yy} {MM} {dd} {HH} {mm}");
  deepStrictEqual(dateTokens("a{b,c}/{name}/{csv}"), []);
  strictEqual(tokenProblem(dateTokens("{yy}{MM}{dd}{HH}{mm}")), undefined);
});

Deno.test("merge needs keys, keys need merge, partition_by must be columns", async () => {
  deepStrictEqual(await errors({}, { keys: [] }), ["PZ0209 output 'lake.out': strategy 'merge' needs keys"]);
  deepStrictEqual(await errors({}, { strategy: "append" }), [
    "PZ0211 output 'lake.out': keys have no meaning with strategy 'append'",
  ]);
  deepStrictEqual(await errors({}, { strategy: "append", options: { stratgy: "merge" } }), [
    "PZ0301 output 'lake.out': unknown option 'stratgy'",
  ]);
  for (const bad of [[], "", ["a", "a"], ["a", 1n], 5n, { a: "b" }, true]) {
    deepStrictEqual(await errors({}, { options: { partition_by: bad } }), [
      "PZ0219 output 'lake.out': partition_by must be a column or a list of different columns",
    ]);
  }
  deepStrictEqual(await errors({}, { options: { partition_by: ["a", "b"], path: "x" } }), []);
  deepStrictEqual(await errors({}, { options: { partition_by: ["a", "b"], path: "{yyyy}" } }), [
    "PZ0219 output 'lake.out': date tokens in a path need exactly one partition_by column",
  ]);
  deepStrictEqual(await errors({}, { options: { path: "{yyyy}/{MM}", partition_by: "day" } }), []);
});

Deno.test("the pairing of read shape and write strategy", async () => {
  const none: Partial<WriteBlock> = { keys: [] };
  const replace: Partial<WriteBlock> = { ...none, strategy: "replace" };
  const append: Partial<WriteBlock> = { ...none, strategy: "append" };
  const cdc: Partial<ReadBlock> = { sync: { mode: "cdc" } };
  const cases: readonly [Partial<ReadBlock>, Partial<WriteBlock>, readonly string[]][] = [
    [{}, replace, []],
    [{}, append, []],
    [{}, {}, []],
    [incremental(), replace, [
      "PZ0335 output 'lake.out': 'raw.o' is read incrementally, and strategy 'replace' would leave only the newest rows",
    ]],
    [incremental(), append, [
      "PZ0214 output 'lake.out': 'raw.o' is read incrementally, and a repeated append would repeat rows",
    ]],
    [incremental(), { ...append, acceptDuplicates: true }, []],
    [incremental(), {}, []],
    [cdc, replace, ["PZ0335 output 'lake.out': 'raw.o' is read as changes, which strategy 'replace' can't apply"]],
    [cdc, { ...append, acceptDuplicates: true }, [
      "PZ0335 output 'lake.out': 'raw.o' is read as changes, which strategy 'append' can't apply",
    ]],
    [cdc, {}, ["PZ0336 output 'lake.out': 'raw.o' may report deleted rows, and on_delete is missing"]],
    [cdc, { onDelete: "soft" }, []],
    [{}, { onDelete: "ignore" }, [
      "PZ0337 output 'lake.out': on_delete is 'ignore', but no source behind it is read with mode cdc",
    ]],
  ];
  for (const [read, write, expected] of cases) deepStrictEqual(await errors(read, write), expected);
});

Deno.test("pairs are found through refs, ephemerals and joins, in the whole project", async () => {
  const raw = connection("raw", {
    o: { name: "o", read: { options: {}, ...incremental() }, position: AT },
    c: { name: "c", read: { options: {}, sync: { mode: "cdc" } }, position: AT },
    d: { name: "d", read: { options: {} }, position: AT },
  });
  const outcome = await build(
    project([raw, connection("lake")], [
      pipeline("e", `SELECT * FROM ${S}`, { materialization: "ephemeral" }),
      pipeline("mid", "SELECT * FROM {{ ref('e') }}", { materialization: "view" }),
      pipeline("out", "INSERT INTO {{ sink('lake', 'x') }} SELECT * FROM {{ ref('mid') }}"),
      pipeline(
        "both",
        "INSERT INTO {{ sink('lake', 'y') }} SELECT * FROM {{ source('raw', 'c') }}, {{ source('raw', 'd') }}",
      ),
    ]),
    {
      "{{ sink('lake', 'x') }}": { ...WRITE, strategy: "replace", keys: [] },
      "{{ sink('lake', 'y') }}": { ...WRITE, onDelete: "delete" },
    },
  );
  ok(!outcome.ok);
  deepStrictEqual(outcome.errors.map(({ code, message, file }) => `${code} ${message} ${file}`), [
    "PZ0337 output 'lake.y': on_delete is 'delete', but 2 sources lie behind it ('raw.c', 'raw.d'), so a deleted row can't be told pipelines/both.sql",
    "PZ0335 output 'lake.x': 'raw.o' is read incrementally, and strategy 'replace' would leave only the newest rows pipelines/out.sql",
  ]);
});

Deno.test("mode auto in front of an output that could repeat rows is told", async () => {
  const auto: Partial<ReadBlock> = { sync: { mode: "auto" } };
  strictEqual((await told(auto, { strategy: "append", keys: [] })).notices.length, 1);
  deepStrictEqual((await told(auto, { strategy: "append", keys: [], acceptDuplicates: true })).notices, []);
  deepStrictEqual((await told(auto)).notices, []);
});

Deno.test("watermark() must be for a source that the pipeline reads and that has no other way to resume", async () => {
  const W = "{{ watermark('raw', 'o') }}";
  const sql = (read: string) => `INSERT INTO ${SINK} SELECT * FROM ${read} WHERE ts > ${W}`;
  deepStrictEqual(await errors({}, {}, sql(S)), []);
  deepStrictEqual(await errors({}, { strategy: "replace", keys: [] }, sql(S)), [
    "PZ0335 output 'lake.out': 'raw.o' is read incrementally, and strategy 'replace' would leave only the newest rows",
  ]);
  deepStrictEqual(await errors({}, {}, sql("range(3)")), [
    "PZ0224 watermark('raw', 'o') is for a source that this pipeline does not read",
  ]);
  deepStrictEqual(await errors(incremental(), {}, sql(S)), [
    "PZ0225 watermark('raw', 'o') is for a source whose sync block is incremental already",
  ]);
  deepStrictEqual(await errors({ sync: { mode: "cdc" } }, { onDelete: "soft" }, sql(S)), [
    "PZ0315 watermark('raw', 'o') is for a source with mode cdc, which resumes in another way",
  ]);
});
