import assert from "node:assert/strict";
import { problemsIn, sqlOf } from "./support.ts";

const vars = { mode: "full", n: 5n, tables: ["a", "b"], on: true };

Deno.test("Conditions compare variables with literals", () => {
  const template = "{% if var('mode') == 'full' and var('n') == 5 %}A{% elsif var('on') %}B{% else %}C{% endif %}";
  assert.equal(sqlOf(template, { vars }), "A");
  assert.equal(sqlOf(template, { vars: { ...vars, n: 6n } }), "B");
  assert.equal(sqlOf(template, { vars: { ...vars, n: 6n, on: false } }), "C");
  assert.equal(sqlOf("{% unless var('on') %}A{% endunless %}{% if not var('on') %}B{% endif %}", { vars }), "");
});

Deno.test("Numbers beyond doubles compare exactly", () => {
  const big = { big: 9007199254740993n };
  assert.equal(
    sqlOf("{% if var('big') == 9007199254740993 %}A{% endif %}{% if var('big') > 9007199254740992 %}B{% endif %}", {
      vars: big,
    }),
    "AB",
  );
});

Deno.test("case, for, assign, comment and raw work as in Liquid", () => {
  assert.equal(sqlOf("{% case var('mode') %}{% when 'some', 'full' %}A{% else %}B{% endcase %}", { vars }), "A");
  assert.equal(
    sqlOf("{% for t in var('tables') %}{{ t | ident }}{% unless forloop.last %}, {% endunless %}{% endfor %}", {
      vars,
    }),
    '"a", "b"',
  );
  assert.equal(sqlOf("{% for i in (1..3) %}{% if i == 2 %}{% continue %}{% endif %}{{ i }} {% endfor %}"), "1 3 ");
  assert.equal(sqlOf("{% assign x = var('n') | plus: 1 %}{{ x }}", { vars }), "6");
  assert.equal(sqlOf("a{% comment %} {{ nope( }} {% if %} it's {% endcomment %}b{% # note %}"), "ab");
  assert.equal(sqlOf("{% raw %}'{{ x }} {% if %}'{% endraw %} {{ var('n') }}", { vars }), "'{{ x }} {% if %}' 5");
  assert.equal(sqlOf("{% raw %}{% endraw %}x"), "x");
});

Deno.test("Trim marks cut the blanks next to them", () => {
  assert.equal(sqlOf("a\n  {%- if true -%}\n  b\n  {%- endif %} c"), "ab c");
});

Deno.test("A trim mark never joins code to a line comment", () => {
  assert.equal(sqlOf("SELECT 1 -- one\n{%- if true -%}\n, 2\n{%- endif -%}"), "SELECT 1 -- one\n, 2");
});

Deno.test("Comments of SQL are inert, whatever stands in them", () => {
  const template =
    "-- {{ it's }} {% if nope %} {{ source('dead', 'x') }}\n/* {{ ' /* {% endfor %} */ {{ */ SELECT '--', {{ var('n') }} -- {{";
  assert.equal(sqlOf(template, { vars }), template.replace("{{ var('n') }}", "5"));
});

Deno.test("Comment marks inside quotes are no comments", () => {
  assert.equal(
    sqlOf(
      "SELECT '-- {{ var('n') }}', \"/* {{ var('n') }}\", E'\\'-- {{ var('n') }}', '{{ var('mode') }} --{{ var('n') }}'",
      { vars },
    ),
    "SELECT '-- 5', \"/* 5\", E'\\'-- 5', 'full --5'",
  );
});

Deno.test("Quotes in calls don't disturb the comments behind them", () => {
  assert.equal(
    sqlOf("{% if var('mode') == \"it's\" %}{% endif %}-- {{ x }}\n{{ \"it's\" }} -- {{ y }}", { vars }),
    "-- {{ x }}\n'it''s' -- {{ y }}",
  );
});

Deno.test("Branches that open different quotes are each read from where the tag stands", () => {
  const template = "{% if var('on') %}'a{% else %}'b{% endif %}' -- {{ nope }}";
  assert.equal(sqlOf(template, { vars }), "'a' -- {{ nope }}");
});

Deno.test("A comment that is one in some branches only is refused", () => {
  assert.match(
    problemsIn("{% if var('on') %}'{% else %}{% endif %} -- {{ x }}'", { vars })[0] ?? "",
    /^PZ0104 1:\d+ Whether this stands in a comment depends/,
  );
});

Deno.test("Braces of SQL's own are left alone", () => {
  const sql = "SELECT {'a': {'b': 1}} AS s, MAP {'k': 1}, '100%}' LIKE '{a}'";
  assert.equal(sqlOf(sql), sql);
});

Deno.test("Scriban's statements are answered with Liquid's spelling", () => {
  assert.deepEqual(
    problemsIn(
      "{{ if x > 1 }}\n{{ else if y }}\n{{ else }}\n{{ end }}\n{{ for t in list }}{{ t }}{{ end }}\n{{ z = 1 }}{{ z }}\n{{ while a }}",
    ),
    [
      "PZ0104 1:4 Statements stand in {% %}, not in {{ }} — Write {% if x > 1 %}.",
      "PZ0104 2:4 Statements stand in {% %}, not in {{ }} — Write {% elsif y %}.",
      "PZ0104 3:4 Statements stand in {% %}, not in {{ }} — Write {% else %}.",
      "PZ0104 4:4 Statements stand in {% %}, not in {{ }} — Write {% endif %}.",
      "PZ0104 5:4 Statements stand in {% %}, not in {{ }} — Write {% for t in list %}.",
      "PZ0104 5:30 Statements stand in {% %}, not in {{ }} — Write {% endfor %}.",
      "PZ0104 6:4 Statements stand in {% %}, not in {{ }} — Write {% assign z = 1 %}.",
      "PZ0104 7:4 'while' is no statement of pipelines — Statements are if, unless, case, for and assign, in {% %}.",
    ],
  );
});

