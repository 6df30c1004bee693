import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { type CompiledDag, flowsOf, type Selection, selectNodes, withAncestors } from "../../../src/compile/mod.ts";
import { check, connection, dagOf, pipeline, project, readEntity } from "./support.ts";

/** src orders -> stg -> enriched (tag daily, check) -> lake.curated; stg -> totals -> lake.totals; products apart. */
async function sample(): Promise<CompiledDag> {
  return await dagOf(
    project([connection("raw", { ...readEntity("orders"), ...readEntity("products") }), connection("lake")], [
      pipeline("stg", "SELECT * FROM {{ source('raw', 'orders') }}"),
      pipeline("enriched", "INSERT INTO {{ sink('lake', 'curated') }} SELECT * FROM {{ ref('stg') }}", {
        tags: ["daily"],
        checks: [check("unique", { columns: ["id"] })],
      }),
      pipeline("totals", "INSERT INTO {{ sink('lake', 'totals') }} SELECT * FROM {{ ref('stg') }}", {
        tags: ["daily", "x.y"],
      }),
      pipeline("products", "INSERT INTO {{ sink('lake', 'products') }} SELECT * FROM {{ source('raw', 'products') }}"),
    ]),
  );
}

function namesOf(dag: CompiledDag, ids: readonly string[]): readonly string[] {
  return ids.map((id) => dag.nodes.find((node) => node.id === id)?.name ?? id);
}

async function select(selection: Partial<Selection>, requireFlow = false): Promise<readonly string[] | string> {
  const dag = await sample();
  const outcome = selectNodes(dag, { names: [], all: false, ...selection }, { requireFlow });
  if (outcome.ok) return namesOf(dag, outcome.value);
  return outcome.errors.map(({ code, message, hint }) => `${code} ${message} | ${hint}`).join("\n");
}

Deno.test("selectors: names, wildcards, tags and sources; union, intersection, ancestors, descendants", async () => {
  const cases: { readonly [expression: string]: readonly string[] } = {
    "stg": ["stg"],
    "stg totals": ["stg", "totals"],
    "totals   \n stg": ["stg", "totals"],
    "tag:daily": ["enriched", "totals"],
    "tag:x.y": ["totals"],
    "tag:daily,enriched": ["enriched"],
    "tag:daily,stg": [],
    "tag:daily,stg products": ["products"],
    "+enriched": ["src_raw__orders", "stg", "enriched"],
    "enriched+": ["enriched", "check_enriched_unique_id", "lake.curated"],
    "+lake.totals": ["src_raw__orders", "stg", "totals", "lake.totals"],
    "+stg+": [
      "src_raw__orders",
      "stg",
      "enriched",
      "totals",
      "check_enriched_unique_id",
      "lake.curated",
      "lake.totals",
    ],
    "source:raw.orders+,tag:daily": ["enriched", "totals"],
    "source:raw.*": ["src_raw__orders", "src_raw__products"],
    "lake.*": ["lake.curated", "lake.totals", "lake.products"].sort(),
    "*s": ["src_raw__orders", "src_raw__products", "products", "totals", "lake.products", "lake.totals"],
    "check_*": ["check_enriched_unique_id"],
  };
  for (const [expression, expected] of Object.entries(cases)) {
    deepStrictEqual(await select({ select: expression }), expected, expression);
  }
});

Deno.test("an atom that is malformed or matches nothing is PZ0210, every one of them", async () => {
  const text = await select({ select: "stgg STG source:lake.* tag:dail* a|b ++stg ," });
  ok(typeof text === "string");
  deepStrictEqual(text.split("\n").map((line) => line.split(" | ")[0]), [
    "PZ0210 the selector atom 'stgg' matches no node",
    "PZ0210 the selector atom 'STG' matches no node",
    "PZ0210 the selector atom 'source:lake.*' matches no node",
    "PZ0210 the selector atom 'tag:dail*' matches no node",
    "PZ0210 the selector atom 'a|b' is malformed",
    "PZ0210 the selector atom '++stg' is malformed",
    "PZ0210 the selector atom '' is malformed",
    "PZ0210 the selector atom '' is malformed",
  ]);
  ok(text.startsWith("PZ0210 the selector atom 'stgg' matches no node | did you mean 'stg'?"));
  strictEqual(await select({ select: " " }), "PZ0210 the selector is empty | name a node, such as `--select orders+`");
});

Deno.test("a dot or bracket in a pattern is no wildcard", async () => {
  ok(typeof await select({ select: "lake_curated" }) === "string");
  ok(typeof await select({ select: "lakeXcurated" }) === "string");
  deepStrictEqual(await select({ select: "lake.curated" }), ["lake.curated"]);
});

