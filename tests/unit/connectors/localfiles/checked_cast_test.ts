import assert from "node:assert/strict";
import fc from "fast-check";
import { refusal } from "../../../../src/connectors/builtin/shared/checked_cast.ts";
import { literal, openDuckDb } from "../../../../src/duckdb/mod.ts";

/** Whether a number's text has a value of at most `scale` fraction digits; undefined where it is in another notation. */
function fits(text: string, scale: number): boolean | undefined {
  const parts = /^\s*[+-]?(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?\s*$/.exec(text);
  if (parts === null) return undefined;
  const digits = `${parts[1]}${parts[2]}`;
  const significant = digits.replace(/0+$/, "");
  const fraction = (parts[2] ?? "").length - (digits.length - significant.length) - Number(parts[3] ?? "0");
  return significant === "" || fraction <= scale;
}

Deno.test("whatever DuckDB makes a number of, a text whose value has more digits than the type is refused", async () => {
  await using database = await openDuckDb({ threads: 1, allowedPaths: { files: [], folders: [] } });
  const connection = await database.connect();
  const digits = fc.string({ unit: fc.constantFrom(..."0011599"), maxLength: 12 });
  const number = fc.tuple(
    fc.constantFrom("", "", "-", "+", " "),
    digits,
    fc.constantFrom("", "", "."),
    digits,
    fc.constantFrom("", "", "e", "e-", "E+", "e-0"),
    fc.constantFrom("", "1", "2", "7", "12"),
  ).map((parts) => parts.join(""));
  const types = [["BIGINT", 0], ["INTEGER", 0], ["UTINYINT", 0], ["HUGEINT", 0], ["DECIMAL(38,9)", 9], [
    "DECIMAL(12,1)",
    1,
  ]] as const;
  await fc.assert(
    fc.asyncProperty(fc.array(number, { minLength: 50, maxLength: 150 }), async (texts) => {
      for (const [type, scale] of types) {
        const refused = refusal("t", "v", { name: "c", type, lossy: false });
        const rows = await connection.rows(
          `SELECT t, coalesce(${refused}, false) FROM (SELECT t, TRY_CAST(t AS ${type}) AS v ` +
            `FROM unnest([${texts.map(literal).join(", ")}]) x(t)) WHERE v IS NOT NULL`,
        );
        for (const [text, isRefused] of rows) {
          const expected = fits(text ?? "", scale);
          // Zeros that an exponent moves behind the dot may be refused: nobody writes them.
          if (expected === undefined || (expected && /e-/i.test(text ?? ""))) continue;
          assert.equal(isRefused === "true", !expected, `${type} of '${text}'`);
        }
      }
    }),
    { numRuns: 20 },
  );
});
