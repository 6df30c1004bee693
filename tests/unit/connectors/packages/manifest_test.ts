import assert from "node:assert/strict";
import { type Schema, Validator } from "@cfworker/json-schema";
import { manifestSchema } from "../../../../src/connectors/packages/manifest_schema.ts";
import { filesOf, parseManifest } from "../../../../src/connectors/packages/manifest.ts";
import { isPackagePath } from "../../../../src/connectors/packages/package_path.ts";
import { formatError } from "../../../../src/errors/mod.ts";
import { manifestText, problemsOf } from "./package_support.ts";

function problems(changes: { readonly [key: string]: unknown }): readonly string[] {
  return problemsOf(parseManifest(manifestText(changes), "m.json"));
}

Deno.test("a manifest says what runs, what it can and which files it has", () => {
  const manifest = parseManifest(
    manifestText({
      capabilities: ["Merge", "ReplaceWrites"],
      connection: { properties: { url: { type: "string" } }, required: ["url"] },
      write: { properties: { table: {} } },
      files: ["data.json"],
      permissions: { net: ["{url}"] },
    }),
    "m.json",
  );
  assert.ok("name" in manifest);
  assert.deepEqual([manifest.name, manifest.version], ["acme", "1.2.0"]);
  assert.deepEqual(manifest.runtime, { kind: "deno", entry: "connector.js" });
  assert.deepEqual([...manifest.capabilities], ["Merge", "ReplaceWrites"]);
  assert.deepEqual(manifest.connection.required, ["url"]);
  assert.deepEqual(filesOf(manifest), ["pz.connector.json", "connector.js", "data.json"]);
});

Deno.test("what is no JSON object is no manifest", () => {
  for (const text of ["[]", "null", '"x"']) {
    assert.deepEqual(problemsOf(parseManifest(text, "m.json")), ["PZ0306: the manifest is no JSON object"], text);
  }
});

Deno.test("a manifest that is no JSON is told with the place where it breaks", () => {
  const places = ["", '{\n  "name": "a",\n  oops\n}', '{\n  "name": "a"'].map((text) => {
    const parsed = parseManifest(text, "m.json");
    return "name" in parsed ? parsed.name : parsed.map((error) => formatError(error).replace(/ — .*/, ""));
  });
  assert.deepEqual(places, [
    ["PZ0306: the manifest is no JSON: it ends too early (m.json:1:1)"],
    ["PZ0306: the manifest is no JSON (m.json:3:3)"],
    places[2],
  ]);
  assert.match(String(places[2]), /^PZ0306: the manifest is no JSON.*\(m\.json:2:14\)$/);
});

Deno.test("every problem of a manifest is told, with the nearest known word", () => {
  const parsed = parseManifest(
    manifestText({ nme: "x", name: "Acme!", version: "1", capabilities: ["Mergee", "NativeScan"], permisions: {} }),
    "m.json",
  );
  assert.ok(!("name" in parsed));
  assert.deepEqual(parsed.map(({ code, hint }) => `${code} ${hint ?? ""}`), [
    `PZ0306 did you mean "name"?`,
    `PZ0306 did you mean "permissions"?`,
    "PZ0306 ",
    "PZ0306 ",
    `PZ0306 did you mean "Merge"?`,
    "PZ0306 remove it",
  ]);
});

Deno.test("a manifest for another protocol, or for gRPC, is refused", () => {
  assert.deepEqual(problems({ protocol: 2 }), ['PZ0306: "protocol" is 2: this pz speaks 1']);
  assert.deepEqual(problems({ protocol: undefined }), ['PZ0306: "protocol" is missing: this pz speaks 1']);
  assert.match(problems({ protocolMajorMin: 1 }).join(), /^PZ0700: the package speaks gRPC/);
});

Deno.test("a package of which nothing can run is refused", () => {
  for (
    const changes of [
      { entry: undefined },
      { entry: "connector.ts" },
      { entrypoints: { any: "x" } },
      { runtime: "dotnet" },
      { runtime: "process", entry: undefined },
      { runtime: "process", entry: undefined, entrypoints: {} },
      { runtime: "process", entry: undefined, entrypoints: { "linux-x86": "x" } },
      { runtime: "process", entrypoints: { any: "x" } },
    ]
  ) {
    const found = problems(changes);
    assert.ok(found.length > 0 && found.every((text) => text.startsWith("PZ0354")), JSON.stringify([changes, found]));
  }
  assert.deepEqual(problems({ runtime: "process", entry: undefined, entrypoints: { any: "x" } }), []);
});

Deno.test("paths of a package stay in it", () => {
  for (const path of ["/etc/passwd", "../x.js", "a/../../x.js", "a//b.js", "a\\b.js", "C:/x.js", "./x.js", "", "a/."]) {
    assert.equal(isPackagePath(path), false, path);
    assert.notDeepEqual(problems({ entry: path }), [], path);
  }
  assert.ok(isPackagePath("dist/connector-1.2.js"));
  assert.match(problems({ files: ["../secret"] }).join(), /^PZ0306: "files" is "..\/secret"/);
  assert.match(problems({ entry: "pz.connector.json" }).join(), /PZ0306/);
});

Deno.test("an option that pz reads itself, or that is no schema, is refused", () => {
  assert.deepEqual(problems({ connection: { properties: { retry: {} } } }), [
    'PZ0345: "connection" has the option "retry", which pz reads itself',
  ]);
  assert.match(problems({ connection: { properties: { a: 1 } } }).join(), /"connection.properties.a" is 1/);
  assert.match(problems({ read: { property: {} } }).join(), /"read" has no "properties"/);
  assert.match(problems({ read: { properties: {}, required: ["x"] } }).join(), /"read.required" has "x"/);
});

Deno.test("a connector reads or writes, and resumes reads only of partitions that keep their names", () => {
  assert.match(problems({ read: undefined }).join(), /neither "read" nor "write"/);
  assert.match(problems({ capabilities: ["CheckpointableReads"] }).join(), /StablePartitionIds/);
});

Deno.test("the schema for editors takes what pz takes, and refuses what it refuses", () => {
  const schema = new Validator(manifestSchema() as Schema, "2020-12", false);
  const takes = (text: string) => schema.validate(JSON.parse(text)).valid;
  const process = { runtime: "process", entry: undefined, entrypoints: { any: "x" } };
  const right = [{}, { write: {}, read: undefined }, process, { capabilities: ["Merge"], files: ["a/b.json"] }];
  const wrong = [
    { nme: 1 },
    { read: undefined },
    { protocol: 2 },
    { name: "A" },
    { capabilities: ["Mergee"] },
    { entry: "/x.js" },
    { permissions: { run: [] } },
    { ...process, entrypoints: {} },
  ];
  for (const changes of right) {
    assert.deepEqual([takes(manifestText(changes)), problems(changes)], [true, []], JSON.stringify(changes));
  }
  for (const changes of wrong) {
    assert.deepEqual(
      [takes(manifestText(changes)), problems(changes).length > 0],
      [false, true],
      JSON.stringify(changes),
    );
  }
});
