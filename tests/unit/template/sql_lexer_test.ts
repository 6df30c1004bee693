import assert from "node:assert/strict";
import fc from "fast-check";
import { SqlLexer } from "../../../src/template/sql_lexer.ts";

function placeAfter(sql: string): string {
  const lexer = new SqlLexer();
  lexer.feed(sql);
  return lexer.place;
}

Deno.test("The lexer knows the place behind every kind of text and comment", () => {
  const places: readonly (readonly [string, string])[] = [
    ["", "code"],
    ["SELECT 'a''b", "text"],
    ["SELECT 'a''b'", "code"],
    ["'a\\'", "code"],
    ["E'a\\'", "escape text"],
    ["E'a\\\\'", "code"],
    ["nameE'a\\'", "code"],
    ["a.E'\\'", "escape text"],
    ["E'a' -- b\n'\\'", "escape text"],
    ["E'a' '\\'", "code"],
    ["x'ab", "bit text"],
    ["U&'a", "unicode text"],
    ['u&"a', "unicode identifier"],
    ["U& 'a", "text"],
    ["U&'a''b", "unicode text"],
    ['U&"a""b', "unicode identifier"],
    ["U&'a'\n'b", "unicode text"],
    ["x'a'\n'b", "bit text"],
    ["x'a''b", "text"],
    ["E'a''b\\'", "escape text"],
    ['"a""b', "identifier"],
    ["a -- b", "line comment"],
    ["a -- b\r", "code"],
    ["a - - b", "code"],
    ["/* a /* b */ c", "block comment"],
    ["/* a /* b */ c */", "code"],
    ["/*/", "block comment"],
    ["$$ a $b$ ' ", "dollar text"],
    ["$$ a $b$$", "code"],
    ["$tag$ a $$ $tag $tag$", "code"],
    ["$1 '", "text"],
    ["a$b$ '", "text"],
    ["1E'a", "unclear"],
    ["\u00a0E'a", "unclear"],
    ["$\u00a0$", "unclear"],
    ["1$$", "unclear"],
  ];
  for (const [sql, place] of places) assert.equal(placeAfter(sql), place, sql);
});

Deno.test("The place doesn't depend on where the SQL is cut into pieces", () => {
  const text = fc.array(fc.constantFrom("'", '"', "\\", "-", "/", "*", "$", "E", "1", "a", " ", "\n", "é"), {
    maxLength: 20,
  });
  fc.assert(fc.property(text, fc.nat({ max: 20 }), (characters, cut) => {
    const lexer = new SqlLexer();
    lexer.feed(characters.slice(0, cut).join(""));
    const copy = lexer.copy();
    copy.feed(characters.slice(cut).join(""));
    assert.equal(copy.place, placeAfter(characters.join("")));
  }));
});
