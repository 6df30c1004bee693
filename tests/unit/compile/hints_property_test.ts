import { ok, strictEqual } from "node:assert/strict";
import fc from "fast-check";
import { hintsFor, usesOf } from "../../../src/compile/hints/read_hints.ts";
import { queryTrees } from "../../../src/compile/statements.ts";
import type { Predicate, ReadHints } from "../../../src/compile/mod.ts";
import { type DuckDbConnection, DuckDbError, ident, literal, openDuckDb } from "../../../src/duckdb/mod.ts";
import { columns, connection } from "./support.ts";

const CONTRACTS = {
  orders:
    "id int, cust_id int, amount int, ts timestamp, status varchar, note varchar, pair STRUCT(a INTEGER, status VARCHAR)",
  customers: "id int, name varchar, country varchar, created date",
  events: "id int, kind varchar, v int, ts timestamp, o STRUCT(id INTEGER)",
} as const;
type Table = keyof typeof CONTRACTS;
const TABLES: readonly Table[] = ["orders", "customers", "events"];

const ATOMS: { readonly [alias: string]: readonly string[] } = {
  o: [
    "o.status = 'a'",
    "o.amount > 5",
    "o.amount <= 7",
    "o.status IN ('a', 'b')",
    "o.note IS NULL",
    "o.note IS NOT NULL",
    "o.amount BETWEEN 2 AND 8",
    "o.status <> 'c'",
    "3 < o.id",
    "NOT o.status = 'b'",
    "o.cust_id IS NULL",
    "o.status > 'a'",
    "(o.status = 'a' OR o.amount > 8)",
    "o.ts >= TIMESTAMP '2024-01-05'",
    "o.ts >= '2024-01-05'::DATE",
    "o.amount IN (1, NULL)",
    "o.amount > 2.5",
    "o.pair.a > 2",
    "o.pair.status = 'a'",
    "o.amount IS DISTINCT FROM 3",
    "o.amount = o.id",
    "o.id < 1e1",
  ],
  c: [
    "c.country = 'DE'",
    "c.created > DATE '2024-01-03'",
    "c.name IS NULL",
    "c.name IS NOT NULL",
    "c.country IN ('DE', 'AT')",
    "c.id > 4",
    "c.country <> 'FR'",
    "coalesce(c.country, 'DE') = 'DE'",
    "c.id NOT IN (1, 2)",
    "NOT (c.id BETWEEN 2 AND 3)",
  ],
  e: [
    "e.kind = 'x'",
    "e.v IS NULL",
    "e.v < 5",
    "e.kind IN ('x', 'y')",
    "e.id >= 3",
    "e.o.id = 2",
    "length(e.kind) = 1",
  ],
};

/** Picks from lists; every choice comes from fast-check. */
type Pick = {
  one<T>(items: readonly T[]): T;
  /** Some conditions on an alias, joined by AND. */
  where(...aliases: readonly string[]): string;
};

const JOINS = ["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"];
const SEMI = ["SEMI JOIN", "ANTI JOIN"];
const SETS = ["UNION ALL", "UNION", "EXCEPT", "INTERSECT"];

