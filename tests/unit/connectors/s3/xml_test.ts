import assert from "node:assert/strict";
import fc from "fast-check";
import { elements, escapeXml, parseXml, textOf } from "../../../../src/connectors/builtin/s3/xml.ts";

Deno.test("the texts of a document come as they were put in, entities and all", () => {
  const text = fc.string({ unit: "grapheme" }).filter((value) => [...value].every((letter) => letter >= " "));
  fc.assert(fc.property(fc.array(text, { maxLength: 5 }), (texts) => {
    const inner = texts.map((value) => `<Key a="1>2">${escapeXml(value)}</Key>`).join("\n ");
    const root = parseXml(`<?xml version="1.0"?>\n<!-- <x> --><s3:List xmlns="http://a/">${inner}<Empty/></s3:List>`);
    assert.equal(root?.name, "List");
    assert.deepEqual(elements(root, "Key").map((key) => key.text), texts);
    assert.equal(textOf(root, "Empty"), "");
  }));
});

Deno.test("attributes, CDATA and numbers of letters are understood, unknown entities stay", () => {
  const root = parseXml("<a><b>&#38;&#x1F600;&lt;&nope;<![CDATA[<&amp;>]]></b></a>");
  assert.equal(textOf(root, "b"), "&😀<&nope;<&amp;>");
});

Deno.test("what is no whole document is none, and nothing is too long for an answer", () => {
  for (const bad of ["", "text", "<a>", "<a></b>", "<a/></a>", "<a><b></a></b>", "</a>", "<a", "<html><br></html>"]) {
    assert.ok(parseXml(bad) === undefined, bad);
  }
  assert.equal(parseXml(`${"<a>".repeat(100)}${"</a>".repeat(100)}`), undefined);
  fc.assert(fc.property(fc.string(), (text) => void parseXml(text)));
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom("<", ">", "/", "a", "!", "-", "[", "&", ";", "?") }),
      (text) => void parseXml(text),
    ),
  );
});
