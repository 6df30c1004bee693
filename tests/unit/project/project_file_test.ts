import assert from "node:assert/strict";
import { errorsOf, load, loaded, MINIMAL, place, places, plain, warningsOf, withFiles } from "./helpers.ts";
import { loadProject } from "../../../src/project/mod.ts";

/** The errors of a project.yml of a name, a version and this. */
function errorsWith(text: string): Promise<string[]> {
  return errorsOf({ "project.yml": MINIMAL + text });
}

Deno.test("a minimal project has every default", async () => {
  const { root, ...project } = await loaded({});
  assert.ok(root.startsWith("/"));
  assert.deepEqual(plain(project), {
    name: "demo",
    version: "1.0.0",
    connectors: [],
    vars: {},
    engine: {
      threads: 4,
      forceUniversal: false,
      checkSamples: true,
      duckdb: {},
      staging: "auto",
      preserveOrder: false,
      sandbox: "auto",
    },
    keepLast: 10,
    state: { backend: "local" },
    stateOrigin: "default",
    onSourceDrift: "ignore",
    connections: {},
    pipelines: [],
    secrets: [],
  });
});

Deno.test("everything that project.yml can say is read", async () => {
  const project = await loaded({
    "project.yml": `
name: demo
version: 0.10
pz: ">=1.0 <2.0"
connectors:
  - { package: Pz.Extra, version: "[1.10,2.0)" }
vars: { floor: 10, rate: 1.5, on: true, list: [1, a], map: { k: v }, none: }
engine:
  threads: 2
  batch_bytes: 1048576
  force_universal: true
  check_samples: false
  duckdb: { memory_limit: 4 GiB, threads: 3, temp_directory: /tmp/x }
  breaker: { failure_threshold: 3, cool_down: 30s }
  node_timeout: 45m
  staging: always
  preserve_order: true
  sandbox: require
  channel_bytes: 2097152
retention: { keep_last: 3 }
on_source_drift: fail
`,
  });
  assert.equal(project.version, "0.10");
  assert.deepEqual(project.connectors, [{ package: "Pz.Extra", version: "[1.10,2.0)" }]);
  assert.deepEqual(plain(project.vars), {
    floor: 10n,
    rate: 1.5,
    on: true,
    list: [1n, "a"],
    map: { k: "v" },
    none: "",
  });
  assert.deepEqual(project.engine, {
    threads: 2,
    batchBytes: 1048576,
    forceUniversal: true,
    checkSamples: false,
    duckdb: { memoryLimit: "4 GiB", threads: 3, tempDirectory: "/tmp/x" },
    breaker: { failureThreshold: 3, coolDownMs: 30_000 },
    nodeTimeoutMs: 2_700_000,
    staging: "always",
    preserveOrder: true,
    sandbox: "require",
    channelBytes: 2_097_152,
  });
  assert.equal(project.keepLast, 3);
  assert.equal(project.onSourceDrift, "fail");
});

Deno.test("a project is frozen to its leaves", async () => {
  const project = await loaded({
    "project.yml": `${MINIMAL}vars: { a: { b: [1] } }\n`,
    "connections.yml": "c: { connector: x, opts: { a: [1] } }\n",
  });
  const seen: unknown[] = [project];
  for (const value of seen) {
    if (typeof value !== "object" || value === null) continue;
    assert.ok(Object.isFrozen(value));
    seen.push(...Object.values(value));
  }
});

Deno.test("blocks with nothing in them mean their defaults", async () => {
  const text = "vars:\nengine:\nconnectors:\nstate:\n";
  const project = await loaded({ "project.yml": MINIMAL + text, "connections.yml": "# none yet\n" });
  assert.equal(project.engine.threads, 4);
  assert.deepEqual(project.connectors, []);
});

Deno.test("a missing project.yml names the folder, and a file that was meant", async () => {
  await withFiles({ "project.yaml": MINIMAL }, async (root) => {
    const outcome = await loadProject(root, { env: {} });
    assert.ok(!outcome.ok);
    assert.deepEqual(outcome.errors.map(place), [`PZ0101 project.yml There is no project.yml in '${root}'`]);
    assert.equal(outcome.errors[0]?.hint, "Rename 'project.yaml' to 'project.yml'.");
    const nowhere = await loadProject(`${root}/none`, { env: {} });
    assert.ok(!nowhere.ok);
    assert.deepEqual(nowhere.errors.map(place), [`PZ0101 There is no folder '${root}/none'`]);
  });
});

