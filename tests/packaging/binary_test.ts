import assert from "node:assert/strict";
import { join } from "node:path";
import { BINARY, runPz } from "../harness/cli.ts";
import { TempDir } from "../harness/temp_dir.ts";

const onBinary = { ignore: BINARY === undefined };
const onUnix = { ignore: BINARY === undefined || Deno.build.os === "windows" };

const MAX_MEGABYTES = 120;

async function versionOf(program: string, cwd: string): Promise<string> {
  const options: Deno.CommandOptions = { args: ["--version"], cwd, clearEnv: true, stdin: "null" };
  const { code, stdout, stderr } = await new Deno.Command(program, options).output();
  assert.equal(code, 0, new TextDecoder().decode(stderr));
  return new TextDecoder().decode(stdout);
}

async function declaredVersion(): Promise<string> {
  const config: unknown = JSON.parse(await Deno.readTextFile(new URL("../../deno.json", import.meta.url)));
  assert.ok(typeof config === "object" && config !== null && "version" in config);
  return `${config.version}\n`;
}

Deno.test("--version works without any environment and is the version of deno.json", onBinary, async () => {
  await using temp = await TempDir.create();
  const result = await runPz(["--version"], { cwd: temp.path });
  assert.equal(result.code, 0, result.toString());
  assert.equal(result.stdout, await declaredVersion());
  assert.equal(result.stderr, "");
});

Deno.test("the binary works under another name, by a link, and from a folder with spaces", onUnix, async () => {
  await using temp = await TempDir.create();
  const folder = temp.join("a folder, with ü");
  await Deno.mkdir(folder);
  const copy = join(folder, "renamed program");
  await Deno.copyFile(BINARY ?? "", copy);
  await Deno.symlink(copy, temp.join("link"));
  const version = await declaredVersion();
  assert.equal(await versionOf(copy, folder), version);
  assert.equal(await versionOf(temp.join("link"), temp.path), version);
});

Deno.test(
  "the binary holds no package folder, no library for musl and no source map, and is small",
  onBinary,
  async () => {
    const bytes = await Deno.readFile(BINARY ?? "");
    assert.ok(bytes.length < MAX_MEGABYTES * 1e6, `${bytes.length} bytes`);
    const text = new TextDecoder("latin1").decode(bytes);
    for (
      const forbidden of ["@duckdb+node", "node-bindings-linux-x64-musl", "node_modules/@duckdb", '"sourcesContent"']
    ) {
      assert.equal(text.indexOf(forbidden), -1, forbidden);
    }
  },
);

Deno.test("files planted where the runtime would look for modules are not run", onUnix, async () => {
  await using temp = await TempDir.create();
  // A compiled program's own modules have addresses below this folder, which anybody could make.
  const planted = temp.join("deno-compile-pz");
  for (const folder of ["", "src/cli", "gen/linux-x64"]) {
    await Deno.mkdir(join(planted, folder), { recursive: true });
    for (const name of ["main.js", "mod.js", "worker.js", "deno.json"]) {
      await Deno.writeTextFile(join(planted, folder, name), 'console.log("planted");');
    }
  }
  const result = await runPz(["--version"], { cwd: temp.path, env: { TMPDIR: temp.path } });
  assert.equal(result.stdout, await declaredVersion());
});
