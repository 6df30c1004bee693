import assert from "node:assert/strict";
import { join } from "node:path";
import { unpackInto } from "../../src/duckdb/native_unpack.ts";
import { BINARY, runPz } from "../harness/cli.ts";
import { listFiles, TempDir, writeFiles } from "../harness/temp_dir.ts";
import { asNobody, IS_LINUX_ROOT, NOBODY, OpenFolder, runProgram, SMALL_PROJECT, withMount } from "./machine.ts";

const onUnix = { ignore: BINARY === undefined || Deno.build.os === "windows" };
const asRoot = { ignore: BINARY === undefined || !IS_LINUX_ROOT };

const OUTPUT = join("out", "one", "one.csv");

Deno.test("from the root folder, with nothing in the environment, a project elsewhere runs", onUnix, async () => {
  await using temp = await TempDir.create();
  const project = temp.join("a prøject, with ü 数据");
  await writeFiles(project, SMALL_PROJECT);
  const env = { PZ_CACHE_DIR: temp.join("ca che ü") };
  const result = await runPz(["run", "--all", "--project", project], { cwd: "/", env });
  assert.equal(result.code, 0, result.toString());
  assert.equal(await Deno.readTextFile(join(project, OUTPUT)), "one\n1\n");
  assert.equal((await listFiles(temp.join("ca che ü"))).length, 2);
});

Deno.test("libraries of two versions stay side by side in one cache", onUnix, async () => {
  await using temp = await TempDir.create();
  await writeFiles(temp.join("project"), SMALL_PROJECT);
  const cache = temp.join("cache");
  const run = async () => {
    const result = await runPz(["run", "--all"], { cwd: temp.join("project"), env: { PZ_CACHE_DIR: cache } });
    assert.equal(result.code, 0, result.toString());
  };
  // Packed with gzip: the text `other`.
  const packed = new Uint8Array(
    await new Response(new Blob(["other"]).stream().pipeThrough(new CompressionStream("gzip"))).arrayBuffer(),
  );
  const sha256 = "d9298a10d1b0735837dc4bd85dac641b0f3cef27a47e5d53a54f2f3f5b2fcffa";
  const other = {
    id: "0123456789abcdef",
    files: [{ name: "duckdb.node", size: 5, sha256, read: () => packed }],
  };
  const facts = { os: Deno.build.os, uid: Deno.uid(), env: () => undefined };
  await run();
  const folder = unpackInto({ path: cache, isShared: false }, other, facts);
  await run();
  assert.equal(unpackInto({ path: cache, isShared: false }, other, facts), folder);
  assert.equal(await Deno.readTextFile(join(folder, "duckdb.node")), "other");
  assert.equal([...Deno.readDirSync(join(cache, "native"))].length, 2);
});

Deno.test("another user without a home runs a project of theirs (needs root)", asRoot, async () => {
  await using folder = await OpenFolder.create();
  for (const path of ["project", "project/pipelines", "temp"]) {
    await Deno.mkdir(folder.join(path), { recursive: true });
    await Deno.chown(folder.join(path), NOBODY, NOBODY);
  }
  const command = asNobody([folder.join("pz"), "run", "--all"]);
  const result = await runProgram(command, folder.join("project"), { TMPDIR: folder.join("temp") });
  assert.equal(result.code, 0, result.toString());
  assert.equal((await Deno.stat(folder.join("project", OUTPUT))).uid, NOBODY);
  assert.equal((await Deno.stat(folder.join("temp", `pz-cache-${NOBODY}`))).uid, NOBODY);
});

