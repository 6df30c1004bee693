import assert from "node:assert/strict";
import { problemsIn, rendered, sqlOf } from "./support.ts";

const vars = {
  text: "it's",
  quoted: 'a"b',
  back: "a\\b'c",
  whole: 5n,
  big: 123456789012345678901234567890n,
  negative: -5n,
  decimal: 0.1,
  huge: 1e300,
  yes: true,
  nothing: null,
  list: ["a", "b'c", 3n],
  empty: [],
  map: { a: { b: 1n } },
};

Deno.test("A value in code is a typed literal", () => {
  assert.equal(sqlOf("SELECT {{ var('text') }}", { vars }), "SELECT 'it''s'");
  assert.equal(
    sqlOf("SELECT {{ var('whole') }}, {{ var('big') }}", { vars }),
    "SELECT 5, 123456789012345678901234567890",
  );
  assert.equal(sqlOf("SELECT {{ var('decimal') }}, {{ var('huge') }}", { vars }), "SELECT 0.1, 1e+300");
  assert.equal(sqlOf("SELECT {{ var('yes') }}, {{ var('nothing') }}", { vars }), "SELECT TRUE, NULL");
  assert.equal(sqlOf("WHERE x IN {{ var('list') }}", { vars }), "WHERE x IN ('a', 'b''c', 3)");
  assert.equal(
    sqlOf("SELECT {{ 1.50 }}, {{ 123456789012345678901 }}, {{ [1, 'a', [nil]] }}"),
    "SELECT 1.5, 123456789012345678901, (1, 'a', (NULL))",
  );
});

Deno.test("A value inside quotes is its text with that quote doubled", () => {
  assert.equal(sqlOf("'x {{ var('text') }} {{ var('whole') }} {{ var('yes') }}'", { vars }), "'x it''s 5 true'");
  assert.equal(sqlOf("\"{{ var('quoted') }} {{ var('text') }}\"", { vars }), '"a""b it\'s"');
  assert.equal(sqlOf("E'{{ var('back') }}'", { vars }), "E'a\\\\b''c'");
});

Deno.test("The filter ident writes a quoted name and raw the text as it stands", () => {
  assert.equal(sqlOf("SELECT {{ var('quoted') | ident }}.{{ 'x' | ident }}", { vars }), 'SELECT "a""b"."x"');
  assert.equal(sqlOf("SELECT {{ 'count(*)' | raw }}, '{{ \"a' || 'b\" | raw }}'"), "SELECT count(*), 'a' || 'b'");
  assert.deepEqual(problemsIn("SELECT \"{{ 'x' | ident }}\""), [
    "PZ0104 1:12 The filter 'ident' writes its own quotes and can't stand inside quotes — Remove the \" around it, or the filter.",
  ]);
});

Deno.test("A value never runs into what stands before it", () => {
  assert.equal(sqlOf("1 -{{ var('negative') }}", { vars }), "1 - -5");
  assert.equal(sqlOf("LIMIT{{ var('whole') }}", { vars }), "LIMIT 5");
  assert.equal(sqlOf("E{{ var('back') }} U&{{ var('text') }}", { vars }), "E 'a\\b''c' U& 'it''s'");
  assert.equal(sqlOf("''{{ var('text') }}", { vars }), "'' 'it''s'");
  assert.deepEqual(problemsIn("SELECT E'a'\n{{ var('back') }}", { vars }), [
    "PZ0104 2:4 A value can't follow an E'…' text directly, since SQL would join the two — Put an operator such as || between them.",
  ]);
  assert.match(
    problemsIn("E'\\{{ var('text') }}'", { vars: { text: "'x" } })[0] ?? "",
    /A value can't follow a backslash here/,
  );
});

