import { deepStrictEqual, strictEqual } from "node:assert/strict";
import type { Predicate, ReadHints } from "../../../src/compile/mod.ts";
import type { PipelineFile, ReadBlock } from "../../../src/project/mod.ts";
import { columns, connection, dagOf, pipeline, project } from "./support.ts";

const CONTRACT =
  "id int, amount double, price decimal, status varchar, open boolean, ts timestamp, day date, payload STRUCT(kind VARCHAR)";
const AT = { file: "connections.yml", line: 1, column: 1 };

type Read = Partial<ReadBlock>;

async function hints(pipelines: readonly PipelineFile[], read: Read = {}): Promise<ReadHints | undefined> {
  const raw = connection("raw", {
    o: { name: "o", read: { options: {}, ...read }, position: AT },
    c: { name: "c", read: { options: {} }, position: AT },
  });
  const dag = await dagOf(project([raw], pipelines));
  const node = dag.nodes.find((candidate) => candidate.name === "src_raw__o");
  return node?.kind === "SourceLoad" ? node.hints : undefined;
}

const O = "{{ source('raw', 'o') }}";
const C = "{{ source('raw', 'c') }}";

/** The hints as a line: columns, then predicates. */
async function of(sql: string, read: Read = {}): Promise<string> {
  return line(await hints([pipeline("p", sql)], read));
}

function line(found: ReadHints | undefined): string {
  if (found === undefined) return "all";
  return `${found.columns?.join(" ") ?? "*"}${found.predicate === undefined ? "" : ` | ${show(found.predicate)}`}`;
}

function show(predicate: Predicate): string {
  switch (predicate.op) {
    case "and":
      return predicate.args.map(show).join(" & ");
    case "in":
      return `${predicate.column} in (${predicate.values.map(({ type, text }) => `${type} ${text}`).join(", ")})`;
    case "is_null":
    case "is_not_null":
      return `${predicate.column} ${predicate.op}`;
    default:
      return `${predicate.column} ${predicate.op} ${predicate.value.type} ${predicate.value.text}`;
  }
}

async function each(cases: { readonly [sql: string]: string }, read: Read = {}): Promise<void> {
  for (const [sql, expected] of Object.entries(cases)) strictEqual(await of(sql, read), expected, sql);
}

Deno.test("columns of one table are found in every clause", async () => {
  await each({
    [`SELECT * FROM ${O}`]: "all",
    [`SELECT x.* FROM ${O} x`]: "all",
    [`SELECT count(*) FROM ${O}`]: "all",
    [`SELECT id, amount * 2 AS twice FROM ${O}`]: "amount id",
    [`SELECT x.Id FROM ${O} x ORDER BY x.ts`]: "id ts",
    [`SELECT sum(amount) FROM ${O} GROUP BY status HAVING max(price) > 1`]: "amount price status",
    [`SELECT id FROM ${O} QUALIFY row_number() OVER (PARTITION BY status ORDER BY ts) = 1`]: "id status ts",
    [`SELECT payload.kind FROM ${O}`]: "payload",
    [`SELECT x.payload.kind FROM ${O} x`]: "payload",
    [`SELECT staging.src_raw__o.id FROM ${O}`]: "id staging",
    [`WITH t AS (SELECT id, status FROM ${O}) SELECT id FROM t`]: "id status",
    [`SELECT id FROM ${O} WHERE EXISTS (SELECT 1 FROM ${C} WHERE k = status)`]: "id k status",
  });
});

Deno.test("what is not known to the last letter asks for every column", async () => {
  await each({
    [`SELECT * EXCLUDE (id) FROM ${O}`]: "all",
    [`SELECT COLUMNS('i.*') FROM ${O}`]: "all",
    [`SELECT x FROM ${O} x`]: "all",
    [`SELECT #1 FROM ${O}`]: "all",
    [`SELECT a FROM ${O} t(a, b) WHERE a = 1`]: "all",
    [`SELECT id FROM ${O} NATURAL JOIN ${C}`]: "all",
    [`SELECT rowid, id FROM ${O} WHERE id = 1`]: "all",
    [`FROM query('SELECT 1'), ${O} SELECT id`]: "all",
    [`SELECT * FROM (PIVOT ${O} ON status IN ('a') USING sum(amount))`]: "all",
    [`PIVOT ${O} ON status USING sum(amount)`]: "all",
  });
});

