import assert from "node:assert/strict";
import { problemsIn, render, rendered, sqlOf } from "./support.ts";

Deno.test("source() renders its staged relation, with the entity's other characters folded", () => {
  assert.equal(sqlOf("FROM {{ source('crm', 'dbo.or-ders/2024') }}"), "FROM staging.src_crm__dbo_or_ders_2024");
  assert.equal(sqlOf(`FROM {{source("crm","täg")}}`), "FROM staging.src_crm__t_g");
});

Deno.test("source() records connection, entity and the place of the call", () => {
  const { sources } = rendered("SELECT 1\nFROM {{ source('crm', 'dbo.orders') }}");
  assert.deepEqual(sources, [{
    connection: "crm",
    entity: "dbo.orders",
    read: undefined,
    position: { file: "pipelines/own.sql", line: 2, column: 9 },
  }]);
});

Deno.test("Named arguments of source() become a read block with exact values", () => {
  const { sources } = rendered(`FROM {{ source(
    'crm', 'orders',
    columns: { id: 'bigint', 'full name': "varchar" },
    big: 123456789012345678901234567890,
    ratio: 0.25,
    flags: [true, -1, ['x', []], { a: { b: [{}] }}],
  ) }}`);
  assert.deepEqual(sources[0]?.read, {
    columns: [{ name: "id", type: "bigint" }, { name: "full name", type: "varchar" }],
    options: {
      big: 123456789012345678901234567890n,
      ratio: 0.25,
      flags: [true, -1n, ["x", []], { a: { b: [{}] } }],
    },
  });
});

Deno.test("Arguments may be variables, environment values and names of the template", () => {
  const { sources, secrets } = rendered(
    "{% assign name = 'orders' %}FROM {{ source(var('conn'), name, path: var('path'), token: env('TOKEN'), run: run_id) }}",
    { vars: { conn: "crm", path: "a/b" }, env: { TOKEN: "s3cret" } },
  );
  assert.equal(sources[0]?.connection, "crm");
  assert.equal(sources[0]?.entity, "orders");
  assert.deepEqual(sources[0]?.read?.options, { path: "a/b", token: "s3cret", run: "20260102T030405Z-abcd" });
  assert.deepEqual(secrets, ["s3cret"]);
});

Deno.test("a value of env() is no name, since names are shown; a literal of the same text is", () => {
  const env = { WHERE: "s3cret", NAME: "orders" };
  const hint = "Give it to a variable, as in 'vars: { name: ${NAME} }' of project.yml, and write var('name').";
  for (
    const [template, code, what] of [
      ["{{ source('crm', env('WHERE')) }}", "PZ0201", "entity of source()"],
      ["{% assign a = env('WHERE') %}{{ source(a, 'x') }}", "PZ0201", "connection of source()"],
      ["{% assign a = env('WHERE') | upcase %}{{ ref(a) }}", "PZ0201", "pipeline of ref()"],
      ["INSERT INTO {{ sink('lake', env('WHERE')) }} SELECT 1", "PZ0208", "entity of sink()"],
    ] as const
  ) {
    const outcome = render(template, { env });
    assert.deepEqual(
      outcome.ok ? [] : outcome.errors.map(({ code, message, hint }) => [code, message, hint]),
      [[code, `The ${what} comes from env(), whose values are never shown`, hint]],
      template,
    );
  }
  assert.equal(
    sqlOf("SELECT {{ env('NAME') }} FROM {{ source('crm', 'orders') }}", { env }),
    "SELECT 'orders' FROM staging.src_crm__orders",
  );
});

Deno.test("ref() renders the pipeline's relation, or the name of the inlined query of an ephemeral one", () => {
  const { sql, refs } = rendered("FROM {{ ref('orders') }} JOIN {{ ref('helper') }} USING (id)", {
    ephemeral: ["helper"],
  });
  assert.equal(sql, "FROM staging.orders JOIN __pz_cte__helper USING (id)");
  assert.deepEqual(refs.map(({ pipeline, position }) => [pipeline, position.column]), [["orders", 9], ["helper", 34]]);
});

Deno.test("Names that are no plain identifiers are quoted", () => {
  assert.equal(sqlOf("FROM {{ ref('daily orders') }}"), 'FROM staging."daily orders"');
  assert.equal(sqlOf(`FROM {{ ref('a"b') }}`), 'FROM staging."a""b"');
  assert.equal(sqlOf("FROM {{ ref('select') }}"), "FROM staging.select");
});