Deno.test("name and version are required, and a misspelt one is reported once", async () => {
  assert.deepEqual(await errorsOf({ "project.yml": "" }), [
    "PZ0101 project.yml:1:1 Missing key 'name'",
    "PZ0101 project.yml:1:1 Missing key 'version'",
  ]);
  assert.deepEqual(await errorsOf({ "project.yml": "nmae: a\nversion:\n" }), [
    "PZ0101 project.yml:1:1 Unknown key 'nmae'",
    "PZ0101 project.yml:2:1 'version' has no value: expected a text",
  ]);
});

Deno.test("an unknown key has the nearest known one as hint, or all of them", async () => {
  const outcome = await load({ "project.yml": `${MINIMAL}engnie: {}\nengine: { zzz: 1 }\n` });
  assert.ok(!outcome.ok);
  assert.deepEqual(outcome.errors.map(({ hint }) => hint?.slice(0, 24)), [
    "Did you mean 'engine'?",
    "Known keys: threads, bat",
  ]);
});

Deno.test("retired keys of project.yml have their own codes", async () => {
  assert.deepEqual(places(await errorsWith("outputs: {}\nfeeds: []\n")), [
    "PZ0347 project.yml:3:1",
    "PZ0352 project.yml:4:1",
  ]);
});

Deno.test("an engine value of the wrong type or out of bounds never falls back", async () => {
  const values: [string, string][] = [
    ['threads: "4"', "3:20"],
    ["threads: 0", "3:20"],
    ["threads: 1.5", "3:20"],
    ["threads: 2147483648", "3:20"],
    ["batch_bytes: 1048575", "3:24"],
    ["batch_bytes: 536870913", "3:24"],
    ["force_universal: yes", "3:28"],
    ['check_samples: "true"', "3:26"],
    ["node_timeout: 0s", "3:25"],
    ["node_timeout: 5m2s", "3:25"],
    ["node_timeout: 5", "3:25"],
    ["duckdb: { memory_limit: 4 }", "3:35"],
    ["duckdb: { memory_limit: 80% }", "3:35"],
    ["duckdb: { memory_limit: 0GB }", "3:35"],
    ["duckdb: { memory_limit: 1KB }", "3:35"],
    ["duckdb: { memory_limit: 15.9 megabytes }", "3:35"],
    ["duckdb: { memory_limit: 15MiB }", "3:35"],
    ["duckdb: { memory_limit: 900 kilobytes }", "3:35"],
    ["duckdb: { threads: 0 }", "3:30"],
    ["breaker: { failure_threshold: 0, cool_down: 1s }", "3:41"],
    ["breaker: { failure_threshold: 1, cool_down: 0s }", "3:55"],
    ["breaker: { failure_threshold: 1 }", "3:11"],
    ["breaker: { cool_down: 1s }", "3:11"],
    ["breaker:", "3:11"],
    ["staging: never", "3:20"],
    ["sandbox: off", "3:20"],
    ["channel_bytes: 1", "3:26"],
    ["preserve_order: 1", "3:27"],
  ];
  for (const [text, at] of values) {
    assert.deepEqual(places(await errorsWith(`engine: { ${text} }\n`)), [`PZ0120 project.yml:${at}`], text);
  }
  assert.deepEqual(places(await errorsWith("engine: 4\n")), ["PZ0120 project.yml:3:9"]);
});

Deno.test("a quoted number says how to write it", async () => {
  const outcome = await load({ "project.yml": `${MINIMAL}engine: { threads: "4" }\n` });
  assert.ok(!outcome.ok);
  assert.equal(outcome.errors[0]?.message, "'engine.threads' must be a whole number of at least 1, not the text '4'");
  assert.equal(outcome.errors[0]?.hint, "Write 4 without quotes.");
});

Deno.test("every size that DuckDB takes is taken", async () => {
  for (
    const size of ["4GiB", "4 GiB", "512mb", "512M", "0.5GB", "100000000 bytes", "1gigabytes", "1TiB", "16MB", "16M"]
  ) {
    const project = await loaded({ "project.yml": `${MINIMAL}engine: { duckdb: { memory_limit: ${size} } }\n` });
    assert.equal(project.engine.duckdb.memoryLimit, size);
  }
});

Deno.test("retention is a map with keep_last, or off in any case", async () => {
  for (const word of ["off", "OFF", "false", "False", "no", "No", '"off"']) {
    assert.equal((await loaded({ "project.yml": `${MINIMAL}retention: ${word}\n` })).keepLast, undefined, word);
  }
  const wrong: [string, string][] = [
    ["{ keep_last: 0 }", "3:25"],
    ["{ keep_last: all }", "3:25"],
    ["{ keep: 5 }", "3:14"],
    ["{}", "3:1"],
    ["5", "3:12"],
    ["on", "3:12"],
    ["", "3:1"],
    ["[1]", "3:12"],
  ];
  for (const [value, at] of wrong) {
    const found = places(await errorsWith(`retention: ${value}\n`));
    assert.ok(found.every((text) => text.startsWith("PZ0123 ")) && found.includes(`PZ0123 project.yml:${at}`), value);
  }
});