Deno.test("a name takes everything before and behind it, but not a descendant's other parents", async () => {
  deepStrictEqual(await select({ names: ["totals"] }), ["src_raw__orders", "stg", "totals", "lake.totals"]);
  deepStrictEqual(await select({ names: ["lake.products", "src_raw__products"] }), [
    "src_raw__products",
    "products",
    "lake.products",
  ]);
  const dag = await dagOf(project([connection("raw", { ...readEntity("a"), ...readEntity("b") })], [
    pipeline("pa", "SELECT * FROM {{ source('raw', 'a') }}"),
    pipeline("pb", "SELECT * FROM {{ source('raw', 'b') }}"),
    pipeline("both", "SELECT * FROM {{ ref('pa') }}, {{ ref('pb') }}"),
  ]));
  const outcome = selectNodes(dag, { names: ["pa"], all: false }, { requireFlow: true });
  ok(outcome.ok);
  deepStrictEqual(namesOf(dag, outcome.value), ["src_raw__a", "pa", "both"]);
  deepStrictEqual(namesOf(dag, withAncestors(dag, outcome.value)), ["src_raw__a", "src_raw__b", "pa", "pb", "both"]);
});

Deno.test("an unknown name is PZ0210 with what was meant or the flows; wildcards are no names; options are told apart", async () => {
  strictEqual(await select({ names: ["totls"] }), "PZ0210 no node is named 'totls' | did you mean 'totals'?");
  strictEqual(
    await select({ names: ["tot*"] }),
    "PZ0210 no node is named 'tot*' | the flows end in: enriched, totals; products",
  );
  strictEqual(
    await select({ names: ["--ful-refresh"] }),
    "PZ0210 '--ful-refresh' is neither an option of this command nor the name of a node | `--help` lists the options",
  );
});

Deno.test("mixed mechanisms are PZ0216", async () => {
  strictEqual(
    await select({ names: ["stg"], select: "stg" }),
    "PZ0216 names and --select can't be used together | keep one of names, --select",
  );
  strictEqual(
    await select({ names: ["stg"], select: "stg", all: true }),
    "PZ0216 names and --select and --all can't be used together | keep one of names, --select, --all",
  );
});

Deno.test("nothing asked for means everything, unless there are several flows and one must be chosen", async () => {
  const everything = await select({});
  strictEqual(everything.length, 10);
  deepStrictEqual(await select({ all: true }, true), everything);
  strictEqual(
    await select({}, true),
    "PZ0215 the project has 2 independent flows | use --all, --select, or a name; the flows end in: enriched, totals; products",
  );
  const one = await dagOf(project([], [pipeline("a", "SELECT 1")]));
  ok(selectNodes(one, { names: [], all: false }, { requireFlow: true }).ok);
});

Deno.test("flows partition the nodes, each in topological order, and their labels are names that select them whole", async () => {
  const dag = await sample();
  const flows = flowsOf(dag);
  deepStrictEqual(
    flows.map(({ label, ids }) => [label, namesOf(dag, ids)]),
    [
      ["enriched, totals", [
        "src_raw__orders",
        "stg",
        "enriched",
        "totals",
        "check_enriched_unique_id",
        "lake.curated",
        "lake.totals",
      ]],
      ["products", ["src_raw__products", "products", "lake.products"]],
    ],
  );
  for (const { label, ids } of flows) {
    const outcome = selectNodes(dag, { names: label.split(", "), all: false }, { requireFlow: true });
    deepStrictEqual(outcome.ok && outcome.value, ids);
  }
});

Deno.test("a selector that leaves outputs out, or leaves nothing, says so", async () => {
  const dag = await sample();
  const notices = (select: string) => {
    const outcome = selectNodes(dag, { names: [], select, all: false }, { requireFlow: true });
    return outcome.ok ? outcome.notices : undefined;
  };
  const unwritten = "a '+' behind a pipeline's name (or tag) selects what follows from it";
  deepStrictEqual(notices("enriched"), [`the selection writes nothing to lake.curated: ${unwritten}`]);
  deepStrictEqual(notices("tag:daily"), [`the selection writes nothing to lake.curated, lake.totals: ${unwritten}`]);
  deepStrictEqual(notices("tag:daily+"), []);
  deepStrictEqual(notices("src_raw__orders"), []);
  deepStrictEqual(notices("enriched,totals"), [
    "--select 'enriched,totals' leaves no node: between names a comma means both at once, a blank means either",
  ]);
});
