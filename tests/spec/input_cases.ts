/** A broken file: its text with `§` before what is to blame, and what the message must hold. */
export type BrokenFile = { readonly text: string; readonly message: RegExp };

const ORDERS = "{{ source('raw', 'orders') }}";

function broken(text: string, message: RegExp): BrokenFile {
  return { text, message };
}

/** Pipelines whose templates render and whose SQL is wrong, by name. */
export const SQL_CASES: { readonly [name: string]: BrokenFile } = {
  // What DuckDB can't parse.
  parse_form: broken(`SELECT id FORM {{ §source('raw', 'orders') }} x y`, /near "staging\.src_raw__orders"/),
  parse_where_twice: broken(`SELECT id\nFROM ${ORDERS}\nWHERE §WHERE id = 1`, /near "WHERE"/),
  parse_open_bracket: broken(`SELECT (id\n§FROM ${ORDERS}`, /near "FROM"/),
  parse_end: broken(`SELECT id FROM ${ORDERS} WHERE§`, /end of input/),
  parse_comma: broken(`SELECT id,\n  §, amount\nFROM ${ORDERS}`, /near ","/),
  parse_no_on: broken(`SELECT * FROM ${ORDERS} a JOIN ${ORDERS} b\n§WHERE a.id = 1`, /near "WHERE"/),
  parse_case: broken(`SELECT CASE WHEN id = 1 THEN 2\n§FROM ${ORDERS}`, /near "FROM"/),
  parse_jinja_comment: broken(`SELECT id\n§{# why #}\nFROM ${ORDERS}`, /\{% comment %\}/),
  two_statements: broken(`§SELECT 1 AS a; SELECT 2 AS b`, /2 statements.*exactly one SELECT/),
  no_statement: broken(`§-- nothing`, /no query/),
  create: broken(`§CREATE TABLE x AS SELECT 1 AS a`, /near "CREATE".*exactly one SELECT/),
  update: broken(`§UPDATE x SET a = 1`, /near "UPDATE".*exactly one SELECT/),
  describe: broken(`§DESCRIBE SELECT 1`, /no SELECT/),
  // What does not exist.
  column: broken(`SELECT id,\n  §amont\nFROM ${ORDERS}`, /"amont".*did you mean 'amount'/),
  qualified_column: broken(`SELECT o.id,\n  §o.amont\nFROM ${ORDERS} AS o`, /"amont".*did you mean 'amount'/),
  alias: broken(`SELECT §x.id FROM ${ORDERS} AS o`, /"x" not found.*'o'/),
  table: broken(`SELECT id FROM §nowhere`, /nowhere.*\{\{ source\('connection', 'entity'\) \}\}/),
  table_of_connection: broken(`SELECT id FROM §raw.orders`, /hint: write \{\{ source\('raw', 'orders'\) \}\}/),
  table_of_pipeline: broken(
    `SELECT id FROM ${ORDERS} o\nJOIN §good g USING (id)`,
    /hint: write \{\{ ref\('good'\) \}\}/,
  ),
  function: broken(`SELECT id,\n  §floo(amount) FROM ${ORDERS}`, /floo.*did you mean 'floor'/),
  table_function: broken(`SELECT * FROM §raneg(3)`, /raneg.*did you mean 'range'/),
  type: broken(`SELECT id::§integr FROM ${ORDERS}`, /integr.*did you mean 'integer'/),
  group_by: broken(`SELECT status, §amount\nFROM ${ORDERS}\nGROUP BY status`, /must appear in the GROUP BY/),
  order_by: broken(`SELECT id FROM ${ORDERS}\nORDER BY §idd`, /"idd".*did you mean 'id'/),
  using: broken(`SELECT * FROM ${ORDERS} a JOIN ${ORDERS} b USING (§nope)`, /"nope" does not exist/),
  exclude: broken(`SELECT * EXCLUDE (§nope)\nFROM ${ORDERS}`, /"nope" in EXCLUDE/),
  having: broken(`SELECT status\nFROM ${ORDERS}\nGROUP BY status HAVING §nope > 1`, /column nope/),
  ambiguous: broken(`SELECT §id FROM ${ORDERS} a, ${ORDERS} b`, /"a\.id" or "b\.id"/),
  // Where it stands.
  in_cte: broken(`WITH a AS (\n  SELECT §idd FROM ${ORDERS}\n)\nSELECT * FROM a`, /"idd"/),
  behind_cte: broken(`WITH a AS (\n  SELECT id FROM ${ORDERS}\n)\nSELECT id,\n  §idd\nFROM a`, /"idd"/),
  in_subquery: broken(`SELECT *\nFROM (\n  SELECT id, §nope FROM ${ORDERS}\n) q`, /"nope"/),
  in_exists: broken(`SELECT id FROM ${ORDERS} o\nWHERE EXISTS (SELECT 1 FROM ${ORDERS} i WHERE §x.id = o.id)`, /"x"/),
  in_scalar: broken(`SELECT (SELECT max(§nope) FROM ${ORDERS}) AS m`, /"nope"/),
  in_window: broken(`SELECT row_number() OVER (PARTITION BY §nope) AS n FROM ${ORDERS}`, /"nope"/),
  in_union: broken(`SELECT id FROM ${ORDERS}\nUNION ALL\nSELECT §idd FROM ${ORDERS}`, /"idd"/),
  in_pivot: broken(`PIVOT ${ORDERS} ON §nope USING sum(amount)`, /"nope"/),
  // Types.
  operator_types: broken(`SELECT status §+ 1 AS n FROM ${ORDERS}`, /'\+\(VARCHAR, .*cast/),
  argument_types: broken(`SELECT id,\n  §date_trunc(1, 2, 3) AS d FROM ${ORDERS}`, /date_trunc\(VARCHAR, DATE\)/),
  aggregate_types: broken(`SELECT §sum(status) AS n FROM ${ORDERS}`, /'sum\(VARCHAR\)'/),
  compared_types: broken(`SELECT id FROM ${ORDERS} WHERE id §IN (SELECT ordered_on FROM ${ORDERS})`, /BIGINT and DATE/),
  aggregate_in_where: broken(
    `SELECT id FROM ${ORDERS} WHERE §sum(amount) > 1`,
    /WHERE clause cannot contain aggregates/,
  ),
  // What stands before it.
  inside_call_lines: broken(`SELECT\n  id,\n  §amont\nFROM {{ source(\n  'raw',\n  'orders'\n) }}`, /"amont"/),
  behind_call_lines: broken(`SELECT id\nFROM {{ source(\n  'raw',\n  'orders'\n) }} WHERE §amont > 1`, /"amont"/),
  behind_wide_text: broken(`SELECT 'é😀漢' AS x, '😀' AS y, §amont\nFROM ${ORDERS}`, /"amont"/),
  crlf: broken(`SELECT id,\r\n  'ü' AS u,\r\n  §amont\r\nFROM ${ORDERS}\r\n`, /"amont"/),
  tabs: broken(`SELECT id,\n\t\t§amont\nFROM\t${ORDERS}`, /"amont"/),
  byte_order_mark: broken(`\ufeffSELECT id, §amont FROM ${ORDERS}`, /"amont"/),
  comments: broken(`/* a\n {{ b }} */\nSELECT id, -- and ü\n  §amont\nFROM ${ORDERS}`, /"amont"/),
  long_line: broken(`SELECT [${"1, ".repeat(3000)}1] AS a, §nope FROM ${ORDERS}`, /"nope"/),
  sink_prefix: broken(
    `-- head\nINSERT INTO [\n  {{ sink('lake', 'a', strategy: 'replace') }},\n  {{ sink('lake', 'b', strategy: 'replace') }}\n]\n` +
      `WITH q AS (SELECT §amont FROM ${ORDERS})\nSELECT * FROM q`,
    /"amont"/,
  ),
  behind_value: broken(`SELECT {{ var('text') }} AS a, §amont FROM ${ORDERS}`, /"amont"/),
  in_for: broken(
    `SELECT id\n{% for c in ['id', 'amount'] %}\n  , max({{ c | ident }}) OVER (ORDER BY §zzz) AS "m_{{ c }}"\n{% endfor %}\nFROM ${ORDERS}`,
    /"zzz"/,
  ),
  value_in_for: broken(
    `SELECT id\n{% for c in ['amount', 'nope'] %}  , {{ §c | ident }}\n{% endfor %}FROM ${ORDERS}`,
    /"nope"/,
  ),
  in_if: broken(
    `{% if var('on') %}\nSELECT §amont FROM ${ORDERS}\n{% else %}\nSELECT 1 AS one\n{% endif %}`,
    /"amont"/,
  ),
  behind_if: broken(`{% if var('on') %}\nSELECT id,\n{% endif %}\n  §amont\nFROM ${ORDERS}`, /"amont"/),
  behind_trim: broken(`SELECT id,\n{%- assign a = 1 -%}\n  §nope\nFROM ${ORDERS}`, /"nope"/),
  closing_semicolon: broken(`SELECT id,\n §nope FROM ${ORDERS};\n-- end\n`, /"nope"/),
  of_ref: broken(`SELECT id,\n §nope FROM {{ ref('good') }}`, /"nope"/),
  of_ephemeral: broken(`WITH z AS (SELECT 1 AS one)\nSELECT id,\n §nope FROM {{ ref('inlined') }}, z`, /"nope"/),
  // Reported once, in its own file, although a pipeline of its own inlines it.
  broken_ephemeral: broken(`SELECT id,\n  'ü' AS u,\n  §nope FROM ${ORDERS}`, /"nope"/),
  // Without a contract only what needs no columns is known.
  no_contract: broken(`SELECT anything\nFROM {{ source('raw', 'unknown') }}\nGROUP §BAY anything`, /near "BAY"/),
};

/** Pipelines whose templates are wrong, by name. */
export const TEMPLATE_CASES: { readonly [name: string]: BrokenFile } = {
  open_quote: broken(`SELECT 'abc\nFROM {{ §source('raw', 'orders') }}`, /can't stand inside '…'.*Close the quote/),
  open_output: broken(`SELECT id\nFROM §{{ source('raw', 'orders')`, /has no \}\}/),
  open_tag: broken(`SELECT id\n§{% if var('on') %}\nFROM ${ORDERS}`, /no \{% endif %\}/),
  unknown_function: broken(`SELECT id FROM {{ §soruce('raw', 'orders') }}`, /'soruce'.*'source'/),
  unknown_variable: broken(`SELECT {{ var(§'txet') }} AS t`, /'txet'.*'text'/),
  unknown_filter: broken(`SELECT {{ var('text') | §upcsae }} AS t`, /'upcsae'.*'upcase'/),
  unknown_tag: broken(`§{% macro x %}\nSELECT 1 AS one`, /'macro'/),
  unknown_name: broken(`SELECT {{ §run_di }} AS t`, /'run_di'.*'run_id'/),
  unset_variable: broken(`SELECT {{ env(§'PZ_NOT_SET') }} AS t`, /PZ0103.*'PZ_NOT_SET' is not set/),
  unquoted_names: broken(`SELECT id FROM {{ source(§raw, 'orders') }}`, /Names stand in quotes: 'raw'/),
  third_line_of_a_call: broken(
    `SELECT id\nFROM {{ source(\n  'raw',\n  'orders',\n  §format = 'csv'\n) }}`,
    /written with a colon/,
  ),
  behind_wide_text: broken(`SELECT 'é😀漢' AS x, {{ §nope }} AS y`, /'nope'/),
  crlf: broken(`SELECT 'ü' AS u,\r\n\t{{ §nope }} AS y\r\n`, /'nope'/),
  in_for: broken(`SELECT 1 AS a\n{% for c in ['x', 'y'] %}\n , {{ §d }} AS b\n{% endfor %}`, /'d'/),
  branch_not_taken: broken(`SELECT {{ §nope }} AS a{% unless var('on') %}, {{ nope2 }} AS b{% endunless %}`, /'nope'/),
};

