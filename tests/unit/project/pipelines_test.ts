import assert from "node:assert/strict";
import { suggestIdentifier } from "../../../src/project/mod.ts";
import { errorsOf, load, loaded, marked, MINIMAL, places, withFiles } from "./helpers.ts";
import { loadProject } from "../../../src/project/mod.ts";

Deno.test("every .sql file below pipelines is a pipeline named after its stem, in the order of paths", async () => {
  const { pipelines } = await loaded({
    "pipelines/z.sql": "select 'z'",
    "pipelines/B/b.sql": "\ufeffselect 'b'\r\n",
    "pipelines/a/deep/select.sql": "",
    "pipelines/a/UPPER.SQL": "u",
    "pipelines/configs/no.sql": "x",
    "pipelines/a/configs/no.sql": "x",
    "pipelines/.hidden.sql": "x",
    "pipelines/readme.md": "x",
  });
  assert.deepEqual(pipelines.map(({ name, file, template }) => [name, file, template]), [
    ["b", "pipelines/B/b.sql", "select 'b'\r\n"],
    ["UPPER", "pipelines/a/UPPER.SQL", "u"],
    ["select", "pipelines/a/deep/select.sql", ""],
    ["z", "pipelines/z.sql", "select 'z'"],
  ]);
  assert.deepEqual(pipelines[0]?.materialization, "table");
});

Deno.test("a pipeline's name must be an identifier, and unique whatever its folder and case", async () => {
  assert.deepEqual(
    places(await errorsOf({ "pipelines/01_load.sql": "", "pipelines/a+b.sql": "", "pipelines/x-y.sql": "" })),
    ["PZ0136 pipelines/01_load.sql", "PZ0136 pipelines/a+b.sql", "PZ0136 pipelines/x-y.sql"],
  );
  assert.deepEqual(
    places(await errorsOf({ "pipelines/Orders.sql": "", "pipelines/a/orders.sql": "" })),
    ["PZ0110 pipelines/a/orders.sql"],
  );
});

Deno.test("suggestIdentifier() keeps the words of a name", () => {
  const cases: [string, string][] = [
    ["01_load", "load_01"],
    ["daily-orders", "daily_orders"],
    ["a b  c", "a_b_c"],
    ["2024", "_2024"],
    ["_1x", "x_1"],
    ["é", "_"],
    ["ok", "ok"],
    ["_ok", "_ok"],
  ];
  for (const [name, suggestion] of cases) {
    assert.equal(suggestIdentifier(name), suggestion, name);
    assert.match(suggestion, /^[A-Za-z_][A-Za-z0-9_]*$/);
  }
});

Deno.test("a sidecar is matched by the pipeline that it names", async () => {
  const { pipelines } = await loaded({
    "pipelines/a.sql": "select 1",
    "pipelines/b.sql": "select 2",
    "pipelines/configs/whatever.yml": "pipeline: b\nmaterialization: view\ntags: [daily, 5]\n",
    "pipelines/configs/c.YML": "pipeline: a\ntags: nightly\nchecks:\n",
    "pipelines/configs/sub/d.yml": "pipeline: nothing\n",
  });
  assert.deepEqual(pipelines.map(({ name, materialization, tags }) => [name, materialization, tags]), [
    ["a", "table", ["nightly"]],
    ["b", "view", ["daily", "5"]],
  ]);
});

Deno.test("wrong sidecars are refused at their place", async () => {
  const cases: [string, string][] = [
    ["PZ0111", "pipeline: §y"],
    ["PZ0101", "§tags: a"],
    ["PZ0101", "§pipeline:"],
    ["PZ0101", "pipeline: §[x]"],
    ["PZ0101", "pipeline: x\n§tag: a"],
    ["PZ0101", "pipeline: x\ntags: §{ a: b }"],
    ["PZ0101", "pipeline: x\ntags: [a, §[b]]"],
    ["PZ0134", "pipeline: x\nmaterialization: §tabel"],
    ["PZ0134", "pipeline: x\nmaterialization: §incremental"],
    ["PZ0134", "pipeline: x\nmaterialization: §Table"],
    ["PZ0113", "pipeline: x\nchecks: §{ unique: [a] }"],
    ["PZ0101", "§- pipeline: x"],
  ];
  for (const [code, text] of cases) {
    const { text: content, at } = marked(text);
    const errors = await errorsOf({ "pipelines/x.sql": "", "pipelines/configs/s.yml": content });
    assert.deepEqual(places(errors), [`${code} pipelines/configs/s.yml:${at}`], text);
  }
});

