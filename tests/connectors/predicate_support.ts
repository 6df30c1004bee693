import assert from "node:assert/strict";
import fc from "fast-check";
import type { DatasetSpec, Predicate } from "../../src/connectors/mod.ts";
import { ingestArrow } from "../../src/staging/mod.ts";
import { type OpenedConnector, withDuck } from "./database_support.ts";

/** Of each column: the DuckDB type of what it is compared with, and values. */
export type Compared = { readonly [column: string]: readonly [string, readonly string[]] };

function predicates(values: Compared): fc.Arbitrary<Predicate> {
  const leaf = fc.constantFrom(...Object.keys(values)).chain((column) => {
    const [type, texts] = values[column] ?? assert.fail();
    const value = fc.constantFrom(...texts).map((text) => ({ type, text }));
    return fc.oneof(
      fc.record({ op: fc.constantFrom("=", "<>", "<", "<=", ">", ">="), column: fc.constant(column), value }),
      fc.record({
        op: fc.constant("in"),
        column: fc.constant(column),
        values: fc.array(value, { minLength: 1, maxLength: 3 }),
      }),
      fc.record({ op: fc.constantFrom("is_null", "is_not_null"), column: fc.constant(column) }),
    );
  });
  return fc.array(leaf, { minLength: 1, maxLength: 3 }).map((args) => ({ op: "and", args }) as Predicate);
}

/**
 * Reads a dataset under predicates of all kinds and compares with what DuckDB's own filter leaves of the whole; at least
 * one of them must have made the system send fewer rows.
 */
export async function comparePredicates(
  opened: OpenedConnector,
  spec: (predicate?: Predicate) => DatasetSpec,
  values: Compared,
): Promise<void> {
  const whole = await opened.read(spec());
  const total = whole.batches.reduce((sum, batch) => sum + batch.numRows, 0);
  let fewer = 0;
  await withDuck(async (connection) => {
    await ingestArrow(connection, "whole", whole.schema, toAsync(whole.batches), {});
    let run = 0;
    await fc.assert(
      fc.asyncProperty(predicates(values), async (predicate) => {
        const name = `part_${run++}`;
        const part = await opened.read(spec(predicate));
        await ingestArrow(connection, name, part.schema, toAsync(part.batches), {});
        const where = duckSql(predicate);
        const rows = (table: string) =>
          connection.rows(`SELECT COLUMNS(*)::VARCHAR FROM staging.${table} WHERE ${where} ORDER BY ALL`);
        assert.deepEqual(await rows(name), await rows("whole"));
        if (part.batches.reduce((sum, batch) => sum + batch.numRows, 0) < total) fewer++;
      }),
      { numRuns: 60 },
    );
  });
  assert.ok(fewer > 0, "no predicate ever reached the system");
}

async function* toAsync<T>(items: Iterable<T>): AsyncGenerator<T> {
  for (const item of items) yield await Promise.resolve(item);
}

function duckSql(predicate: Predicate): string {
  const text = ({ type, text }: { readonly type: string; readonly text: string }) =>
    `'${text.replaceAll("'", "''")}'::${type}`;
  switch (predicate.op) {
    case "and":
      return predicate.args.map((arg) => `(${duckSql(arg)})`).join(" AND ");
    case "in":
      return `"${predicate.column}" IN (${predicate.values.map(text).join(", ")})`;
    case "is_null":
      return `"${predicate.column}" IS NULL`;
    case "is_not_null":
      return `"${predicate.column}" IS NOT NULL`;
    default:
      return `"${predicate.column}" ${predicate.op} ${text(predicate.value)}`;
  }
}