Deno.test("sink() renders its marker and records the write block", () => {
  const { sql, sinks } = rendered("INSERT INTO {{ sink('lake', 'a.b', strategy: 'merge', keys: ['id']) }}\nSELECT 1");
  assert.equal(sql, "INSERT INTO __pz_sink__lake__a.b__\nSELECT 1");
  assert.equal(sinks[0]?.marker, "__pz_sink__lake__a.b__");
  assert.equal(sinks[0]?.write?.strategy, "merge");
  assert.deepEqual(sinks[0]?.write?.keys, ["id"]);
});

Deno.test("Several sinks may stand in a list", () => {
  const { sql, sinks } = rendered("INSERT INTO [{{ sink('a', 'x') }}, {{ sink('b', 'y') }}] SELECT 1");
  assert.equal(sql, "INSERT INTO [__pz_sink__a__x__, __pz_sink__b__y__] SELECT 1");
  assert.deepEqual(sinks.map(({ connection }) => connection), ["a", "b"]);
});

Deno.test("A sink's quote in its name leaves the SQL behind it in code", () => {
  assert.equal(
    sqlOf("INSERT INTO {{ sink('a', `it's`) }} SELECT {{ var('x') }}".replaceAll("`", '"'), { vars: { x: "v" } }),
    "INSERT INTO __pz_sink__a__it's__ SELECT 'v'",
  );
});

Deno.test("watermark() renders a text that stands for it and is recorded", () => {
  const { sql, watermarks } = rendered("WHERE at > {{ watermark('crm', 'dbo.orders') }} - INTERVAL 1 HOUR");
  assert.equal(sql, "WHERE at > '__pz_watermark__crm__dbo.orders' - INTERVAL 1 HOUR");
  assert.deepEqual(watermarks, [{
    connection: "crm",
    entity: "dbo.orders",
    sentinel: "__pz_watermark__crm__dbo.orders",
    position: { file: "pipelines/own.sql", line: 1, column: 15 },
  }]);
});

Deno.test("A call in a branch that is not taken declares nothing", () => {
  const { sources, sql } = rendered("{% if false %}{{ source('a', 'b') }}{% else %}1{% endif %}");
  assert.deepEqual(sources, []);
  assert.equal(sql, "1");
});

Deno.test("A call that fires twice is recorded twice, in the order of the SQL", () => {
  const { sources } = rendered("{% for t in ['b', 'a', 'b'] %}{{ source('raw', t) }} {% endfor %}");
  assert.deepEqual(sources.map(({ entity }) => entity), ["b", "a", "b"]);
});

Deno.test("Calls with the wrong shape are told with the code of their function", () => {
  assert.deepEqual(
    problemsIn("{{ source('a') }}\n{{ source('a', 'b', 'c') }}\n{{ source('a', 5) }}\n{{ source('', 'b') }}"),
    [
      "PZ0201 1:4 source() takes the connection and the entity first, then named arguments, but got 1 argument — As in source('crm', 'orders', format: 'csv').",
      "PZ0201 2:21 source() takes the connection and the entity first, then named arguments, but got 3 arguments — As in source('crm', 'orders', format: 'csv').",
      "PZ0201 3:16 The entity of source() must be a text, not a number — As in source('crm', 'orders', format: 'csv').",
      "PZ0201 4:11 The connection of source() is empty — As in source('crm', 'orders', format: 'csv').",
    ],
  );
  assert.deepEqual(problemsIn("{{ ref() }} {{ ref('a', b: 1) }}"), [
    "PZ0201 1:4 ref() takes the pipeline, but got nothing — As in ref('orders').",
    "PZ0201 1:25 ref() has no argument 'b' — As in ref('orders').",
  ]);
  assert.deepEqual(problemsIn("{{ sink('a') }} {{ sink('a', 'b', x: 1, x: 2) }}"), [
    "PZ0208 1:4 sink() takes the connection and the entity first, then named arguments, but got 1 argument — As in sink('lake', 'orders', strategy: 'replace').",
    "PZ0208 1:41 The argument 'x' stands twice in sink()",
  ]);
});