Deno.test("with a contract only its columns count, under its names, and all of them are no hint", async () => {
  await each({
    [`SELECT ID, x.zzz, other FROM ${O} x`]: "Id",
    [`SELECT id, B FROM ${O}`]: "all",
    [`SELECT zzz FROM ${O}`]: "all",
    [`SELECT id FROM ${O} o JOIN ${C} c USING (id)`]: "Id",
  }, { columns: columns("Id int, b int") });
});

Deno.test("conjuncts of WHERE become predicates; OR, functions and other columns do not", async () => {
  await each({
    [`SELECT id FROM ${O} WHERE status = 'a' AND id > 5 AND (id < 9 AND open = true)`]:
      "id open status | id < INTEGER 9 & id > INTEGER 5 & open = BOOLEAN true & status = VARCHAR a",
    [`SELECT id FROM ${O} WHERE status = 'a' OR id > 5`]: "id status",
    [`SELECT id FROM ${O} WHERE 5 < id AND id = id AND id > random() AND id + 1 > 3 AND ts < now()`]:
      "id ts | id > INTEGER 5",
    [`SELECT id FROM ${O} WHERE id BETWEEN 1 AND 99999999999`]: "id | id <= BIGINT 99999999999 & id >= INTEGER 1",
    [`SELECT id FROM ${O} WHERE id NOT BETWEEN 1 AND 2`]: "id",
    [`SELECT id FROM ${O} WHERE id IN (1, 2) AND status IN ('it''s', '') AND id NOT IN (3)`]:
      "id status | id in (INTEGER 1, INTEGER 2) & status in (VARCHAR it's, VARCHAR )",
    [`SELECT id FROM ${O} WHERE id IN (1, NULL)`]: "id",
    [`SELECT id FROM ${O} WHERE status IS NULL AND open IS NOT NULL`]:
      "id open status | open is_not_null & status is_null",
    [`SELECT id FROM ${O} WHERE NOT id = 3`]: "id | id <> INTEGER 3",
    [`SELECT id FROM ${O} WHERE id = 3 AND id = 3`]: "id | id = INTEGER 3",
    [`SELECT id FROM ${O} WHERE price >= -1.50 AND price < 0.05`]:
      "id price | price < DECIMAL(3,2) 0.05 & price >= DECIMAL(3,2) -1.50",
    [`SELECT id FROM ${O} WHERE day >= DATE '2024-01-05' AND ts < '2024-01-05 10:00:00'::TIMESTAMP`]:
      "day id ts | day >= DATE 2024-01-05 & ts < TIMESTAMP 2024-01-05 10:00:00",
    [`SELECT id FROM ${O} WHERE ts > TIMESTAMP '2024-01-05'`]: "id ts | ts > TIMESTAMP 2024-01-05 00:00:00",
  });
});

Deno.test("constants that systems may understand differently are not pushed", async () => {
  await each({
    [`SELECT id FROM ${O} WHERE status > 'a'`]: "id status",
    [`SELECT id FROM ${O} WHERE status <> 'a'`]: "id status",
    [`SELECT id FROM ${O} WHERE status LIKE 'a%'`]: "id status",
    [`SELECT id FROM ${O} WHERE amount > 1e3`]: "amount id",
    [`SELECT id FROM ${O} WHERE id = 99999999999999999999`]: "id",
    [`SELECT id FROM ${O} WHERE ts > DATE 'tomorrow'`]: "id ts",
    [`SELECT id FROM ${O} WHERE ts > TIMESTAMPTZ '2024-01-01 00:00:00+02'`]: "id ts",
    [`SELECT id FROM ${O} WHERE id = TRY_CAST('x' AS INTEGER)`]: "id",
    [`SELECT id FROM ${O} WHERE id IS DISTINCT FROM 3`]: "id",
    [`SELECT id FROM ${O} WHERE id = NULL`]: "id",
  });
});

