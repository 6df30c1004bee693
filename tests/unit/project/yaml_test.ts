import assert from "node:assert/strict";
import { noProblems } from "../../../src/project/problems.ts";
import { parseYaml } from "../../../src/project/yaml_parse.ts";
import { entryOf, valueMapOf, type YamlMap } from "../../../src/project/yaml_node.ts";
import { errorsOf, loaded, place, plain } from "./helpers.ts";

/** The file's values, or its problems. */
function read(text: string): unknown {
  const problems = noProblems();
  const root = parseYaml(text, "f.yml", problems);
  const values = root === undefined ? undefined : valueMapOf(root.entries, problems);
  return problems.errors.length > 0 ? problems.errors.map(place) : plain(values);
}

function rootOf(text: string): YamlMap {
  const root = parseYaml(text, "f.yml", noProblems());
  assert.ok(root !== undefined);
  return root;
}

Deno.test("an empty file, one with comments only and a null root are empty maps", () => {
  for (const text of ["", "\n\n", "# nothing\n", "~\n", "null\n", "---\n", "--- # c\n...\n"]) {
    assert.deepEqual(read(text), {}, text);
  }
});

Deno.test("only plain scalars are typed; quoted and block ones are text", () => {
  assert.deepEqual(read(`a: 5\nb: "5"\nc: '5'\nd: |\n  5\ne: >-\n  5\nf: !!str 5\ng: !!int "5"\n`), {
    a: 5n,
    b: "5",
    c: "5",
    d: "5\n",
    e: "5",
    f: "5",
    g: 5n,
  });
});

Deno.test("yes, no, null, dates and numbers with leading zeros stay text", () => {
  assert.deepEqual(read("a: yes\nb: null\nc: ~\nd: 2026-01-01\ne: 0123\nf: True\n"), {
    a: "yes",
    b: "null",
    c: "~",
    d: "2026-01-01",
    e: "0123",
    f: "True",
  });
});

Deno.test("a key with no body is the empty text", () => {
  assert.deepEqual(read("a:\nb: {c: , d}\ne:\n  - \n"), { a: "", b: { c: "", d: "" }, e: [""] });
});

Deno.test("a file that is no map is refused where its content starts", () => {
  assert.deepEqual(read("# c\n- a\n"), ["PZ0101 f.yml:2:1 The file must hold a map of keys, not a list"]);
  assert.deepEqual(read("  text\n"), ["PZ0101 f.yml:1:3 The file must hold a map of keys, not a text"]);
  assert.deepEqual(read(`"null"\n`), ["PZ0101 f.yml:1:1 The file must hold a map of keys, not a text"]);
});

Deno.test("a second document is refused at its separator", () => {
  assert.deepEqual(read("a: 1\n---\nb: 2\n"), ["PZ0101 f.yml:2:1 A second YAML document starts here"]);
  assert.deepEqual(read("a: x---\n--- {}\n"), ["PZ0101 f.yml:2:1 A second YAML document starts here"]);
  assert.deepEqual(read("a: 1\n...\nb: 2\n"), ["PZ0101 f.yml:3:1 A second YAML document starts here"]);
});

Deno.test("a key that stands twice is refused at the second place", () => {
  assert.deepEqual(read("a: 1\nb: {c: 1, c: 2}\na: 2\n"), [
    "PZ0101 f.yml:2:11 The key 'c' stands here a second time",
    "PZ0101 f.yml:3:1 The key 'a' stands here a second time",
  ]);
});

Deno.test("aliases and merge keys are honoured, and an explicit key wins over a merged one", () => {
  const text = "base: &b {x: 1, y: 2}\nother: &o {y: 3, z: 4}\n" +
    "a: *b\nm: {<<: *b, y: 9}\nn: {y: 8, <<: [*b, *o]}\n";
  assert.deepEqual(read(text), {
    base: { x: 1n, y: 2n },
    other: { y: 3n, z: 4n },
    a: { x: 1n, y: 2n },
    m: { x: 1n, y: 9n },
    n: { y: 8n, x: 1n, z: 4n },
  });
  assert.deepEqual(read(`"<<": {a: 1}\n`), { "<<": { a: 1n } });
  assert.deepEqual(read("- &k x\n".replace("- ", "a: ") + "*k : 3\n"), { a: "x", x: 3n });
});

Deno.test("an anchor that is defined again stands for its newest value", () => {
  assert.deepEqual(read("a: &x 1\nb: *x\nc: &x 2\nd: *x\n"), { a: 1n, b: 1n, c: 2n, d: 2n });
});

Deno.test("unknown aliases, cycles and merges of something else are refused at their place", () => {
  assert.deepEqual(read("a: *x\n"), ["PZ0101 f.yml:1:4 The alias '*x' stands for no anchor above it"]);
  assert.deepEqual(read("a: &x [1, *x]\n"), ["PZ0101 f.yml:1:11 The alias '*x' stands inside its own anchor"]);
  assert.deepEqual(read("a: &x {b: {c: *x}}\n"), ["PZ0101 f.yml:1:15 The alias '*x' stands inside its own anchor"]);
  assert.deepEqual(read("a: {<<: 5}\n"), ["PZ0101 f.yml:1:5 '<<' takes a map, or a list of maps"]);
});

Deno.test("an alias bomb is refused without being expanded", () => {
  const lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"];
  for (let i = 1; i < 30; i++) lines.push(`a${i}: &a${i} [${Array(10).fill(`*a${i - 1}`).join(", ")}]`);
  const errors = read(lines.join("\n"));
  assert.ok(Array.isArray(errors));
  assert.deepEqual(errors.map((text) => String(text).replace(/:\d+:\d+/, "")), [
    "PZ0101 f.yml The aliases expand to more than 1000000 values",
  ]);
});