Deno.test("a misspelt pipeline in a sidecar has a hint, as has a dbt materialization", async () => {
  const outcome = await load({
    "pipelines/orders.sql": "",
    "pipelines/configs/s.yml": "pipeline: order\nmaterialization: incremental\n",
  });
  assert.ok(!outcome.ok);
  assert.deepEqual(outcome.errors.map(({ hint }) => hint?.slice(0, 27)), [
    "Did you mean 'orders'?",
    "Read in steps with 'sync' o",
  ]);
});

Deno.test("two sidecars for one pipeline are refused, not merged", async () => {
  const errors = await errorsOf({
    "pipelines/x.sql": "",
    "pipelines/configs/a.yml": "pipeline: x\n",
    "pipelines/configs/b.yml": "pipeline: x\n",
  });
  assert.deepEqual(errors, [
    "PZ0110 pipelines/configs/b.yml:1:11 The pipeline 'x' has a second sidecar; the first is 'pipelines/configs/a.yml'",
  ]);
});

Deno.test("a pipeline that can't be read is named", async () => {
  await withFiles({ "project.yml": MINIMAL, "pipelines/ok.sql": "" }, async (root) => {
    Deno.symlinkSync(`${root}/nowhere`, `${root}/pipelines/gone.sql`);
    Deno.mkdirSync(`${root}/connections.yml`);
    const outcome = await loadProject(root, { env: {} });
    assert.ok(!outcome.ok);
    assert.deepEqual(outcome.errors.map(({ code, file, message }) => [code, file, message]), [
      ["PZ0101", "connections.yml", "Can't read 'connections.yml'"],
      ["PZ0101", "pipelines/gone.sql", "Can't read 'pipelines/gone.sql'"],
    ]);
  });
});

Deno.test("links to folders are followed, in circles not", async () => {
  await withFiles({ "project.yml": MINIMAL, "shared/one.sql": "select 1", "pipelines/two.sql": "" }, async (root) => {
    Deno.symlinkSync(`${root}/shared`, `${root}/pipelines/shared`);
    Deno.symlinkSync(`${root}/pipelines`, `${root}/pipelines/again`);
    const outcome = await loadProject(root, { env: {} });
    assert.ok(outcome.ok);
    assert.deepEqual(outcome.value.pipelines.map(({ file }) => file), [
      "pipelines/shared/one.sql",
      "pipelines/two.sql",
    ]);
  });
});

Deno.test({
  name: "a file without the right to read it is PZ0531",
  // The superuser may read everything.
  ignore: Deno.build.os === "windows" || Deno.uid() === 0,
  async fn() {
    await withFiles({ "project.yml": MINIMAL, "pipelines/x.sql": "" }, async (root) => {
      Deno.chmodSync(`${root}/pipelines/x.sql`, 0);
      const outcome = await loadProject(root, { env: {} });
      assert.ok(!outcome.ok);
      assert.deepEqual(outcome.errors.map(({ code, file }) => [code, file]), [["PZ0531", "pipelines/x.sql"]]);
    });
  },
});

Deno.test("a name too long for what pz names after it is told in short", async () => {
  const long = `p${"x".repeat(200)}`;
  const errors = await errorsOf({ [`pipelines/${long}.sql`]: "select 1" });
  assert.deepEqual(errors, [
    `PZ0136 pipelines/${long}.sql The pipeline name 'p${"x".repeat(39)}…' has 201 letters: expected at most 200`,
  ]);
  const connection = { "connections.yml": `a: { connector: x }\n${long}: { connector: x }\n` };
  assert.deepEqual(places(await errorsOf(connection)), ["PZ0136 connections.yml:2:1"]);
  assert.equal((await loaded({ [`pipelines/${long.slice(1)}.sql`]: "select 1" })).pipelines.length, 1);
});
