import assert from "node:assert/strict";
import { join } from "node:path";
import { TEMPLATES } from "../../../src/cli/templates/mod.ts";
import { sanitizeName } from "../../../src/cli/verbs/init.ts";
import { cli, TempFolder } from "./test_io.ts";

Deno.test("init makes the minimal project, whose name is the folder's", async () => {
  await using temp = new TempFolder();
  const { code, stdout, stderr } = await cli(["init", "shop"], { cwd: temp.path });
  const folder = join(temp.path, "shop");
  assert.equal(stderr, "");
  assert.equal(code, 0);
  assert.deepEqual(stdout.split("\n").slice(0, 4), [
    `scaffolded a new pz project 'shop' at ${folder}`,
    "made .gitignore, README.md, connections.yml, project.yml",
    "next steps:",
    "  cd shop",
  ]);
  assert.deepEqual([...Deno.readDirSync(folder)].map(({ name }) => name).sort(), [
    ".gitignore",
    "README.md",
    "connections.yml",
    "project.yml",
  ]);
  assert.match(await Deno.readTextFile(join(folder, "project.yml")), /^name: shop\n/);
  assert.equal(
    (await cli(["compile", "--project", folder])).stdout,
    `Compiled 0 nodes -> ${join(folder, ".pz", "target")}\n`,
  );
});

Deno.test("init with a name that is no project name warns and uses a valid one", async () => {
  await using temp = new TempFolder();
  const { code, stdout, stderr } = await cli(["init", "My Demo!"], { cwd: temp.path });
  assert.equal(code, 0);
  assert.match(stderr, /^warning: 'My Demo!' is not a valid pz project name .*; using 'my_demo' instead\n$/);
  assert.ok(stdout.split("\n").includes("  cd 'My Demo!'"));
});

Deno.test("init . fills the current folder when it is empty", async () => {
  await using temp = new TempFolder();
  const cwd = join(temp.path, "here");
  await Deno.mkdir(cwd);
  const { code, stdout } = await cli(["init", "."], { cwd });
  assert.equal(code, 0);
  assert.doesNotMatch(stdout, /cd /);
  const again = await cli(["init", "."], { cwd });
  assert.equal(again.code, 2);
  assert.match(again.stderr, /^error PZ0130: '\.' is a folder that is not empty/);
});

Deno.test("init refuses a file in the way, an unknown template and odd combinations, and makes nothing", async () => {
  await using temp = new TempFolder();
  const { path: cwd } = temp;
  await Deno.writeTextFile(join(cwd, "taken"), "");
  const refusal = async (...args: string[]) => {
    const { code, stdout, stderr } = await cli(["init", ...args], { cwd });
    assert.equal(code, 2);
    assert.equal(stdout, "");
    return stderr;
  };
  assert.match(await refusal("taken"), /^error PZ0130: 'taken' is a file, not a folder/);
  assert.match(
    await refusal("a", "-t", "smaple"),
    /^error PZ0131: there is no template 'smaple' — hint: did you mean 'sample'\? use one of minimal, sample, http, postgres\n$/,
  );
  assert.match(
    await refusal("a", "-t", "sqlserver"),
    /^error PZ0700: the template 'sqlserver' needs connector 'sqlserver', /,
  );
  assert.match(await refusal("a", "-t", "incremental"), /^error PZ0700: .* needs watermark\(\), /);
  assert.match(await refusal(), /^error PZ0132: no name was given/);
  assert.match(await refusal("a", "--list-templates"), /^error PZ0132: /);
  assert.deepEqual([...Deno.readDirSync(cwd)].map(({ name }) => name), ["taken"]);
});

Deno.test("init --list-templates lists them with their markers", async () => {
  const { code, stdout } = await cli(["init", "--list-templates"]);
  assert.equal(code, 0);
  const lines = stdout.split("\n");
  assert.match(lines[lines.indexOf("  minimal (default)") + 1] ?? "", / \[nothing to run yet\]$/);
  assert.match(lines[lines.indexOf("  sample") + 1] ?? "", / \[runs offline\]$/);
  assert.match(lines[lines.indexOf("  http") + 1] ?? "", / \[needs the internet\]$/);
  assert.match(lines[lines.indexOf("  sqlserver") + 1] ?? "", / \[not yet: needs connector 'sqlserver'\]$/);
});

Deno.test("a project's name is lower case, starts with a letter and has single underscores", () => {
  for (
    const [raw, name] of [
      ["shop", "shop"],
      ["My  Demo!", "my_demo"],
      ["--a__b--", "a_b"],
      ["2027", "p_2027"],
      ["日本", "p_"],
      ["Ünï", "n"],
    ] as const
  ) {
    assert.equal(sanitizeName(raw), name, raw);
  }
});

/** Variables that the postgres template asks for, of a server that nobody reaches. */
const MART = {
  MART_DB_HOST: "127.0.0.1",
  MART_DB_PORT: "5432",
  MART_DB_NAME: "mart",
  MART_DB_USER: "me",
  MART_DB_PASSWORD: "hunter2-hunter2",
};

Deno.test("what init makes is valid, can be planned, and runs where its data is there", async () => {
  await using temp = new TempFolder();
  for (const { id, marker } of TEMPLATES) {
    const cwd = join(temp.path, id);
    assert.equal((await cli(["init", id, "-t", id], { cwd: temp.path })).code, 0);
    const env = id === "postgres" ? MART : {};
    for (const args of [["validate"], ["plan"]]) {
      const { code, stderr } = await cli(args, { cwd, env });
      assert.deepEqual([id, args[0], code, stderr], [id, args[0], 0, ""]);
    }
    if (marker === "nothing to run yet" || id === "postgres" || id === "http") continue;
    assert.equal(marker, "runs offline");
    for (const args of [["validate", "--connect"], ["run", "--all"]]) assert.equal((await cli(args, { cwd })).code, 0);
  }
});

Deno.test("a name too long for a folder is told as that, and is no fault of pz", async () => {
  await using temp = new TempFolder();
  const { code, stderr } = await cli(["init", "x".repeat(300)], { cwd: temp.path });
  assert.equal(code, 2);
  assert.match(stderr, /^error PZ0132: File name too long.* — hint: use a shorter name\n$/);
});

Deno.test("the templates' files are listed by what stands in the project's folder", async () => {
  await using temp = new TempFolder();
  const { stdout } = await cli(["init", "shop", "--template", "sample"], { cwd: temp.path });
  assert.match(stdout, /^made \.gitignore, README\.md, connections\.yml, data\/, pipelines\/, project\.yml$/m);
});
