import assert from "node:assert/strict";
import fc from "fast-check";
import { ident, literal } from "../../../../src/connectors/builtin/mysql/name.ts";
import { SqlWriter } from "../../../../src/connectors/builtin/mysql/sql_writer.ts";
import { renderPredicate } from "../../../../src/connectors/builtin/mysql/predicate.ts";
import { readRule } from "../../../../src/connectors/builtin/mysql/read_types.ts";
import { toTrouble } from "../../../../src/connectors/builtin/mysql/trouble.ts";
import { ConnectorError, type Predicate } from "../../../../src/connectors/mod.ts";
import { Schema } from "../../../../src/util/arrow.ts";

/** What the server makes of a literal's bytes. */
function unquoted(bytes: Uint8Array): number[] {
  assert.deepEqual([bytes[0], bytes.at(-1)], [0x27, 0x27]);
  const inside = [...bytes.subarray(1, -1)];
  const out: number[] = [];
  for (let at = 0; at < inside.length; at++) {
    const byte = inside[at] ?? 0;
    assert.notEqual(byte, 0x27, "a quote ends the literal");
    if (byte !== 0x5c) out.push(byte);
    else {
      at++;
      out.push(inside[at] === 0x30 ? 0 : inside[at] ?? -1);
    }
  }
  return out;
}

Deno.test("bytes between quotes are what they were, and never end the literal", () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
    const writer = new SqlWriter();
    writer.quoted(bytes);
    assert.deepEqual(unquoted(writer.text()), [...bytes]);
  }));
});

Deno.test("a statement that is taken in two pieces loses nothing", () => {
  const writer = new SqlWriter();
  writer.sql("SELECT 'ä€😀'");
  const before = writer.size;
  for (let count = 0; count < 50_000; count++) writer.ascii(`,${count}`);
  const whole = writer.text().slice();
  const first = writer.take(before).slice(5);
  const rest = writer.take().slice(5);
  assert.deepEqual([...first, ...rest], [...whole]);
  assert.equal(writer.size, 0);
});

Deno.test("names and texts are quoted so that they can't end early", () => {
  assert.equal(ident("a`b"), "`a``b`");
  assert.equal(literal("it's \\ \0"), "'it''s \\\\ \\0'");
});

Deno.test("a predicate's texts can't leave their literals, and what is no number is left out", () => {
  const field = (name: string, type: number, collation: number) => ({
    name,
    type,
    collation,
    flags: 0,
    length: 11,
    decimals: 0,
    extended: undefined,
  });
  const columns = [field("i", 3, 63), field("t", 253, 45)].map((info) => ({
    name: info.name,
    rule: readRule(info, undefined),
  }));
  const dataset = {
    relation: { sql: "`t`", table: "t", name: '"t"' },
    columns,
    wanted: columns,
    schema: new Schema([]),
  };
  const render = (predicate: Predicate) => renderPredicate(predicate, dataset);
  const text = render({ op: "=", column: "t", value: { type: "VARCHAR", text: "x' OR 1=1 -- \\" } });
  assert.match(text ?? "", /^`t` = 'x'' OR 1=1 -- \\\\' AND /);
  assert.equal(render({ op: "=", column: "i", value: { type: "INTEGER", text: "1; DROP" } }), undefined);
  assert.equal(render({ op: "<", column: "t", value: { type: "VARCHAR", text: "a" } }), undefined);
  assert.equal(render({ op: "=", column: "t", value: { type: "INTEGER", text: "1" } }), undefined);
  assert.equal(render({ op: "=", column: "nope", value: { type: "INTEGER", text: "1" } }), undefined);
});

Deno.test("the server's errors are told apart, and no value of a row is repeated", () => {
  const server = (errno: number, sqlMessage: string) =>
    Object.assign(new Error(sqlMessage), { errno, sqlMessage, sqlState: "HY000" });
  const told = (errno: number, message: string) => {
    const error = toTrouble(server(errno, message), 'Writing "t"');
    assert.ok(error instanceof ConnectorError);
    return error;
  };
  for (const errno of [1040, 1053, 1205, 1213, 2006, 2013]) {
    assert.equal(told(errno, "x").transient, true, String(errno));
  }
  for (const errno of [1045, 1049, 1062, 1064, 1146, 1264]) {
    assert.equal(told(errno, "x").transient, false, String(errno));
  }
  const messages = [
    told(1062, "Duplicate entry 'secret's own-7' for key 'PRIMARY'"),
    told(1366, "Incorrect string value: '\\xE6secret' for column `d`.`t`.`x` at row 3"),
    told(1292, "Incorrect datetime value: 'secret' for column `d`.`t`.`x` at row 1"),
  ].map(({ message }) => message).join("\n");
  assert.doesNotMatch(messages, /secret/);
  assert.match(messages, /for key 'PRIMARY'/);
  assert.match(messages, /column `d`.`t`.`x`/);
  const lost = toTrouble(Object.assign(new Error("x"), { code: "ECONNRESET" }), 'Reading "t"');
  assert.ok(lost instanceof ConnectorError && lost.transient);
  const other = new Error("a bug");
  assert.equal(toTrouble(other, "x"), other);
});
