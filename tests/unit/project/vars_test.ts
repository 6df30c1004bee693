import assert from "node:assert/strict";
import fc from "fast-check";
import { parseVars } from "../../../src/project/mod.ts";
import { load, loaded, MINIMAL, place, plain } from "./helpers.ts";

function values(text: string): unknown {
  const outcome = parseVars(text);
  return outcome.ok ? plain(outcome.value) : outcome.errors.map(place);
}

Deno.test("--vars keeps whole numbers exact and every other JSON value as it is", () => {
  assert.deepEqual(
    values('{"a": 1, "b": 9007199254740993, "c": -123456789012345678901234567890, "d": 1.5, "e": 1.0}'),
    {
      a: 1n,
      b: 9007199254740993n,
      c: -123456789012345678901234567890n,
      d: 1.5,
      e: 1,
    },
  );
  assert.deepEqual(values('{"t": "1", "n": null, "b": true, "l": [1, {"x": 2}]}'), {
    t: "1",
    n: null,
    b: true,
    l: [1n, { x: 2n }],
  });
});

Deno.test("--vars that is no JSON object is PZ0102 without its text", () => {
  assert.deepEqual(values("[1]"), ["PZ0102 --vars must be a JSON object"]);
  assert.deepEqual(values("null"), ["PZ0102 --vars must be a JSON object"]);
  assert.deepEqual(values("5"), ["PZ0102 --vars must be a JSON object"]);
  for (const text of ["", "{", "{a: hunter2}", '{"a": hunter2}', "hunter2"]) {
    const found = values(text);
    assert.ok(Array.isArray(found));
    assert.match(String(found[0]), /^PZ0102 --vars is not valid JSON( at character \d+)?$/);
  }
});

Deno.test("--vars refuses a decimal with more digits than a number holds", () => {
  assert.deepEqual(values('{"a": {"rate": 0.12345678901234567890}}'), [
    "PZ0102 A number in --vars ('rate') has more digits than can be kept exactly",
  ]);
});

Deno.test("--vars reads back what JSON wrote", () => {
  const leaf = fc.oneof(fc.string(), fc.boolean(), fc.constant(null));
  fc.assert(fc.property(fc.dictionary(fc.string(), leaf), (object) => {
    assert.deepEqual(values(JSON.stringify(object)), { ...object });
  }));
});

Deno.test("--vars replaces variables one by one, and adds new ones", async () => {
  const project = await loaded(
    { "project.yml": `${MINIMAL}vars: { a: { x: 1, y: 2 }, b: 5 }\n` },
    { vars: '{"a": {"x": 9}, "c": 1}' },
  );
  assert.deepEqual(plain(project.vars), { a: { x: 9n }, b: 5n, c: 1n });
});

Deno.test("a wrong --vars comes together with the problems of the files", async () => {
  const outcome = await load({ "project.yml": "name: x\n" }, { vars: "[" });
  assert.ok(!outcome.ok);
  assert.deepEqual(outcome.errors.map(({ code }) => code), ["PZ0102", "PZ0101"]);
});
