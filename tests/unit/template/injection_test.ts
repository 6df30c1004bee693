import assert from "node:assert/strict";
import fc from "fast-check";
import { type DuckDbConnection, openDuckDb, type SqlAst } from "../../../src/duckdb/mod.ts";
import { render, sqlOf } from "./support.ts";

/** Characters that mean something to SQL, often. */
const unit = fc.constantFrom(
  "'",
  '"',
  "\\",
  "-",
  "/",
  "*",
  "$",
  ";",
  "\n",
  "\r",
  " ",
  "E",
  "a",
  "1",
  "é",
  "\u00a0",
  "😀",
);
const hostile = fc.oneof(
  fc.string({ unit, maxLength: 12 }),
  fc.constantFrom("\\'; --", "'; DROP TABLE t; --", "*/ 1 /*", "$$", "\\"),
);

Deno.test("A text arrives in DuckDB unchanged, in code and inside every kind of quotes", async () => {
  await withDuckDb(async (connection) => {
    const template = `SELECT {{ var('x') }}, '{{ var('x') }}', E'{{ var('x') }}', 'a''' || '{{ var('x') }}',
      E'''{{ var('x') }}\\\\', 1 AS "{{ var('x') }}", 1 AS {{ var('x') | ident }}`;
    await fc.assert(
      fc.asyncProperty(hostile.filter((text) => text !== ""), async (x) => {
        const sql = sqlOf(template, { vars: { x } });
        const { columns } = await connection.prepare(sql);
        const [row] = await connection.rows(sql);
        assert.deepEqual(row?.slice(0, 5), [x, x, x, `a'${x}`, `'${x}\\`]);
        assert.deepEqual(columns.slice(5).map(({ name }) => name), [x, x]);
        const list = sqlOf("SELECT {{ var('x') }} IN {{ [var('x'), 'z'] }}", { vars: { x } });
        assert.deepEqual(await connection.rows(list), [["true"]]);
      }),
      { numRuns: 300 },
    );
  });
});

Deno.test("Numbers arrive in DuckDB with every digit", async () => {
  await withDuckDb(async (connection) => {
    await fc.assert(
      fc.asyncProperty(
        fc.bigInt({ min: -(10n ** 37n), max: 10n ** 37n }),
        fc.integer({ min: -999_999_999, max: 999_999_999 }),
        async (whole, thousandths) => {
          const decimal = thousandths / 1000;
          const sql = sqlOf("SELECT 1 -{{ var('w') }}, {{ var('d') }}::DECIMAL(18, 3)", {
            vars: { w: whole, d: decimal },
          });
          assert.deepEqual(await connection.rows(sql), [[String(1n - whole), decimal.toFixed(3)]]);
        },
      ),
      { numRuns: 200 },
    );
    assert.deepEqual(await connection.rows(sqlOf("SELECT {{ 1e300 }}, {{ 1e-7 }}")), [["1e+300", "1e-07"]]);
  });
});

Deno.test("Whatever a value holds, the SQL around it parses to the same tree", async () => {
  await withDuckDb(async (connection) => {
    let compared = 0;
    await fc.assert(
      fc.asyncProperty(selects(), hostile, async (template, value) => {
        const [plain, strange] = await Promise.all(["zq", `zq${value}`].map((v) => treeOf(connection, template, v)));
        if (plain === undefined) return;
        compared++;
        assert.equal(strange, plain, template);
      }),
      { numRuns: 500 },
    );
    assert.ok(compared > 150, `only ${compared} templates could be compared`);
  });
});