Deno.test("with a contract a constant must fit the column's type", async () => {
  await each({
    [`SELECT id FROM ${O} WHERE amount > 5`]: "amount id",
    [`SELECT id FROM ${O} WHERE status = 5`]: "id status",
    [`SELECT id FROM ${O} WHERE id = '5'`]: "id",
    [`SELECT id FROM ${O} WHERE id > 1.5`]: "id | id > DECIMAL(2,1) 1.5",
    [`SELECT id FROM ${O} WHERE ts >= DATE '2024-01-05'`]: "id ts | ts >= TIMESTAMP 2024-01-05 00:00:00",
    [`SELECT id FROM ${O} WHERE day >= TIMESTAMP '2024-01-05 10:00:00'`]: "day id",
    [`SELECT id FROM ${O} WHERE zzz = 1`]: "id",
    [`SELECT id FROM ${O} WHERE payload IS NULL`]: "id payload | payload is_null",
  }, { columns: columns(CONTRACT) });
});

Deno.test("a name of the SELECT list is not taken for a column", async () => {
  await each({
    [`SELECT amount AS x, id FROM ${O} WHERE x > 3 AND id = 1`]: "amount id x | id = INTEGER 1",
    [`SELECT amount AS id FROM ${O} WHERE id > 3`]: "amount id",
    [`SELECT t.id AS id FROM ${O} t WHERE id > 3`]: "id | id > INTEGER 3",
  });
});

Deno.test("across joins only predicates that hold for every row that matters are pushed", async () => {
  const where = async (join: string, condition: string) => {
    const found = await of(`SELECT o.id, c.k FROM ${join} WHERE ${condition}`);
    return found.split(" | ")[1] ?? "-";
  };
  const on = `ON o.id = c.k`;
  strictEqual(await where(`${O} o JOIN ${C} c ${on}`, "o.status = 'a'"), "status = VARCHAR a");
  strictEqual(await where(`${O} o, ${C} c`, "o.id = c.k AND o.id = 1"), "id = INTEGER 1");
  strictEqual(await where(`${O} o CROSS JOIN ${C} c`, "o.id = 1"), "id = INTEGER 1");
  strictEqual(await where(`${O} o LEFT JOIN ${C} c ${on}`, "o.status IS NULL"), "status is_null");
  strictEqual(await where(`${C} c LEFT JOIN ${O} o ${on}`, "o.status IS NULL"), "-");
  strictEqual(await where(`${C} c LEFT JOIN ${O} o ${on}`, "o.id IS NULL AND o.status = 'a'"), "status = VARCHAR a");
  strictEqual(
    await where(`${C} c LEFT JOIN ${O} o ${on} AND o.status IS NOT NULL`, "o.id IS NULL"),
    "status is_not_null",
  );
  strictEqual(await where(`${O} o LEFT JOIN ${C} c ${on} AND o.status = 'a'`, "true"), "-");
  strictEqual(await where(`${O} o RIGHT JOIN ${C} c ${on} AND o.status = 'a'`, "true"), "status = VARCHAR a");
  strictEqual(await where(`${O} o FULL JOIN ${C} c ${on} AND o.status = 'a'`, "true"), "-");
  strictEqual(await where(`${O} o FULL JOIN ${C} c ${on}`, "o.status IS NULL"), "-");
  strictEqual(await where(`${C} c SEMI JOIN ${O} o ${on} AND o.status = 'a'`, "true"), "status = VARCHAR a");
  strictEqual(await where(`${O} o ANTI JOIN ${C} c ${on} AND o.status = 'a'`, "true"), "-");
  strictEqual(await where(`${C} c ASOF JOIN ${O} o ON c.k >= o.id`, "o.status = 'a'"), "-");
  strictEqual(await where(`${O} o ASOF JOIN ${C} c ON o.id >= c.k`, "o.status = 'a'"), "status = VARCHAR a");
  strictEqual(await where(`${O} o POSITIONAL JOIN ${C} c`, "o.status = 'a'"), "-");
  strictEqual(await where(`${O} o JOIN ${C} c ${on}`, "status = 'a'"), "-");
});