Deno.test("Places and values that allow no literal are refused", () => {
  assert.deepEqual(problemsIn("$$ {{ var('text') }} $$", { vars }), [
    "PZ0104 1:7 A value can't stand inside $$…$$, which has no way to mark its end — Use '…' in place of the dollar quotes.",
  ]);
  assert.deepEqual(
    problemsIn("$a$ $$ {{ var('text') }} $a$ {{ var('map') }} '{{ var('list') }}' IN {{ var('empty') }}", { vars }),
    [
      "PZ0104 1:11 A value can't stand inside $$…$$, which has no way to mark its end — Use '…' in place of the dollar quotes.",
      "PZ0104 1:33 A map can't be written in SQL — Pick one of its members.",
      "PZ0104 1:51 Inside '…' only a text, a number or a boolean can stand, not a list — Remove the ' around it.",
      "PZ0104 1:73 An empty list can't be written in SQL — Leave the condition out with {% if list.size > 0 %}.",
    ],
  );
  assert.match(problemsIn("U&'{{ var('text') }}'", { vars })[0] ?? "", /^PZ0104 1:7 A value can't stand inside U&/);
  assert.match(
    problemsIn("x'{{ var('text') }}'", { vars })[0] ?? "",
    /^PZ0104 1:6 A text with a ' can't stand inside x'…'/,
  );
  assert.match(
    problemsIn("1E'' {{ var('text') }}", { vars })[0] ?? "",
    /^PZ0104 1:9 Whether this place is inside a text/,
  );
  assert.match(problemsIn("{{ var('x') }}", { vars: { x: "a\0b" } })[0] ?? "", /NUL character/);
  assert.match(
    problemsIn("{{ 0.12345678901234567891 }}")[0] ?? "",
    /^PZ0104 1:4 The number 0\.12345678901234567891 can't be kept/,
  );
});

Deno.test("The place of a value is where it lands, whatever branches and trims led there", () => {
  const template = "{% if var('yes') %}'{% endif %}{{ var('text') }}{% if var('yes') %}'{% endif %}";
  assert.equal(sqlOf(template, { vars }), "'it''s'");
  assert.equal(sqlOf(template, { vars: { ...vars, yes: false } }), "'it''s'");
  assert.equal(sqlOf("SELECT 1 -- note\n{{- var('text') }}", { vars }), "SELECT 1 -- note\n'it''s'");
});

Deno.test("Members of a variable can be read", () => {
  assert.equal(
    sqlOf("{{ var('map').a.b }} {{ var('map')['a']['b'] }} {{ var('list')[2] }} {{ var('list').size }}", { vars }),
    "1 1 3 3",
  );
  assert.deepEqual(problemsIn("{{ var('map').b }}", { vars }), ["PZ0104 1:15 There is no member 'b'"]);
});

Deno.test("this, run_id and run_started_at are names of every template", () => {
  assert.equal(sqlOf("{{ this }} '{{ this }}'"), "staging.own 'staging.own'");
  assert.equal(sqlOf("{{ run_id }} '{{ run_started_at }}'"), "'20260102T030405Z-abcd' '2026-01-02T03:04:05.0000000Z'");
});

Deno.test("Run identity is a fixed text in the SQL that is hashed", () => {
  const template = "SELECT {{ run_id }} AS r, '{{ run_started_at }}' AS s, '{{ run_id | append: '-x' }}' AS t";
  const one = rendered(template, { runId: "run-1" });
  const two = rendered(template, { runId: "run-2" });
  assert.notEqual(one.sql, two.sql);
  assert.equal(one.identitySql, two.identitySql);
  assert.equal(one.identitySql, "SELECT '__pz_run_id__' AS r, '__pz_run_started_at__' AS s, '__pz_run_id__-x' AS t");
  assert.equal(one.usesRunIdentity, true);
  assert.equal(rendered("SELECT 1").usesRunIdentity, false);
});

Deno.test("A value of env() reaches the SQL, is masked where it is shown and hashed where it is identity", () => {
  const env = { TOKEN: "s3'cret", MODE: "prod" };
  const { sql, shownSql, identitySql, secrets } = rendered(
    "SELECT {{ env('TOKEN') }}, \"{{ env('TOKEN') | upcase }}\", {{ env('TOKEN') | ident }} {% if env('MODE') == 'prod' %}LIMIT 5{% endif %}",
    { env },
  );
  assert.equal(sql, `SELECT 's3''cret', "S3'CRET", "s3'cret" LIMIT 5`);
  assert.equal(shownSql, `SELECT '***', "***", "***" LIMIT 5`);
  assert.doesNotMatch(identitySql, /cret/i);
  assert.deepEqual(secrets, ["s3'cret", "S3'CRET", "prod"]);
  const other = rendered("SELECT {{ env('TOKEN') }}", { env: { TOKEN: "other" } });
  const same = rendered("SELECT {{ env('TOKEN') }}", { env });
  assert.notEqual(other.identitySql, same.identitySql);
  assert.equal(rendered("SELECT {{ env('TOKEN') }}", { env }).identitySql, same.identitySql);
});

Deno.test("A value of env() never stands in a problem", () => {
  const env = { TOKEN: "s3cret" };
  const vars = { map: { a: 1n } };
  const problems = problemsIn(
    `{{ var(env('TOKEN')) }} {{ var('map')[env('TOKEN')] }} {% assign m = var('map') %}{{ m[env('TOKEN')] }}
    {{ source('a', env('TOKEN'), sync: env('TOKEN')) }} {% assign e = env('TOKEN') | append: ' x' %}{{ source('a', e) }}`,
    { env, vars },
  );
  assert.equal(problems.length, 5);
  assert.doesNotMatch(problems.join("\n"), /s3cret/);
});

Deno.test("A branch on the environment shows in what is hashed", () => {
  const template = "SELECT {% if env('MODE') == 'prod' %}1{% else %}2{% endif %}";
  assert.equal(rendered(template, { env: { MODE: "prod" } }).identitySql, "SELECT 1");
  assert.equal(rendered(template, { env: { MODE: "test" } }).identitySql, "SELECT 2");
});

Deno.test("An environment variable that is not set is told, and an empty one is an empty text", () => {
  assert.deepEqual(problemsIn("\n{{ env('NOPE') }}"), [
    "PZ0103 2:8 The environment variable 'NOPE' is not set — Set 'NOPE' before running pz.",
  ]);
  assert.equal(sqlOf("{{ env('EMPTY') }}", { env: { EMPTY: "" } }), "''");
  assert.match(problemsIn("{{ env('toString') }}")[0] ?? "", /^PZ0103/);
});

Deno.test("An unknown variable is told with the nearest known one", () => {
  assert.deepEqual(problemsIn("{{ var('regoin') }} {{ var('toString') }}", { vars: { region: "x" } }), [
    "PZ0104 1:8 Unknown variable 'regoin' — Did you mean 'region'?",
    "PZ0104 1:28 Unknown variable 'toString' — Add 'toString' under 'vars:' in project.yml, or pass it with --vars.",
  ]);
});

Deno.test("Arithmetic is exact, for whole numbers of any size", () => {
  assert.equal(
    sqlOf("{{ 9007199254740993 | plus: 1 }} {{ var('big') | times: 10 }} {{ '4' | minus: 5 }}", { vars }),
    "9007199254740994 1234567890123456789012345678900 -1",
  );
  assert.equal(
    sqlOf("{{ 5 | divided_by: 2 }} {{ -5 | divided_by: 2 }} {{ -7 | modulo: 3 }} {{ 3 | at_least: 7 }}"),
    "2 -3 2 7",
  );
  assert.deepEqual(problemsIn("{{ 5 | plus: 0.5 }} {{ 1 | modulo: 0 }}"), [
    "PZ0104 1:4 The filter 'plus' takes whole numbers, not 0.5 — Compute it in SQL instead.",
    "PZ0104 1:24 The filter 'modulo' can't divide by 0 — Check the divisor with {% if %} first.",
  ]);
});