Deno.test("a whole library that belongs to another user is not loaded (needs root)", asRoot, async () => {
  await using folder = await OpenFolder.create();
  const planted = folder.join("planted");
  const made = await runProgram([folder.join("pz"), "run", "--all"], folder.join("project"), { PZ_CACHE_DIR: planted });
  assert.equal(made.code, 0, made.toString());
  const [library = ""] = [...Deno.readDirSync(join(planted, "native"))].map(({ name }) => name);
  for (const path of ["", "native", `native/${library}`]) {
    await Deno.chmod(join(planted, path), 0o755);
    await Deno.chown(join(planted, path), 1234, 1234);
  }
  for (const { name } of Deno.readDirSync(join(planted, "native", library))) {
    await Deno.chmod(join(planted, "native", library, name), 0o644);
    await Deno.chown(join(planted, "native", library, name), 1234, 1234);
  }
  await Deno.remove(folder.join("project"), { recursive: true });
  await writeFiles(folder.join("project"), SMALL_PROJECT);
  await Deno.mkdir(folder.join("temp"));
  for (const path of ["project", "project/pipelines", "temp"]) await Deno.chown(folder.join(path), NOBODY, NOBODY);
  const env = { PZ_CACHE_DIR: planted, TMPDIR: folder.join("temp") };
  const result = await runProgram(asNobody([folder.join("pz"), "run", "--all"]), folder.join("project"), env);
  assert.equal(result.code, 0, result.toString());
  assert.equal((await listFiles(folder.join("temp"))).length, 2);
});

Deno.test("in a project that can't be written, what writes gives one coded message (needs root)", asRoot, async () => {
  await using folder = await OpenFolder.create();
  await Deno.mkdir(folder.join("temp"));
  await Deno.chown(folder.join("temp"), NOBODY, NOBODY);
  const run = (...args: readonly string[]) =>
    runProgram(asNobody([folder.join("pz"), ...args]), folder.join("project"), { TMPDIR: folder.join("temp") });
  for (const args of [["--version"], ["ls"], ["validate"]]) {
    const result = await run(...args);
    assert.equal(result.code, 0, result.toString());
  }
  const refused = await run("run", "--all");
  assert.equal(refused.code, 3, refused.toString());
  assert.match(refused.stderr, /^error PZ0531: Permission denied.*\.pz.*hint: give the user who runs pz the right/m);
  assert.equal(refused.stderr.match(/^error /gm)?.length, 1);
});

Deno.test(
  "a temporary folder mounted noexec is passed over, or named with a way out (needs root)",
  asRoot,
  async () => {
    await using folder = await OpenFolder.create();
    await Deno.mkdir(folder.join("temp"));
    await Deno.mkdir(folder.join("home"));
    const command = withMount("noexec,size=200m", folder.join("temp"), [folder.join("pz"), "run", "--all"]);
    const temp = { TMPDIR: folder.join("temp") };

    const refused = await runProgram(command, folder.join("project"), temp);
    assert.equal(refused.code, 2, refused.toString());
    assert.match(refused.stderr, /^error PZ0720: .*failed to map segment.*hint: set PZ_CACHE_DIR to .*noexec/m);

    const env = { ...temp, PZ_CACHE_DIR: folder.join("temp/cache"), HOME: folder.join("home") };
    const passed = await runProgram(command, folder.join("project"), env);
    assert.equal(passed.code, 0, passed.toString());
    assert.equal((await listFiles(folder.join("home/.cache/pz/native"))).length, 2);
  },
);

Deno.test(
  "no space for the library, and none for the run, give one coded message each (needs root)",
  asRoot,
  async () => {
    await using folder = await OpenFolder.create();
    await Deno.mkdir(folder.join("small"));
    await Deno.mkdir(folder.join("home"));
    const pz = [folder.join("pz"), "run", "--all"];

    const small = { TMPDIR: folder.join("small"), PZ_CACHE_DIR: folder.join("small/cache") };
    const library = await runProgram(withMount("size=256k", folder.join("small"), pz), folder.join("project"), small);
    assert.equal(library.code, 2, library.toString());
    assert.match(library.stderr, /^error PZ0720: .*\/small\/cache: No space left on device.*hint: set PZ_CACHE_DIR/m);

    const script = `cp -r project/. small && cd small && { head -c 300000 /dev/zero > fill; exec "$@"; } 2>&1`;
    const inside = ["/bin/sh", "-c", script, "sh", ...pz];
    const env = { HOME: folder.join("home"), PATH: "/usr/bin:/bin" };
    const run = await runProgram(withMount("size=256k", folder.join("small"), inside), folder.path, env);
    assert.equal(run.code, 3, run.toString());
    assert.match(run.stdout, /^error PZ0532: No space left on device.*hint: free some space/m);
  },
);