Deno.test("samples, recursion and a second use of the table leave every row", async () => {
  await each({
    [`SELECT id FROM ${O} TABLESAMPLE 10% WHERE id = 1`]: "id",
    [`SELECT id FROM ${O} WHERE id = 1 USING SAMPLE 10%`]: "id",
    [`SELECT a.id, b.status FROM ${O} a, ${O} b WHERE a.id = 1`]: "a b id status",
    [`SELECT id FROM ${O} WHERE id = 1 AND id IN (SELECT status FROM ${O})`]: "id status",
    [`WITH RECURSIVE t AS (SELECT id FROM ${O} WHERE id = 1 UNION ALL SELECT id + 1 FROM t WHERE id < 3) FROM t`]: "id",
    [`WITH t AS (SELECT id FROM ${O} WHERE id = 1) SELECT a.id FROM t a, t b`]: "id | id = INTEGER 1",
  });
});

Deno.test("several readers get the union of their columns and no predicate; an ephemeral counts for each consumer", async () => {
  const a = pipeline("a", `SELECT id FROM ${O} WHERE id = 1`);
  deepStrictEqual(line(await hints([a])), "id | id = INTEGER 1");
  deepStrictEqual(line(await hints([a, pipeline("b", `SELECT status FROM ${O} WHERE id = 1`)])), "id status");
  deepStrictEqual(line(await hints([a, pipeline("b", `SELECT * FROM ${O}`)])), "all");
  const e = pipeline("e", `SELECT id, ts FROM ${O} WHERE id = 1`, { materialization: "ephemeral" });
  deepStrictEqual(line(await hints([e, pipeline("b", "SELECT id FROM {{ ref('e') }}")])), "id ts | id = INTEGER 1");
  deepStrictEqual(
    line(
      await hints([e, pipeline("b", "SELECT id FROM {{ ref('e') }}"), pipeline("c", "SELECT id FROM {{ ref('e') }}")]),
    ),
    "id ts",
  );
});

Deno.test("a cursor is always read and never filtered on; captured changes are read whole", async () => {
  const sync = { mode: "incremental", cursor: "ts" } as const;
  strictEqual(
    await of(`SELECT id FROM ${O} WHERE ts > TIMESTAMP '2024-01-01' AND id = 1`, { sync }),
    "id ts | id = INTEGER 1",
  );
  strictEqual(await of(`SELECT id FROM ${O} WHERE id = 1`, { sync: { mode: "cdc" } }), "all");
});

Deno.test("SQL that does not parse has no hints", async () => {
  strictEqual(await of(`SELECT id FORM ${O} x y`), "all");
  strictEqual(await of(`SELECT id FROM ${O}; SELECT 1`), "all");
});

Deno.test("hints are part of the id, and an edit that pushes the same keeps it", async () => {
  const id = async (sql: string) => {
    const raw = connection("raw", { o: { name: "o", read: { options: {} }, position: AT } });
    return (await dagOf(project([raw], [pipeline("p", sql)]))).nodes[0]?.id;
  };
  const one = await id(`SELECT id, amount FROM ${O} WHERE id = 1 AND status = 'a'`);
  strictEqual(await id(`SELECT amount + id, status FROM ${O} WHERE status = 'a' AND 1 = id`), one);
  const ids = [
    one,
    await id(`SELECT id, amount FROM ${O} WHERE id = 1`),
    await id(`SELECT * FROM ${O}`),
    await id(`SELECT id FROM ${O}`),
  ];
  strictEqual(new Set(ids).size, 4);
});
