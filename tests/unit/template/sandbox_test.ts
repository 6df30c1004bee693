import assert from "node:assert/strict";
import { renderWithin } from "../../../src/template/render.ts";
import { contextOf, pipeline, problemsIn, sqlOf } from "./support.ts";

Deno.test("Templates reach no other file", () => {
  for (
    const tag of [
      "include 'x'",
      "render 'x'",
      "layout 'x'",
      "block x",
      "liquid echo 1",
      "echo 1",
      "capture x",
      "cycle 1",
      "increment x",
    ]
  ) {
    assert.match(problemsIn(`{% ${tag} %}`)[0] ?? "", /^PZ0104 1:1 Unknown tag/, tag);
  }
});

Deno.test("Prototypes and methods of values are out of reach", () => {
  const vars = { text: "abc", map: { a: 1n }, list: [1n] };
  const paths = [
    "var('text').constructor",
    "var('map').constructor",
    "var('map').__proto__",
    "var('map')['toString']",
    "var('list').push",
    "var('map').valueOf",
    "this.constructor",
    "this.text",
    "constructor",
    "__proto__",
    "toString",
    "var('map').a.constructor",
  ];
  for (const path of paths) assert.match(problemsIn(`{{ ${path} }}`, { vars })[0] ?? "", /^PZ0104/, path);
});

Deno.test("Only the filters of pipelines exist", () => {
  const names = [
    "valueOf",
    "constructor",
    "toString",
    "hasOwnProperty",
    "__proto__",
    "date",
    "sample",
    "json",
    "escape",
    "url_decode",
    "sha256",
  ];
  for (const name of names) {
    assert.match(
      problemsIn(`{% assign a = 1 | ${name} %}{{ a.liquid }}`)[0] ?? "",
      /^PZ0104 1:\d+ Unknown filter/,
      name,
    );
  }
});

Deno.test("Memory and output of a template are bounded", () => {
  assert.match(problemsIn("{% for i in (1..100000000) %}{{ i }}{% endfor %}")[0] ?? "", /needs too much memory/);
  assert.match(
    problemsIn(
      "{% assign a = 'xxxxxxxxxx' %}{% for i in (1..40) %}{% assign a = a | append: a %}{% endfor %}{{ a }}",
    )[0] ?? "",
    /needs too much memory/,
  );
  const text = "x".repeat(100_000);
  assert.match(
    problemsIn("{% for i in (1..1000) %}{{ var('t') }}{% endfor %}", { vars: { t: text } })[0] ?? "",
    /gets too long/,
  );
});

Deno.test("The time of a template is bounded", () => {
  const template = "{% for i in (1..1000) %}{% for j in (1..1000) %}{% assign k = j %}{% endfor %}{% endfor %}";
  const outcome = renderWithin({ milliseconds: 5, memory: 10_000_000 }, pipeline("own", template), contextOf({}));
  assert.ok(!outcome.ok);
  assert.match(outcome.errors[0]?.message ?? "", /takes too long/);
});

Deno.test("A template's own names never leak into the next one", () => {
  assert.equal(sqlOf("{% assign x = 1 %}{{ x }}"), "1");
  assert.match(problemsIn("{{ x }}")[0] ?? "", /^PZ0104 1:4 Unknown name 'x'/);
});