const SHAPES: readonly ((p: Pick) => string)[] = [
  (p) =>
    `SELECT o.id, c.name FROM {orders} o ${p.one(JOINS)} {customers} c ON o.cust_id = c.id AND ${
      p.where("o", "c")
    } WHERE ${p.where("o", "c")}`,
  (p) =>
    `SELECT o.id, c.name, e.kind FROM {orders} o ${p.one(JOINS)} {customers} c ON o.cust_id = c.id AND ${
      p.where("c")
    } ` +
    `${p.one(JOINS)} {events} e ON e.id = o.id AND ${p.where("e", "c", "o")} WHERE ${p.where("o", "c", "e")}`,
  (p) =>
    `SELECT o.id, c.name, e.kind FROM ({orders} o ${p.one(JOINS)} {customers} c ON o.cust_id = c.id AND ${
      p.where("o", "c")
    }) ` +
    `${p.one(JOINS)} {events} e ON e.id = c.id AND ${p.where("c", "e")} WHERE ${p.where("c", "e")}`,
  (p) =>
    `SELECT o.id, e.kind FROM {orders} o ${p.one(JOINS)} ({customers} c ${p.one(JOINS)} {events} e ON c.id = e.id AND ${
      p.where("c", "e")
    }) ` +
    `ON o.cust_id = c.id AND ${p.where("o", "c", "e")} WHERE ${p.where("o", "c", "e")}`,
  (p) =>
    `SELECT o.id FROM {orders} o ${p.one(SEMI)} {customers} c ON o.cust_id = c.id AND ${p.where("o", "c")} WHERE ${
      p.where("o")
    }`,
  (p) =>
    `SELECT c.id, (SELECT count(*) FROM {orders} o WHERE o.cust_id = c.id AND ${
      p.where("o")
    }) n FROM {customers} c WHERE ${p.where("c")}`,
  (p) =>
    `SELECT c.id FROM {customers} c WHERE ${p.where("c")} AND c.id ${
      p.one(["IN", "NOT IN"])
    } (SELECT o.cust_id FROM {orders} o WHERE ` +
    `${p.where("o")}) AND ${p.one(["", "NOT "])}EXISTS (SELECT 1 FROM {events} e WHERE e.id = c.id AND ${
      p.where("e", "c")
    })`,
  (p) =>
    `WITH p AS (SELECT o.id, o.cust_id, o.amount FROM {orders} o WHERE ${
      p.where("o")
    }) SELECT * FROM p LEFT JOIN {customers} c ON c.id = ` +
    `p.cust_id AND ${p.where("c")} WHERE ${p.where("c")} AND p.amount > 3`,
  (p) =>
    `WITH p AS (SELECT * FROM {orders} o WHERE ${
      p.where("o")
    }) SELECT a.id, b.amount FROM p a, p b WHERE a.id = b.cust_id`,
  (p) =>
    `WITH RECURSIVE r AS (SELECT o.id, o.cust_id FROM {orders} o WHERE ${
      p.where("o")
    } UNION SELECT c.id, r.id FROM r JOIN {customers} c ` +
    `ON c.id = r.cust_id AND ${p.where("c")}) SELECT * FROM r`,
  (p) =>
    `SELECT o.id, row_number() OVER (PARTITION BY o.status ORDER BY o.id) rn, count(*) OVER () n FROM {orders} o WHERE ${
      p.where("o")
    } QUALIFY rn <= 3`,
  (p) =>
    `SELECT o.status, sum(o.amount) FROM {orders} o WHERE ${p.where("o")} GROUP BY o.status HAVING sum(o.amount) > 4`,
  (p) =>
    `SELECT o.id FROM {orders} o WHERE ${p.where("o")} ${p.one(SETS)} SELECT c.id FROM {customers} c WHERE ${
      p.where("c")
    }`,
  (p) => `SELECT o.id FROM {orders} o WHERE ${p.where("o")} EXCEPT SELECT o.id FROM {orders} o WHERE ${p.where("o")}`,
  (p) =>
    `SELECT o.id, e.kind FROM {orders} o ASOF ${
      p.one(["JOIN", "LEFT JOIN"])
    } {events} e ON o.cust_id = e.id AND o.ts >= e.ts WHERE ${p.where("o", "e")}`,
  (p) =>
    `SELECT o.id, l.m FROM {orders} o, LATERAL (SELECT max(c.id) m FROM {customers} c WHERE c.id <= o.cust_id AND ${
      p.where("c", "o")
    }) l WHERE ${p.where("o")}`,
  (p) =>
    `SELECT s.id, c.name FROM (SELECT o.* FROM {orders} o WHERE ${p.where("o")}) s ${
      p.one(JOINS)
    } {customers} c ON s.cust_id = c.id AND ${p.where("c")} WHERE ${p.where("c")}`,
  (p) =>
    `SELECT c1.id, c.id FROM {customers} c1 ${p.one(JOINS)} {customers} c ON c1.id = c.id AND ${p.where("c")} WHERE ${
      p.where("c")
    }`,
  (p) =>
    `SELECT ${p.one(["*", "o.id, c.country", "id", "c.*"])} FROM {orders} o ${
      p.one(JOINS)
    } {customers} c USING (id) WHERE ${p.where("o", "c")}`,
  (p) =>
    `SELECT ${p.one(["*", "count(*)", "o.status"])} FROM {orders} o NATURAL ${p.one(JOINS)} {events} e WHERE ${
      p.where("o", "e")
    }`,
  (p) =>
    `SELECT ${
      p.one([
        "* EXCLUDE (note)",
        "* REPLACE (amount + 1 AS amount)",
        "COLUMNS('.*id')",
        "COLUMNS(x -> x LIKE 'a%')",
        "o",
        "o.pair.a",
        "#1, #2",
        "* RENAME (id AS status)",
      ])
    } FROM {orders} o WHERE ${p.where("o")}`,
  (p) =>
    `SELECT amount * 2 AS status, note AS id, id AS x FROM {orders} WHERE ${
      p.one(["status = 'a'", "status > 4", "id = 3", "id IS NULL", "x > 3", "amount > 3 AND note IS NULL"])
    }`,
  (p) =>
    `SELECT list_transform([1, 2], amount -> amount + id), [x + id FOR x IN [1, 2] IF x > 1] FROM {orders} o WHERE ${
      p.where("o")
    }`,
  (p) =>
    `SELECT t.a, t.b FROM {customers} t(a, b) WHERE ${
      p.one(["t.a > 3", "a > 3", "b IS NULL", "t.id > 3", "t.name IS NULL"])
    }`,
  (p) => `SELECT o.id, e.v FROM {events} e, {orders} o WHERE o.id = e.id AND ${p.where("o", "e")}`,
  (p) => `SELECT o.id FROM {events} o WHERE o.id ${p.one(["= 2", "IS NULL", "> 1"])}`,
  (p) => `SELECT count(*), rowid % 3 FROM {orders} o WHERE ${p.where("o")} GROUP BY 2`,
  (p) =>
    `SELECT a.id, b.id FROM {orders} a POSITIONAL JOIN {customers} b WHERE ${
      p.one(["a.amount > 3", "b.country = 'DE'", "true"])
    }`,
  (p) =>
    `PIVOT (SELECT o.status, o.amount FROM {orders} o WHERE ${p.where("o")}) ON status IN ('a', 'b') USING sum(amount)`,
  (p) =>
    `SELECT DISTINCT ON (o.status) o.status, o.amount FROM {orders} o WHERE ${
      p.where("o")
    } ORDER BY o.status, o.amount, o.id`,
  (p) => `SELECT x.k, (SELECT max(v) FROM {events} e WHERE ${p.where("e")} AND e.id > x.k) FROM (VALUES (1), (2)) x(k)`,
  (p) =>
    `SELECT amount, country FROM {orders}, {customers} WHERE ${
      p.one(["cust_id = {customers}.id", "amount = 3", "country = 'DE'"])
    } AND status = 'a'`,
  (p) =>
    `SELECT CASE WHEN o.amount > 3 THEN (SELECT min(c.id) FROM {customers} c WHERE ${
      p.where("c")
    }) END FROM {orders} o WHERE ${p.where("o")} ORDER BY ALL LIMIT 100`,
];

