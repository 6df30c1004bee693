import assert from "node:assert/strict";
import fc from "fast-check";
import { rawText, stringOf } from "../../../../src/connectors/builtin/http/json_text.ts";
import { JsonError, JsonTokens, TOKEN, type Token } from "../../../../src/connectors/builtin/http/json_tokens.ts";

const ENCODER = new TextEncoder();

/** All tokens of a text that comes in pieces of these sizes, in turn, each with what it stands for. */
function tokensOf(text: string, sizes: readonly number[], many = false): (readonly [Token, string])[] {
  const tokens = new JsonTokens({ limit: 1 << 20, many });
  const bytes = ENCODER.encode(text);
  const found: (readonly [Token, string])[] = [];
  let at = 0;
  for (let turn = 0;; turn++) {
    for (let token = tokens.next(); token !== TOKEN.more; token = tokens.next()) {
      if (token === TOKEN.end) return found;
      const { bytes: inside, start, end, isEscaped } = tokens;
      const isText = token === TOKEN.key || token === TOKEN.string;
      found.push([token, isText ? stringOf(inside, start, end, isEscaped) : rawText(inside, start, end)]);
    }
    if (at >= bytes.length) tokens.finish();
    else {
      const size = sizes[turn % sizes.length] ?? 1;
      tokens.push(bytes.slice(at, at + size));
      at += size;
    }
  }
}

/** The value that tokens mean. */
function valueOf(tokens: readonly (readonly [Token, string])[]): unknown {
  let at = 0;
  const value = (): unknown => {
    const [token, text] = tokens[at++] ?? [TOKEN.end, ""];
    switch (token) {
      case TOKEN.objectStart: {
        const members: [string, unknown][] = [];
        while (tokens[at]?.[0] !== TOKEN.objectEnd) members.push([tokens[at++]?.[1] ?? "", value()]);
        at++;
        return Object.fromEntries(members);
      }
      case TOKEN.arrayStart: {
        const items: unknown[] = [];
        while (tokens[at]?.[0] !== TOKEN.arrayEnd) items.push(value());
        at++;
        return items;
      }
      case TOKEN.string:
        return text;
      case TOKEN.number:
        return Number(text);
      default:
        return token === TOKEN.null ? null : token === TOKEN.true;
    }
  };
  return value();
}

const SIZES = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 });

Deno.test("JSON cut anywhere gives what JSON.parse gives of the whole", () => {
  fc.assert(
    fc.property(
      fc.jsonValue({ stringUnit: "grapheme" }),
      fc.integer({ min: 0, max: 2 }),
      SIZES,
      (value, indent, sizes) => {
        const text = JSON.stringify(value, undefined, indent);
        assert.deepEqual(valueOf(tokensOf(text, sizes)), JSON.parse(text));
      },
    ),
  );
});

Deno.test("texts near JSON are taken and refused as JSON.parse does", () => {
  const piece = fc.constantFrom(
    ...'{}[],:"\\ \n\t01-+.eEtrufalsn/b',
    '"a"',
    "true",
    "null",
    "1.5",
    "\\u00e4",
    "\\ud83d",
    "\u0001",
    "ä",
    '{"k":',
    "[1,",
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join("")), SIZES, (text, sizes) => {
      let expected: unknown;
      try {
        expected = JSON.parse(text);
      } catch {
        assert.throws(() => tokensOf(text, sizes), JsonError, JSON.stringify(text));
        return;
      }
      if (!JSON.stringify(expected).includes("\\ud83d")) assert.deepEqual(valueOf(tokensOf(text, sizes)), expected);
    }),
    { numRuns: 3000 },
  );
});

Deno.test("the digits of a number stay as they came", () => {
  const numbers = ["9007199254740993", "-0", "1.10", "123456789012345678901234567890.123456789", "1E+400", "5e-7"];
  assert.deepEqual(tokensOf(`[${numbers.join(",")}]`, [3]).slice(1, -1).map(([, text]) => text), numbers);
});

Deno.test("lines of JSON are values one after the other", () => {
  assert.deepEqual(tokensOf('{"a":1}\n\n{"a":2} 3\n', [2], true).map(([, text]) => text), [
    "{",
    "a",
    "1",
    "}",
    "{",
    "a",
    "2",
    "}",
    "3",
  ]);
  assert.deepEqual(tokensOf("", [1], true), []);
});

Deno.test("what ends too early says that it was cut, what is wrong says where", () => {
  const error = (text: string, many = false) => {
    try {
      tokensOf(text, [4], many);
    } catch (thrown) {
      if (thrown instanceof JsonError) return [thrown.message, thrown.isCut];
    }
    return undefined;
  };
  assert.deepEqual(error('{"a": [1, 2'), ["it ends in the middle", true]);
  assert.deepEqual(error('"never closed'), ["it ends in the middle", true]);
  assert.deepEqual(error('{"a":1}\n{"a"', true), ["it ends in the middle", true]);
  assert.deepEqual(error(""), ["it is empty", true]);
  assert.deepEqual(error("<html>"), ["'<' stands where a value should, at byte 1", false]);
  assert.deepEqual(error('{"a" 1}'), ["'1' stands where a colon should, at byte 6", false]);
  assert.deepEqual(error("[1 2]"), ["'2' stands where a comma or the end of the array should, at byte 4", false]);
  assert.deepEqual(error("[] []"), ["'[' stands where nothing behind the value should, at byte 4", false]);
  assert.deepEqual(error('["\\ud800"]'), ["a text holds half of a surrogate pair", false]);
  assert.deepEqual(error("[".repeat(600)), ["values stand in more than 512 others", false]);
  assert.deepEqual(error("9".repeat(5000)), ["a number has more than 4096 digits, at byte 1", false]);
});

Deno.test("a value that never ends is refused when it has grown too long, and memory with it", () => {
  const tokens = new JsonTokens({ limit: 1 << 20 });
  const chunk = ENCODER.encode("x".repeat(1 << 16));
  tokens.push(ENCODER.encode('{"a": "'));
  for (let token = tokens.next(); token !== TOKEN.more; token = tokens.next());
  let pushed = 0;
  assert.throws(() => {
    for (; pushed < 1000; pushed++) {
      tokens.push(chunk);
      assert.equal(tokens.next(), TOKEN.more);
    }
  }, /more than 1048576 bytes/);
  assert.ok(pushed <= 18, `${pushed} pieces`);
  assert.ok(tokens.bytes.length <= 4 << 20);
});