/** Sidecars whose checks are wrong, by the pipeline `good` that they are about or a copy of it. */
export const CHECK_CASES: { readonly [name: string]: BrokenFile } = {
  column: broken(`pipeline: column\nchecks:\n  - not_null: [id, §emial]\n`, /'emial'.*pipeline 'column'.*'email'/),
  one_column: broken(
    `pipeline: one_column\nchecks:\n  - freshness: { column: §ordered, max_age: 1d }\n`,
    /'ordered'.*columns are id, email, amount/,
  ),
  block: broken(
    `pipeline: block\nchecks:\n  - custom_sql:\n      name: big\n      sql: |\n        SELECT *\n        FROM staging.block\n        WHERE 'ü' <> '' AND §amuont > 3\n`,
    /check 'big'.*"amuont".*'amount'/,
  ),
  one_line: broken(
    `pipeline: one_line\nchecks:\n  - custom_sql: { name: big, sql: "SELECT * FROM staging.one_line WHERE §amuont > 3" }\n`,
    /"amuont"/,
  ),
  plain: broken(
    `pipeline: plain\r\nchecks:\r\n  - custom_sql:\r\n      name: big\r\n      sql: SELECT * FROM §plain WHERE amount > 3\r\n`,
    /stand in staging\.plain/,
  ),
  template: broken(
    `pipeline: template\nchecks:\n  - custom_sql:\n      name: big\n      sql: SELECT * FROM §{{ ref('template') }}\n`,
    /no template; .*staging\.template/,
  ),
  statements: broken(
    `pipeline: statements\nchecks:\n  - custom_sql:\n      name: big\n      sql: |\n        §SELECT 1; SELECT 2\n`,
    /2 statements/,
  ),
};

/** The text without its mark, and the mark's line and column, both from 1. */
export function unmarked(text: string): { readonly text: string; readonly line: number; readonly column: number } {
  const before = text.slice(0, text.indexOf("§")).replace(/^\ufeff/, "").split("\n");
  return { text: text.replace("§", ""), line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}