const queries: fc.Arbitrary<string> = fc.gen().map((g) => {
  const one = <T>(items: readonly T[]) => items[g(fc.nat, { max: items.length - 1 })] as T;
  const where = (...aliases: readonly string[]) => {
    const found = aliases.flatMap((alias) => Array.from({ length: one([0, 1, 1, 2]) }, () => one(ATOMS[alias] ?? [])));
    return found.length === 0 ? "true" : found.join(" AND ");
  };
  return one(SHAPES)({ one, where }).replaceAll(/\{(\w+)\}/g, "staging.src_raw__$1");
});

function entity(table: Table, known: boolean) {
  return {
    connection: connection("raw"),
    entity: table,
    relation: `src_raw__${table}`,
    read: {
      options: {},
      ...(known ? { columns: columns(CONTRACTS[table]) } : {}),
    },
    position: { file: "connections.yml", line: 1, column: 1 },
  };
}

/** What a connector does with hints: columns that it lacks are not asked for. */
function cutView(table: Table, hints: ReadHints | undefined, all: readonly string[]): string {
  const wanted = hints?.columns?.map((name) => name.toLowerCase());
  const list = wanted === undefined ? "*" : all.filter((name) => wanted.includes(name)).map(ident).join(", ");
  const where = hints?.predicate === undefined ? "" : ` WHERE ${predicateSql(hints.predicate, all)}`;
  return `CREATE OR REPLACE VIEW staging.src_raw__${table} AS SELECT ${
    list === "" ? "*" : list
  } FROM main.${table}${where}`;
}

function predicateSql(predicate: Predicate, all: readonly string[]): string {
  if (predicate.op === "and") return predicate.args.map((arg) => predicateSql(arg, all)).join(" AND ");
  if (!all.includes(predicate.column.toLowerCase())) return "true";
  const column = ident(predicate.column);
  switch (predicate.op) {
    case "is_null":
      return `${column} IS NULL`;
    case "is_not_null":
      return `${column} IS NOT NULL`;
    case "in":
      return `${column} IN (${
        predicate.values.map(({ type, text }) => `CAST(${literal(text)} AS ${type})`).join(", ")
      })`;
    default:
      return `${column} ${predicate.op} CAST(${literal(predicate.value.text)} AS ${predicate.value.type})`;
  }
}

