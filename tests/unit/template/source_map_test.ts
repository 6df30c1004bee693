import assert from "node:assert/strict";
import fc from "fast-check";
import { lastAtOrBefore, positionsOf } from "../../../src/template/positions.ts";
import { rendered } from "./support.ts";

Deno.test("Places in the SQL map to the template, across calls of other lengths", () => {
  const template = "SELECT a,\n  {{ var('x') }},\n  b\nFROM {{ source('crm', 'orders') }} o\nWHERE zz = 1";
  const { sql, map } = rendered(template, { vars: { x: "a long text with\nseveral\nlines" } });
  const at = (text: string) => {
    const { line, column } = map.positionAt(sql.indexOf(text));
    return `${line}:${column}`;
  };
  assert.equal(at("SELECT"), "1:1");
  assert.equal(at("several"), "2:6");
  assert.equal(at("b\n"), "3:3");
  assert.equal(at("staging."), "4:9");
  assert.equal(at("zz"), "5:7");
  assert.deepEqual(map.positionAt(sql.length), { file: "pipelines/own.sql", line: 5, column: 13 });
});

Deno.test("Places behind trims and in loops map to the piece they came from", () => {
  const template = "a\n  {%- for i in (1..2) %}\n{{ i }} b\n{%- endfor %}\nc";
  const { sql, map } = rendered(template);
  assert.equal(sql, "a\n1 b\n2 b\nc");
  assert.deepEqual([sql.indexOf("b"), sql.lastIndexOf("b"), sql.indexOf("c")].map((at) => map.positionAt(at).line), [
    3,
    3,
    5,
  ]);
});

Deno.test("Every place in a template without tags maps to itself", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom("a", "\n", "\r", "é", "😀", "'", "-") }),
      fc.nat(),
      (template, seed) => {
        const { map, sql } = rendered(template);
        assert.equal(sql, template);
        const offset = template.length === 0 ? 0 : seed % (template.length + 1);
        const before = template.slice(0, offset).split("\n");
        const expected = { file: "pipelines/own.sql", line: before.length, column: (before.at(-1) ?? "").length + 1 };
        assert.deepEqual(positionsOf("pipelines/own.sql", template)(offset), expected);
        assert.deepEqual(map.positionAt(offset), expected);
      },
    ),
  );
});

Deno.test("lastAtOrBefore finds the last number that is not greater", () => {
  assert.deepEqual([0, 1, 4, 5, 9, 100].map((limit) => lastAtOrBefore([0, 5, 9], limit)), [0, 0, 0, 1, 2, 2]);
});