Deno.test("Whatever a value holds, it never changes the statements of a random text around it", async () => {
  await withDuckDb(async (connection) => {
    const piece = fc.constantFrom(
      "'",
      "''",
      '"',
      "\\",
      "E'",
      "e'",
      "1E'",
      "aE'",
      "éE'",
      "\u00a0E'",
      "$E'",
      " ",
      "\n",
      "-",
      "--",
      "/*",
      "*/",
      "$$",
      "$a$",
      "$1",
      "x",
      "1",
      ", ",
      "(",
      ")",
      "||",
      "'a'",
      "E'a'",
      "U&'",
      'U&"',
      "x'",
      "{{ var('v') }}",
      "'{{ var('v') }}'",
      "E'{{ var('v') }}'",
      "SELECT ",
      "; ",
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 14 }), hostile, async (pieces, value) => {
        const template = `SELECT ${pieces.join("")}`;
        const [plain, strange] = await Promise.all(["zq", `zq${value}`].map((v) => treeOf(connection, template, v)));
        if (plain === undefined || strange === undefined) return;
        assert.equal(strange, plain, template);
      }),
      { numRuns: 1000 },
    );
  });
});

async function withDuckDb(use: (connection: DuckDbConnection) => Promise<void>): Promise<void> {
  await using database = await openDuckDb({ threads: 1, memoryLimitBytes: 268_435_456 });
  const connection = await database.connect();
  try {
    await use(connection);
  } finally {
    await connection.close();
  }
}

/** DuckDB's tree of a rendered template with the value taken out, or the kind of its error; undefined if not rendered. */
async function treeOf(connection: DuckDbConnection, template: string, v: string): Promise<string | undefined> {
  const outcome = render(template, { vars: { v } });
  if (!outcome.ok) return undefined;
  try {
    return JSON.stringify(withoutValue(await connection.serializeSql(outcome.value.sql), v));
  } catch (error) {
    return error instanceof Error && "kind" in error ? String(error.kind) : String(error);
  }
}

function withoutValue(tree: SqlAst, value: string): unknown {
  if (typeof tree === "string") return spaced(tree).replaceAll(spaced(value), "<value>");
  if (tree === null || typeof tree !== "object") return String(tree);
  if (Array.isArray(tree)) return tree.map((item) => withoutValue(item, value));
  return Object.entries(tree)
    .filter(([key]) => key !== "query_location")
    .map(([key, member]) => [withoutValue(key, value), withoutValue(member, value)]);
}

/** Behind an E'\\'' DuckDB takes texts for code, and turns the spaces of Unicode in them into plain ones. */
function spaced(text: string): string {
  return text.replaceAll("\u00a0", " ");
}

/** SELECT statements that are right by construction, with strange texts, comments and quotes around the value. */
function selects(): fc.Arbitrary<string> {
  const body = fc.string({
    unit: fc.constantFrom("'", '"', "\\", "-", "/", "*", "$", "\n", "a", "E", ";", " "),
    maxLength: 8,
  });
  const value = "{{ var('v') }}";
  const put = fc.constantFrom("", value, value);
  const quote = (text: string, mark: string) => text.replaceAll(mark, mark + mark);
  const escaped = (text: string) => text.replaceAll("\\", "\\\\").replaceAll("'", "\\'");
  const item = fc.oneof(
    fc.constant(value),
    fc.tuple(body, put, body).map(([a, v, b]) => `'${quote(a, "'")}${v}${quote(b, "'")}'`),
    fc.tuple(body, put, body).map(([a, v, b]) => `E'${escaped(a)}${v}${escaped(b)}'`),
    fc.tuple(body, body).map(([a, b]) => `E'${escaped(a)}'\n -- it's\n '${escaped(b)}'`),
    fc.tuple(body, put, body).map(([a, v, b]) => `1 AS "x${quote(a, '"')}${v}${quote(b, '"')}"`),
    body.map((a) => `$t$${a.replaceAll("$", "")}$t$`),
    body.map((a) => `$$${a.replaceAll("$", "")}$$`),
    fc.constantFrom("1-", "aE ||", "-").map((before) => `${before}${value}`),
  );
  const inert = body.map((text) => text.replaceAll(/[*/]/g, "").replaceAll("\n", " "));
  const gap = fc.oneof(
    fc.constantFrom(" ", "\n", ""),
    inert.map((text) => `--${text} {{ it's {% x\n`),
    inert.map((text) => `/*${text} {{ ' /* {{ */ */`),
  );
  return fc.array(fc.tuple(gap, item, gap), { minLength: 1, maxLength: 5 })
    .map((items) => `SELECT ${items.map((parts) => parts.join("")).join(",")}`);
}