Deno.test("A bad entity name is told at its own place", () => {
  assert.match(problemsIn("{{ source('a', 'b c') }}")[0] ?? "", /^PZ0344 1:16 The entity name 'b c'/);
  assert.match(problemsIn("{{ sink('a', 'b..c') }}")[0] ?? "", /^PZ0344 1:14 The entity name 'b\.\.c'/);
});

Deno.test("Problems and warnings of named arguments come with the call's place", () => {
  assert.match(problemsIn("\n {{ source('a', 'b', sync: 'often') }}")[0] ?? "", /^PZ0334 2:5 /);
  const outcome = render("{{ source('a', 'b', colums: 'x') }}");
  assert.ok(outcome.ok);
  assert.equal(outcome.warnings[0]?.line, 1);
});

Deno.test("Numbers that would lose digits are refused as arguments", () => {
  assert.deepEqual(problemsIn("{{ source('a', 'b', x: 0.12345678901234567891) }}"), [
    "PZ0137 1:24 The number 0.12345678901234567891 can't be kept exactly — Write it in quotes, or with fewer digits.",
  ]);
  assert.match(problemsIn("{{ source('a', 'b', x: 1e400) }}")[0] ?? "", /^PZ0137/);
  assert.deepEqual(rendered("{{ source('a', 'b', x: 1.50, y: 1e3) }}").sources[0]?.read?.options, { x: 1.5, y: 1000n });
});

Deno.test("Unclosed and misplaced marks in a call are told where they stand", () => {
  assert.deepEqual(problemsIn("SELECT *\nFROM {{ ref('a' }}"), [
    "PZ0104 2:16 Expected ',' or ')' in the arguments of ref()",
  ]);
  assert.deepEqual(problemsIn("FROM {{ ref('a) }}\nWHERE x = 'y'"), [
    "PZ0104 1:13 The text that starts here with ' has no end",
  ]);
  assert.deepEqual(
    problemsIn("{{ source('a', 'b', x: {a: 1) }} {{ source('a', 'b', x = 1) }} {{ source(x: 1, 'b') }}"),
    [
      "PZ0104 1:29 Expected ',' or '}' in a map",
      "PZ0104 1:54 Named arguments are written with a colon — Write 'x: …'.",
      "PZ0104 1:80 Named arguments of source() come last",
    ],
  );
  assert.deepEqual(problemsIn("{{ source('a', 'b', m: { a: 1, a: 2 }) }}"), [
    "PZ0104 1:32 The key 'a' stands twice in one map",
  ]);
});

Deno.test("Calls that are no values are refused inside tags, filters and other calls", () => {
  assert.deepEqual(problemsIn("{% assign x = ref('a') %}{{ x }}"), [
    "PZ0201 1:15 ref() is no value: it stands by itself in {{ }} — Write {{ ref('orders') }} where the SQL needs it.",
  ]);
  assert.match(problemsIn("{{ 'x' | append: ref('b') }}")[0] ?? "", /^PZ0201 1:18 ref\(\) is no value/);
  assert.match(problemsIn("{{ sink('a', ref('b')) }}")[0] ?? "", /^PZ0201 1:14 ref\(\) is no value/);
  assert.deepEqual(problemsIn("{{ ref('a') | upcase }}"), ["PZ0104 1:13 ref() takes no filter"]);
  assert.match(
    problemsIn("{{ source('a', 'b', x: var('x') | upcase) }}")[0] ?? "",
    /A filter can't stand inside a call/,
  );
});

Deno.test("Relations and markers are refused inside quotes", () => {
  assert.deepEqual(problemsIn("'{{ ref('a') }}' \"{{ sink('a', 'b') }}\" $${{ watermark('a', 'b') }}$$"), [
    "PZ0104 1:5 ref() can't stand inside '…' — Close the quote that opens before it, or move it out.",
    'PZ0104 1:22 sink() can\'t stand inside "…" — Close the quote that opens before it, or move it out.',
    "PZ0104 1:46 watermark() can't stand inside $$…$$ — Close the quote that opens before it, or move it out.",
  ]);
});

Deno.test("A bare word as the value of an argument is to be quoted, as an item of a list too", () => {
  for (const call of ["source('a', 'b', format: csv)", "source('a', 'b', keys: ['id', csv])"]) {
    assert.match(problemsIn(`{{ ${call} }}`)[0] ?? "", /Unknown name 'csv' — Names stand in quotes: 'csv'\.$/, call);
  }
});
