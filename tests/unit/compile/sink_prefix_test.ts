import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { cutSinkPrefix } from "../../../src/compile/sink_prefix.ts";
import { endOfCode, trimQuery } from "../../../src/compile/sql_text.ts";
import { toLf } from "../../../src/compile/line_ends.ts";
import { offsetOfByte } from "../../../src/compile/byte_offset.ts";
import type { SinkCall } from "../../../src/template/mod.ts";

function sink(entity: string): SinkCall {
  return {
    connection: "c",
    entity,
    write: undefined,
    marker: `__pz_sink__c__${entity}__`,
    position: { file: "pipelines/p.sql", line: 1, column: 1 },
  };
}

const A = sink("a");
const B = sink("b");

function rest(sql: string, sinks: readonly SinkCall[]): string {
  const cut = cutSinkPrefix(sql, sinks);
  return cut.ok ? sql.slice(cut.start) : `refused: ${cut.message}${cut.at === undefined ? "" : ` at ${cut.at}`}`;
}

Deno.test("the prefix of one sink is cut in any case, behind comments and over line ends", () => {
  strictEqual(rest(`INSERT INTO ${A.marker} SELECT 1`, [A]), "SELECT 1");
  strictEqual(
    rest(`\n -- note\n/* more */ insert\tInTo\n${A.marker}\n\nwith x as (select 1) from x`, [A]),
    "with x as (select 1) from x",
  );
  strictEqual(rest(`insert into ${A.marker} -- why\nselect 1`, [A]), "-- why\nselect 1");
});

Deno.test("the fan-out form takes its markers in the order of the calls, with any white space", () => {
  strictEqual(rest(`INSERT INTO [${A.marker}, ${B.marker}] SELECT 1`, [A, B]), "SELECT 1");
  strictEqual(rest(`INSERT INTO[\n  ${A.marker}\n , ${B.marker} ]\nSELECT 1`, [A, B]), "SELECT 1");
  strictEqual(rest(`INSERT INTO [${A.marker}] SELECT 1`, [A]), "SELECT 1");
});

Deno.test("a text without sink calls is left alone", () => {
  strictEqual(rest("SELECT 1", []), "SELECT 1");
});

Deno.test("a sink anywhere else is refused", () => {
  const refused = "refused: sink() may stand only behind a leading `INSERT INTO`";
  for (
    const sql of [
      `SELECT * FROM ${A.marker}`,
      `WITH x AS (SELECT 1) INSERT INTO ${A.marker} SELECT * FROM x`,
      `INSERTINTO ${A.marker} SELECT 1`,
      `INSERT INTO other SELECT 1 -- ${A.marker}`,
      `INSERT INTO [${A.marker} SELECT 1`,
    ]
  ) strictEqual(rest(sql, [A]), `${refused} at ${sql.indexOf(A.marker)}`);
  strictEqual(rest(`INSERT INTO ${A.marker}, ${B.marker} SELECT 1`, [A, B]), `${refused} at 12`);
  strictEqual(rest(`INSERT INTO [${B.marker}, ${A.marker}] SELECT 1`, [A, B]).startsWith(refused), true);
});

Deno.test("a marker that comes again in the query is refused at its second place", () => {
  const sql = `INSERT INTO ${A.marker} SELECT * FROM ${A.marker}`;
  strictEqual(
    rest(sql, [A]),
    `refused: sink() may stand only behind the leading \`INSERT INTO\` at ${sql.lastIndexOf(A.marker)}`,
  );
});

Deno.test("a query must follow, with white space before it", () => {
  strictEqual(
    rest(`INSERT INTO ${A.marker}select 1`, [A]),
    "refused: white space is missing between the sink and the query at 29",
  );
  strictEqual(rest(`INSERT INTO ${A.marker} -- nothing`, [A]), "refused: the query behind `INSERT INTO` is missing");
});

Deno.test("one closing semicolon and what stands behind the query are cut, inner ones stay", () => {
  strictEqual(trimQuery("select 1;"), "select 1");
  strictEqual(trimQuery("select 1 ; -- done\n/* really; */"), "select 1");
  strictEqual(trimQuery("select 1; select 2;"), "select 1; select 2");
  strictEqual(trimQuery("select ';' -- ;"), "select ';'");
  strictEqual(trimQuery("select 1 -- no end"), "select 1");
  strictEqual(trimQuery(" -- nothing\n;"), "");
});

Deno.test("comment marks inside texts, names and dollar quotes are no comments", () => {
  for (
    const sql of [
      "select '--x'",
      `select "a -- b"`,
      "select $$ -- ; $$",
      "select $t$ /* $$ $t$",
      "select e'\\' -- '",
      "select 'it''s -- '",
    ]
  ) {
    strictEqual(endOfCode(`${sql} -- tail`), sql.length, sql);
  }
  strictEqual(endOfCode("select 1 /* a /* b */ c */"), 8);
});

Deno.test("line ends become LF and offsets lead back", () => {
  const { text, originalOffset } = toLf("a\r\nb\rc\r\n\r\nd");
  strictEqual(text, "a\nb\nc\n\nd");
  deepStrictEqual([0, 1, 2, 3, 4, 5, 6, 7].map(originalOffset), [0, 1, 3, 4, 5, 6, 8, 10]);
});

Deno.test("byte offsets become UTF-16 offsets", () => {
  const text = "aé€😀b";
  deepStrictEqual([0, 1, 3, 6, 10, 11, 99].map((bytes) => offsetOfByte(text, bytes)), [0, 1, 2, 3, 5, 6, 6]);
});

Deno.test("a list of columns is refused, a query in brackets is not", () => {
  strictEqual(
    rest(`INSERT INTO ${A.marker} (id, "b") SELECT 1, 2`, [A]),
    "refused: a list of columns behind the sink is not understood at 30",
  );
  for (const query of ["(SELECT 1)", "( /* x */ with t as (select 1) from t) union all (from t)", "((VALUES (1)))"]) {
    strictEqual(rest(`INSERT INTO ${A.marker} ${query}`, [A]), query);
  }
});