Deno.test("Unknown functions, names, filters and tags are told with a near one", () => {
  assert.deepEqual(
    problemsIn(
      "{{ reff('a') }}\n{% assign total = 1 %}{{ totl }}\n{{ mode }}\n{{ 'x' | upcas }}\n{% elseif %}\n{% set x = 1 %}{{ config(a: 1) }}",
      { vars },
    ),
    [
      "PZ0104 1:4 Unknown function 'reff' — Did you mean 'ref'?",
      "PZ0104 2:26 Unknown name 'totl' — Did you mean 'total'?",
      "PZ0104 3:4 Unknown name 'mode' — Write var('mode') for a variable of the project.",
      "PZ0104 4:10 Unknown filter 'upcas' — Did you mean 'upcase'?",
      "PZ0104 5:1 Unknown tag 'elseif' — Did you mean 'elsif'?",
      "PZ0104 6:1 Unknown tag 'set' — Write {% assign name = value %}.",
      "PZ0104 6:19 Unknown function 'config' — Settings of a pipeline stand in pipelines/configs/<name>.yml.",
    ],
  );
});

Deno.test("Operators of other languages are told with Liquid's", () => {
  assert.deepEqual(
    problemsIn(
      "{% if var('on') && true %}{% endif %}{% if true || false %}{% endif %}{% if var('n') = 1 %}{% endif %}{{ 1 + 2 }}",
      { vars },
    ),
    [
      "PZ0104 1:17 Unexpected '&&' — Write 'and'.",
      "PZ0104 1:49 Unexpected '||' — Write 'or'.",
      "PZ0104 1:86 Unexpected '=' — Write '==' to compare.",
      "PZ0104 1:108 Unexpected '+' — Write '| plus: …'.",
    ],
  );
  assert.deepEqual(problemsIn("{% if var('on') var('n') %}{% endif %}{% if var('on') and %}{% endif %}", { vars }), [
    "PZ0104 1:17 Unexpected 'var('n')'",
    "PZ0104 1:55 A value is missing after 'and'",
  ]);
});

Deno.test("Tags that are not closed, or close nothing, are told where they stand", () => {
  assert.deepEqual(problemsIn("a\n{% if true %} b"), ["PZ0104 2:1 {% if %} has no {% endif %}"]);
  assert.deepEqual(problemsIn("{% for x in (1..2) %} -- {% endfor %}"), [
    "PZ0104 1:1 {% for %} has no {% endfor %} — A tag in a comment doesn't count.",
  ]);
  assert.deepEqual(problemsIn("{% endif %}{% else %}{% when 1 %}"), [
    "PZ0104 1:1 {% endif %} closes nothing: no {% if %} is open here",
    "PZ0104 1:12 {% else %} stands outside of {% if %}",
    "PZ0104 1:22 {% when %} stands outside of {% case %}",
  ]);
  assert.match(problemsIn("SELECT\n '{{ '")[0] ?? "", /^PZ0104 2:3 This \{\{ has no \}\} — .*\{% raw %\}/);
  assert.match(problemsIn("LIKE '{%x'")[0] ?? "", /^PZ0104 1:7 This \{% has no %\} — .*\{% raw %\}/);
  assert.match(problemsIn("LIKE '{%%}'")[0] ?? "", /^PZ0104 .*name is missing/);
  assert.deepEqual(problemsIn("{{ }}"), ["PZ0104 1:4 Nothing stands in {{ }}"]);
});

Deno.test("A tag whose own line is wrong doesn't hide or multiply the problems in its body", () => {
  assert.deepEqual(
    problemsIn("{% if a b %}\n{{ reff('x') }}\n{% else %}\n{{ source('a') }}\n{% endif %}\n{{ nope }}"),
    [
      "PZ0104 1:9 Unexpected 'b'",
      "PZ0104 2:4 Unknown function 'reff' — Did you mean 'ref'?",
      "PZ0201 4:4 source() takes the connection and the entity first, then named arguments, but got 1 argument — As in source('crm', 'orders', format: 'csv').",
      "PZ0104 6:4 Unknown name 'nope' — Known are this, run_id, run_started_at, what {% assign %} names, and var('name').",
    ],
  );
});

Deno.test("A name whose value is missing because of a problem is not told again", () => {
  assert.equal(problemsIn("{% assign x = var('nope') %}{{ x }}{{ x }}").length, 1);
  assert.equal(problemsIn("{% assign x = ] %}{{ x }}").length, 1);
});

Deno.test("The same problem in a loop is told once", () => {
  assert.equal(problemsIn("{% for i in (1..1000) %}{{ nope }}{% endfor %}").length, 1);
});

Deno.test("a name without the quotes that a function's argument needs is told with them", () => {
  assert.deepEqual(problemsIn("{{ env(HOME) }}{{ var( mode ) }}"), [
    "PZ0104 1:8 Unknown name 'HOME' — Names stand in quotes: env('HOME').",
    "PZ0104 1:24 Unknown name 'mode' — Names stand in quotes: var('mode').",
  ]);
});
