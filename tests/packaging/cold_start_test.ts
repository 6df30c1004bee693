import assert from "node:assert/strict";
import { join } from "node:path";
import { BINARY, runPz } from "../harness/cli.ts";
import { TempDir, writeFiles } from "../harness/temp_dir.ts";

const onBinary = { ignore: BINARY === undefined || Deno.build.os === "windows" };

const PROJECT = {
  "project.yml": `name: small\nversion: "1"\n`,
  "connections.yml": `lake:\n  connector: localfiles\n  root: out\n`,
  "pipelines/one.sql": `INSERT INTO {{ sink('lake', 'one', format: 'csv', strategy: 'replace') }}\nSELECT 1 AS one\n`,
};

type Env = { readonly [name: string]: string };

/** A folder with a small project and a home that is not there yet. */
async function withProject(work: (temp: TempDir, run: (env: Env) => Promise<void>) => Promise<void>): Promise<void> {
  await using temp = await TempDir.create();
  await writeFiles(temp.join("project"), PROJECT);
  await work(temp, async (env) => {
    const result = await runPz(["run", "--all"], { cwd: temp.join("project"), env: { TMPDIR: temp.path, ...env } });
    assert.equal(result.code, 0, result.toString());
  });
}

/** The folder of the unpacked library, which must be the only thing beside it. */
function unpacked(base: string): string {
  const names = [...Deno.readDirSync(join(base, "native"))].map(({ name }) => name);
  assert.equal(names.length, 1, `litter in the cache: ${names.join(", ")}`);
  const folder = join(base, "native", names[0] ?? "");
  const files = [...Deno.readDirSync(folder)].map(({ name }) => name).sort();
  assert.deepEqual(
    files,
    Deno.build.os === "darwin" ? ["duckdb.node", "libduckdb.dylib"] : ["duckdb.node", "libduckdb.so"],
  );
  return folder;
}

function identity(folder: string): (number | null)[] {
  return [...Deno.readDirSync(folder)].map(({ name }) => Deno.statSync(join(folder, name)).ino);
}

function truncate(folder: string): void {
  for (const { name } of Deno.readDirSync(folder)) Deno.truncateSync(join(folder, name), 1000);
}

Deno.test("the first run unpacks the library for its user alone, the second leaves it as it is", onBinary, async () => {
  await withProject(async (temp, run) => {
    const cache = temp.join("cache");
    await run({ PZ_CACHE_DIR: cache });
    const folder = unpacked(cache);
    const before = identity(folder);
    for (const path of [cache, join(cache, "native"), folder]) {
      assert.equal((Deno.statSync(path).mode ?? 0) & 0o077, 0, path);
    }
    await run({ PZ_CACHE_DIR: cache });
    assert.deepEqual(identity(unpacked(cache)), before);
  });
});

Deno.test("verbs that need no DuckDB unpack nothing", onBinary, async () => {
  await withProject(async (temp) => {
    const env = { HOME: temp.join("home"), TMPDIR: temp.join("tmp") };
    for (const args of [["--version"], ["--help"], ["completion", "bash"]]) {
      const result = await runPz(args, { cwd: temp.join("project"), env });
      assert.equal(result.code, 0, result.toString());
    }
    assert.deepEqual([...Deno.readDirSync(temp.path)].map(({ name }) => name), ["project"]);
  });
});

Deno.test("several first starts at once all work and leave one library", onBinary, async () => {
  await using temp = await TempDir.create();
  const env = { PZ_CACHE_DIR: temp.join("cache"), TMPDIR: temp.path };
  const results = await Promise.all(["a", "b", "c", "d"].map(async (name) => {
    await writeFiles(temp.join(name), PROJECT);
    return await runPz(["run", "--all"], { cwd: temp.join(name), env });
  }));
  for (const result of results) assert.equal(result.code, 0, result.toString());
  unpacked(temp.join("cache"));
});

Deno.test("a truncated library is unpacked again", onBinary, async () => {
  await withProject(async (temp, run) => {
    const cache = temp.join("cache");
    await run({ PZ_CACHE_DIR: cache });
    truncate(unpacked(cache));
    await run({ PZ_CACHE_DIR: cache });
    assert.ok(
      [...Deno.readDirSync(unpacked(cache))].every(({ name }) =>
        Deno.statSync(join(unpacked(cache), name)).size > 1000
      ),
    );
  });
});

Deno.test("a library changed in place is unpacked again when verification is asked for", onBinary, async () => {
  await withProject(async (temp, run) => {
    const cache = temp.join("cache");
    await run({ PZ_CACHE_DIR: cache });
    const addon = join(unpacked(cache), "duckdb.node");
    const before = await Deno.readFile(addon);
    await Deno.writeFile(addon, new Uint8Array(before.length));
    await run({ PZ_CACHE_DIR: cache, PZ_VERIFY_NATIVE: "1" });
    assert.deepEqual(await Deno.readFile(join(unpacked(cache), "duckdb.node")), before);
  });
});

Deno.test("a folder that others can write is not trusted", onBinary, async () => {
  await withProject(async (temp, run) => {
    const cache = temp.join("cache");
    await Deno.mkdir(cache);
    await Deno.chmod(cache, 0o777);
    await run({ PZ_CACHE_DIR: cache });
    assert.deepEqual([...Deno.readDirSync(join(cache, "native"))], []);
    unpacked(temp.join(`pz-cache-${Deno.uid()}`));
  });
});

for (
  const [title, env] of [
    ["no HOME", {}],
    ["a HOME that is not there", { HOME: "/nonexistent/home" }],
    ["a HOME that can't be written", { HOME: "/proc" }],
    ["relative places", { HOME: "home", XDG_CACHE_HOME: "cache", PZ_CACHE_DIR: "own" }],
  ] as const
) {
  Deno.test(`with ${title} the library goes to a folder of the user's in the temporary one`, onBinary, async () => {
    await withProject(async (temp, run) => {
      await run(env);
      unpacked(temp.join(`pz-cache-${Deno.uid()}`));
    });
  });
}

Deno.test("when no place works, one coded message names them and the way out", onBinary, async () => {
  await withProject(async (temp) => {
    const env = { HOME: "/proc/home", TMPDIR: "/proc/tmp" };
    const result = await runPz(["run", "--all"], { cwd: temp.join("project"), env });
    assert.notEqual(result.code, 0);
    assert.match(
      result.stderr,
      /^error PZ0720: DuckDB's library can't be unpacked and loaded: \/proc\/home\/\.cache\/pz: /m,
    );
    assert.match(result.stderr, /hint: set PZ_CACHE_DIR to /);
  });
});