async function fill(connection: DuckDbConnection, seed: number): Promise<void> {
  const maybe = (sql: string, salt: number) =>
    `CASE WHEN hash(i * 7 + ${seed * 31 + salt}) % 5 = 0 THEN NULL ELSE ${sql} END`;
  const hash = (factor: number, modulo: number) => `(hash(i * ${factor} + ${seed}) % ${modulo})::INTEGER`;
  await connection.run(
    `CREATE OR REPLACE TABLE main.orders AS SELECT i::INTEGER AS id, ${maybe(hash(1, 9), 1)} AS cust_id, ${
      maybe(hash(3, 10), 2)
    } AS amount, ` +
      `TIMESTAMP '2024-01-01' + to_days(${hash(5, 10)}) AS ts, ${
        maybe(`['a', 'b', 'c'][1 + ${hash(11, 3)}]`, 3)
      } AS status, ` +
      `${maybe("'n' || (hash(i) % 3)", 4)} AS note, {'a': ${hash(13, 5)}, 'status': ['a', 'b'][1 + ${
        hash(17, 2)
      }]} AS pair FROM range(18) t(i)`,
  );
  await connection.run(
    `CREATE OR REPLACE TABLE main.customers AS SELECT i::INTEGER AS id, ${maybe("'c' || i", 5)} AS name, ` +
      `${maybe(`['DE', 'AT', 'FR'][1 + ${hash(19, 3)}]`, 6)} AS country, DATE '2024-01-01' + ${
        hash(23, 8)
      } AS created FROM range(9) t(i)`,
  );
  await connection.run(
    `CREATE OR REPLACE TABLE main.events AS SELECT ${hash(29, 9)} AS id, ${
      maybe(`['x', 'y', 'z'][1 + ${hash(31, 3)}]`, 7)
    } AS kind, ` +
      `${maybe(hash(37, 9), 8)} AS v, TIMESTAMP '2024-01-01' + to_hours((i * 17 + ${seed})::INTEGER) AS ts, ` +
      `CASE WHEN i % 4 = 0 THEN NULL ELSE {'id': ${hash(41, 4)}} END AS o FROM range(14) t(i)`,
  );
}

async function answer(connection: DuckDbConnection, sql: string): Promise<string> {
  const rows = await connection.rows(sql);
  return rows.map((row) => JSON.stringify(row)).sort().join("\n");
}

Deno.test("a query gives the same rows when its sources hold only what its hints ask for", async () => {
  await using database = await openDuckDb({ preserveInsertionOrder: true });
  using connection = await database.connect();
  await connection.run("CREATE SCHEMA staging");
  let compared = 0;

  let narrowed = 0;
  let filtered = 0;
  const names = (table: Table) =>
    CONTRACTS[table].replaceAll(/STRUCT\([^)]*\)/g, "").split(",").map((part) => part.trim().split(" ")[0] ?? "");
  await fc.assert(
    fc.asyncProperty(queries, fc.nat(1000), fc.boolean(), async (sql, seed, known) => {
      if (compared % 20 === 0) await fill(connection, seed);
      for (const table of TABLES) await connection.run(cutView(table, undefined, names(table)));
      let expected: string;
      try {
        expected = await answer(connection, sql);
      } catch (error) {
        if (error instanceof DuckDbError) {
          return;
        }
        throw error;
      }
      compared++;
      const [tree] = await queryTrees(connection, [sql]);
      const read = TABLES.filter((table) => sql.includes(`src_raw__${table}`)).map((table) => ({
        table,
        source: entity(table, known),
      }));
      const uses = usesOf(tree, read.map(({ source }) => source));
      const told: string[] = [];
      for (const { table, source } of read) {
        const use = uses.get(source.relation);
        const hints = hintsFor(source, use === undefined ? [] : [use]);
        if (hints?.columns !== undefined) narrowed++;
        if (hints?.predicate !== undefined) filtered++;
        told.push(`${table}: ${JSON.stringify(hints)}`);
        await connection.run(cutView(table, hints, names(table)));
      }
      const actual = await answer(connection, sql).catch((error: unknown) => String(error));
      strictEqual(actual, expected, `${sql}\n${told.join("\n")}`);
    }),
    { numRuns: Number(Deno.env.get("PZ_HINT_RUNS") ?? 150) },
  );
  // Hints that say nothing would pass too.
  ok(narrowed > compared / 4, `${narrowed} of ${compared} narrowed`);
  ok(filtered > compared / 8, `${filtered} of ${compared} filtered`);
});
