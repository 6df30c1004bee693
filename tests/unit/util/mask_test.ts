import fc from "fast-check";
import assert from "node:assert/strict";
import { maskOf } from "../../../src/util/mod.ts";

Deno.test("a secret is masked wherever it stands, longer ones first", () => {
  const mask = maskOf(["hunter2", "hunter2-long", "", "a.*b"]);
  assert.equal(mask("xhunter2x hunter2-long a.*b acccb"), "x***x *** *** acccb");
});

Deno.test("a short secret is masked where it stands as a value, and words and positions stay readable", () => {
  const mask = maskOf(["a", "12", "p.w", "$&"]);
  for (
    const [text, masked] of [
      ["a file of 12 rows, line 12:12, (12), ab=abc", "a file of 12 rows, line 12:12, (12), ab=abc"],
      ["password 'a' or \"12\" or `p.w`", "password '***' or \"***\" or `***`"],
      ["password=a port=12; pwd=p.w", "password=*** port=***; pwd=***"],
      ["db://user:a@host, db://user:12@host", "db://user:***@host, db://user:***@host"],
      ["'p-w' and '$&'", "'p-w' and '***'"],
    ] as const
  ) assert.equal(mask(text), masked);
});

Deno.test("from which length on a secret is masked anywhere can be said", () => {
  assert.equal(maskOf(["abc", "de"], 3)("xabcx de 'de'"), "x***x de '***'");
});

Deno.test("no text of four letters or more survives its mask, and what holds no secret stays as it is", () => {
  const texts = fc.string({ unit: fc.constantFrom("a", "b", "'", "=", "$", "\\", "é"), minLength: 1, maxLength: 8 });
  fc.assert(fc.property(fc.array(texts, { maxLength: 5 }), fc.array(texts, { maxLength: 6 }), (secrets, parts) => {
    const masked = maskOf(secrets)(parts.join(""));
    for (const secret of secrets.filter(({ length }) => length >= 4)) assert.ok(!masked.includes(secret));
    if (!secrets.some((secret) => parts.join("").includes(secret))) assert.equal(masked, parts.join(""));
  }));
});

Deno.test("what equals a plain value or a name is masked only where it stands as a value", () => {
  const mask = maskOf(["loader", "mart"], 4, { plain: ["loader"], names: ["mart", "load_mart"] });
  assert.equal(
    mask("'mart' load_mart.sql \"mart\" pwd=mart; loader 'loader'"),
    "'mart' load_mart.sql \"***\" pwd=***; loader '***'",
  );
});