Deno.test("absurdly deep nesting is an error of the file", () => {
  const errors = read(`a: ${"[".repeat(5_000)}${"]".repeat(5_000)}\n`);
  assert.ok(Array.isArray(errors));
  assert.match(String(errors[0]), /^PZ0101 f\.yml\S* The YAML is nested too deeply to be read$/);
});

Deno.test("a forgotten space after a colon is named", () => {
  assert.deepEqual(read("a: {id:bigint, b: c}\n"), ["PZ0101 f.yml:1:5 'id:bigint' is one key without a value"]);
});

Deno.test("keys that are no text and foreign tags are refused", () => {
  assert.deepEqual(read("? [a]\n: b\n"), ["PZ0101 f.yml:1:3 A key must be a plain text"]);
  assert.deepEqual(read("a: {{ x }}\n"), ["PZ0101 f.yml:1:5 A key must be a plain text"]);
  assert.deepEqual(read("a: !secret x\n"), ["PZ0101 f.yml:1:12 The tag '!secret' is not supported"]);
});

Deno.test("a syntax error has a place, and no text of the file in it", () => {
  const cases: [string, string][] = [
    ["a: 1\n\tb: 2\n", "2:1"],
    ["password: 'hunter2\n", "2:1"],
    ["password: hunter2: x\n", "1:11"],
    ["password: @hunter2\n", "1:11"],
    ["a: [hunter2\nb: 1\n", "2:1"],
    ['a: "hunter2\\q"\n', "1:12"],
    ["- hunter2\nhunter2: hunter2\n", "2:1"],
    ["a: {h: ${hunter2}}\n", "1:9"],
  ];
  for (const [text, at] of cases) {
    const errors = read(text);
    assert.ok(Array.isArray(errors), text);
    const [first] = errors.map(String);
    assert.ok(first?.startsWith(`PZ0101 f.yml:${at} `), `${text} gives ${first}`);
    assert.ok(!errors.join().includes("hunter2"), errors.join());
  }
});

Deno.test("a number with too many digits is refused instead of rounded", () => {
  const message = "The number '0.12345678901234567890' has more digits than can be kept exactly";
  assert.deepEqual(read("a: [0.12345678901234567890]\n"), [`PZ0137 f.yml:1:5 ${message}`]);
  assert.deepEqual(read("a: '0.12345678901234567890'\n"), { a: "0.12345678901234567890" });
});

Deno.test("lines and columns count from 1, in UTF-16 units, with CRLF too", () => {
  const root = rootOf("a: 1\r\nb:\r\n  'ü🙂': x\r\n");
  const b = entryOf(root, "b");
  assert.deepEqual(b?.position, { file: "f.yml", line: 2, column: 1 });
  const inner = b?.value.kind === "map" ? b.value.entries[0] : undefined;
  assert.deepEqual(inner?.position, { file: "f.yml", line: 3, column: 3 });
  assert.deepEqual(inner?.value.position, { file: "f.yml", line: 3, column: 10 });
});

Deno.test("a byte-order mark, CRLF and UTF-16 make no difference", async () => {
  const text = "\ufeffname: dämo\r\nversion: 1.0.0\r\n";
  const utf16 = (littleEndian: boolean): Uint8Array => {
    const view = new DataView(new ArrayBuffer(text.length * 2));
    for (let i = 0; i < text.length; i++) view.setUint16(i * 2, text.charCodeAt(i), littleEndian);
    return new Uint8Array(view.buffer);
  };
  for (const content of [text, utf16(true), utf16(false)]) {
    const { name, version } = await loaded({ "project.yml": content });
    assert.deepEqual([name, version], ["dämo", "1.0.0"]);
  }
});

Deno.test("bytes that are no text are refused at their place", async () => {
  const broken = new Uint8Array([...new TextEncoder().encode("name: a\nversion: "), 0xff]);
  assert.deepEqual(await errorsOf({ "project.yml": broken }), [
    "PZ0101 project.yml:2:10 The file is not valid UTF-8 text",
  ]);
  const wide = new Uint8Array([...new TextEncoder().encode("name: a\nversion: 1\n")].flatMap((byte) => [byte, 0]));
  assert.deepEqual(await errorsOf({ "project.yml": wide }), ["PZ0101 project.yml:1:2 The file holds a NUL character"]);
});

Deno.test("names of Object's own members are keys like any other", () => {
  const values = read("__proto__: {a: 1}\nconstructor: x\n");
  assert.deepEqual(Object.keys(values ?? {}), ["__proto__", "constructor"]);
});

Deno.test("a problem behind an alias is named for each key that it stands behind", async () => {
  const connections = "a:\n  connector: x\n  retry: &r {max_attempts: 0}\nb: {connector: x, retry: *r}\n";
  assert.deepEqual(
    (await errorsOf({ "connections.yml": connections })).map((text) => text.split(" must ")[0]),
    [
      "PZ0121 connections.yml:3:28 'a.retry.max_attempts'",
      "PZ0121 connections.yml:3:28 'b.retry.max_attempts'",
    ],
  );
});

Deno.test("many problems are all reported, in time that grows with their number", async () => {
  const tags = Array.from({ length: 5_000 }, () => "[x]").join(", ");
  const errors = await errorsOf({ "pipelines/x.sql": "", "pipelines/configs/x.yml": `pipeline: x\ntags: [${tags}]\n` });
  assert.equal(errors.length, 5_000);
});