Deno.test("a drift policy is one of three words", async () => {
  assert.deepEqual(await errorsWith("on_source_drift: wran\n"), [
    "PZ0126 project.yml:3:18 'on_source_drift' must be one of ignore, warn, fail, not the text 'wran'",
  ]);
});

Deno.test("connectors are a list of packages, each named once, with decimals in quotes", async () => {
  assert.deepEqual(places(await errorsWith("connectors: {}\n")), ["PZ0101 project.yml:3:13"]);
  assert.deepEqual(places(await errorsWith("connectors: [x, {package: a}, {package: b, version: 1.10}]\n")), [
    "PZ0101 project.yml:3:14",
    "PZ0101 project.yml:3:17",
    "PZ0101 project.yml:3:53",
  ]);
  const twice = "connectors: [{package: a, version: 1.0.0}, {package: A, version: 2.0.0}]\n";
  assert.deepEqual(await errorsWith(twice), ["PZ0101 project.yml:3:1 The package 'A' stands in 'connectors' twice"]);
});

Deno.test("vars must be a map", async () => {
  assert.deepEqual(places(await errorsWith("vars: [1]\n")), ["PZ0102 project.yml:3:7"]);
});

Deno.test("files that end in .yaml are named in a warning", async () => {
  const files = { "project.yaml": "x", "connections.yaml": "x", "pipelines/configs/a.yaml": "x" };
  assert.deepEqual(places(await warningsOf(files)), [
    "PZ0135 connections.yaml",
    "PZ0135 project.yaml",
    "PZ0135 pipelines/configs/a.yaml",
  ]);
});

Deno.test("files of the old connection folders are refused one by one; other files there are not", async () => {
  const errors = await errorsOf({ "sources/crm.yml": "x", "sinks/a/lake.yaml": "x", "sources/data.csv": "x" });
  assert.deepEqual(places(errors), ["PZ0346 sinks/a/lake.yaml", "PZ0346 sources/crm.yml"]);
});

Deno.test("problems of all files come together, ordered by file, line and column", async () => {
  const errors = await errorsOf({
    "project.yml": "name: a\nversion: 1\nengine: { threads: 0, staging: x }\n",
    "connections.yml": "a: {}\n",
    "pipelines/x.sql": "select 1",
    "pipelines/configs/x.yml": "pipeline: x\nchecks: 5\n",
    "pipelines/1.sql": "select 1",
  });
  assert.deepEqual(places(errors), [
    "PZ0101 connections.yml:1:1",
    "PZ0136 pipelines/1.sql",
    "PZ0113 pipelines/configs/x.yml:2:9",
    "PZ0120 project.yml:3:20",
    "PZ0120 project.yml:3:32",
  ]);
});

// Windows has no names with most of these.
const named = { ignore: Deno.build.os === "windows" };

Deno.test("a folder whose path DuckDB can't use is refused by name, other odd names are good", named, async () => {
  const files = (folder: string) => ({ [`${folder}/project.yml`]: MINIMAL });
  for (const name of ["a?b", "why?/deep"]) {
    await withFiles(files(name), async (root) => {
      const outcome = await loadProject(`${root}/${name}`, { env: {} });
      assert.ok(!outcome.ok);
      assert.deepEqual(outcome.errors.map(({ code }) => code), ["PZ0101"]);
      assert.ok(outcome.errors[0]?.message.includes(`'${root}/${name}'`));
      assert.match(outcome.errors[0]?.hint ?? "", /Rename/);
    });
  }
  for (const name of ["a%41b", "a#b", "a\nb", "a'b", 'a"b', "a*b", "a\\b", "a:b", "a;b", "trail ", " lead"]) {
    await withFiles(files(name), async (root) => {
      assert.ok((await loadProject(`${root}/${name}`, { env: {} })).ok, name);
    });
  }
});

Deno.test("a number in words gets its form as a hint", async () => {
  const outcome = await load({ "project.yml": "name: a\nversion: 1\nretention: { keep_last: ten }\n" });
  assert.ok(!outcome.ok);
  assert.deepEqual(outcome.errors.map(({ hint }) => hint), ["Write it in digits, such as 'keep_last: 10'."]);
});
