import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { openNative } from "../../../src/duckdb/native.ts";
import type { NativePayload } from "../../../src/duckdb/native_payload.ts";
import { cachePlaces, type NativeFacts } from "../../../src/duckdb/native_places.ts";
import { PzError } from "../../../src/errors/mod.ts";
import { TempDir } from "../../harness/temp_dir.ts";

const onlyUnix = { ignore: Deno.build.os === "windows" };

/** Two small files in place of the library; `reads` counts how often one was unpacked. */
class TestPayload implements NativePayload {
  readonly id = "0123456789abcdef";
  reads = 0;
  onRead = () => {};
  readonly files = ["duckdb.node", "libduckdb.so"].map((name) => {
    const bytes = new TextEncoder().encode(`the content of ${name}`);
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    const read = () => {
      this.reads++;
      this.onRead();
      return gzipSync(bytes);
    };
    return { name, size: bytes.length, sha256, read };
  });
}

function facts(env: { readonly [name: string]: string }, os: NativeFacts["os"] = "linux"): NativeFacts {
  return { os, uid: Deno.uid(), env: (name) => env[name] };
}

/** An addon loader that reads the files instead. */
function open(path: string): string {
  return Deno.readTextFileSync(path) + " and " + Deno.readTextFileSync(join(dirname(path), "libduckdb.so"));
}

const OPENED = "the content of duckdb.node and the content of libduckdb.so";

function failureOf(work: () => unknown): PzError {
  try {
    work();
  } catch (error) {
    assert.ok(error instanceof PzError);
    return error;
  }
  return assert.fail("nothing was thrown");
}

Deno.test("the library is kept in the user's own cache folder of the system, then in a temporary one", () => {
  const places = (os: NativeFacts["os"], env: { readonly [name: string]: string }) =>
    cachePlaces({ os, uid: 7, env: (name) => env[name] }).map(({ path }) => path);
  const unix = { PZ_CACHE_DIR: "/own", XDG_CACHE_HOME: "/xdg", HOME: "/home/me", TMPDIR: "/var/tmp" };
  assert.deepEqual(places("linux", unix), ["/own", "/xdg/pz", "/home/me/.cache/pz", "/var/tmp/pz-cache-7"]);
  assert.deepEqual(places("darwin", unix), ["/own", "/home/me/Library/Caches/pz", "/var/tmp/pz-cache-7"]);
  assert.deepEqual(places("linux", {}), ["/tmp/pz-cache-7"]);
  const relative = { PZ_CACHE_DIR: "own", XDG_CACHE_HOME: "xdg", HOME: "", TMPDIR: "tmp" };
  assert.deepEqual(places("linux", relative), ["/tmp/pz-cache-7"]);
});

Deno.test("the first start unpacks both files side by side, later ones read nothing", onlyUnix, async () => {
  await using temp = await TempDir.create();
  const payload = new TestPayload();
  const place = facts({ PZ_CACHE_DIR: temp.join("cache") });
  for (let start = 0; start < 3; start++) assert.equal(openNative(payload, place, open), OPENED);
  assert.equal(payload.reads, 2);
  const folder = temp.join("cache", "native", payload.id);
  assert.equal((await Deno.stat(temp.join("cache"))).mode ?? 0 & 0o777, (await Deno.stat(folder)).mode ?? 0 & 0o777);
  assert.deepEqual([...Deno.readDirSync(temp.join("cache", "native"))].map(({ name }) => name), [payload.id]);
});

for (
  const [title, damage] of [
    ["a truncated file", (folder: string) => Deno.truncateSync(join(folder, "libduckdb.so"), 3)],
    ["a missing file", (folder: string) => Deno.removeSync(join(folder, "duckdb.node"))],
    ["a file that others can write", (folder: string) => Deno.chmodSync(join(folder, "duckdb.node"), 0o666)],
    ["a folder that others can write", (folder: string) => Deno.chmodSync(folder, 0o777)],
    ["a link in place of a file", (folder: string) => {
      Deno.renameSync(join(folder, "duckdb.node"), join(folder, "..", "elsewhere"));
      Deno.symlinkSync(join(folder, "..", "elsewhere"), join(folder, "duckdb.node"));
    }],
    ["a file in place of the folder", (folder: string) => {
      Deno.removeSync(folder, { recursive: true });
      Deno.writeTextFileSync(folder, "");
    }],
  ] as const
) {
  Deno.test(`${title} in the cache is replaced before anything is loaded`, onlyUnix, async () => {
    await using temp = await TempDir.create();
    const payload = new TestPayload();
    const place = facts({ PZ_CACHE_DIR: temp.join("cache") });
    openNative(payload, place, open);
    damage(temp.join("cache", "native", payload.id));
    assert.equal(openNative(payload, place, open), OPENED);
    assert.equal(payload.reads, 4);
  });
}

Deno.test("a changed file of the same size is replaced when verification is asked for", onlyUnix, async () => {
  await using temp = await TempDir.create();
  const payload = new TestPayload();
  const env = { PZ_CACHE_DIR: temp.join("cache") };
  openNative(payload, facts(env), open);
  const file = temp.join("cache", "native", payload.id, "duckdb.node");
  Deno.writeTextFileSync(file, "THE CONTENT OF DUCKDB.NODE");
  assert.equal(openNative(payload, facts({ ...env, PZ_VERIFY_NATIVE: "1" }), open), OPENED);
});

Deno.test("a process that unpacks at the same time and is faster wins, and both load the same", onlyUnix, async () => {
  await using temp = await TempDir.create();
  const payload = new TestPayload();
  const place = facts({ PZ_CACHE_DIR: temp.join("cache") });
  payload.onRead = () => {
    payload.onRead = () => {};
    assert.equal(openNative(payload, place, open), OPENED);
  };
  assert.equal(openNative(payload, place, open), OPENED);
  assert.equal(payload.reads, 4);
  assert.deepEqual([...Deno.readDirSync(temp.join("cache", "native"))].map(({ name }) => name), [payload.id]);
});

Deno.test("a folder that goes away between the look and the load is unpacked again", onlyUnix, async () => {
  await using temp = await TempDir.create();
  const payload = new TestPayload();
  let opens = 0;
  const vanishing = (path: string) => {
    if (opens++ === 0) Deno.removeSync(dirname(path), { recursive: true });
    return open(path);
  };
  assert.equal(openNative(payload, facts({ PZ_CACHE_DIR: temp.join("cache") }), vanishing), OPENED);
});

Deno.test("what a killed process left is removed when it is an hour old", onlyUnix, async () => {
  await using temp = await TempDir.create();
  const payload = new TestPayload();
  const root = temp.join("cache", "native");
  for (const name of [".old.1", ".new.1"]) await Deno.mkdir(join(root, name), { recursive: true, mode: 0o700 });
  for (const path of [root, temp.join("cache")]) await Deno.chmod(path, 0o700);
  const old = Date.now() / 1000 - 7200;
  await Deno.utime(join(root, ".old.1"), old, old);
  openNative(payload, facts({ PZ_CACHE_DIR: temp.join("cache") }), open);
  assert.deepEqual([...Deno.readDirSync(root)].map(({ name }) => name).sort(), [".new.1", payload.id]);
});

Deno.test(
  "a place that can't be written, is another user's or has a planted link leads to the next one",
  onlyUnix,
  async () => {
    await using temp = await TempDir.create();
    const payload = new TestPayload();
    await Deno.writeTextFile(temp.join("file"), "");
    await Deno.mkdir(temp.join("home", ".cache", "pz"), { recursive: true });
    await Deno.chmod(temp.join("home", ".cache", "pz"), 0o777);
    const env = {
      PZ_CACHE_DIR: temp.join("file", "below"),
      XDG_CACHE_HOME: "/proc/nowhere",
      HOME: temp.join("home"),
      TMPDIR: temp.path,
    };
    assert.equal(openNative(payload, facts(env), open), OPENED);
    const own = temp.join(`pz-cache-${Deno.uid()}`);
    assert.ok((await Deno.stat(join(own, "native", payload.id))).isDirectory);

    await Deno.remove(own, { recursive: true });
    await Deno.mkdir(temp.join("planted"), { mode: 0o700 });
    await Deno.symlink(temp.join("planted"), own);
    const error = failureOf(() => openNative(payload, facts(env), open));
    assert.equal(error.code, "PZ0720");
    assert.match(error.message, /^DuckDB's library can't be unpacked and loaded: /);
    for (const place of [env.PZ_CACHE_DIR, "/proc/nowhere/pz", temp.join("home", ".cache", "pz"), own]) {
      assert.ok(error.message.includes(`${place}: `), place);
    }
    assert.match(error.message, /can be written by others/);
    assert.match(error.hint ?? "", /PZ_CACHE_DIR/);
  },
);

Deno.test("a library that another user owns is not loaded", onlyUnix, async () => {
  await using temp = await TempDir.create();
  const payload = new TestPayload();
  const env = { PZ_CACHE_DIR: temp.join("cache"), TMPDIR: temp.path };
  openNative(payload, facts(env), open);
  // As root the files can be given away; another user pretends to be somebody else.
  const folder = temp.join("cache", "native", payload.id);
  const other = (Deno.uid() ?? 0) + 4321;
  const isRoot = Deno.uid() === 0;
  if (isRoot) { for (const path of [folder, temp.join("cache")]) await Deno.chown(path, other, null); }
  const opened: string[] = [];
  const note = (path: string) => {
    opened.push(path);
    return open(path);
  };
  const stranger = { ...facts(env), uid: isRoot ? 0 : other };
  try {
    openNative(payload, stranger, note);
  } catch (error) {
    assert.ok(!isRoot && error instanceof PzError); // no place is left for a pretended user
  }
  assert.ok(opened.every((path) => !path.startsWith(folder)));
});

Deno.test("no home is made for a user who has none", onlyUnix, async () => {
  await using temp = await TempDir.create();
  const env = { HOME: temp.join("home"), TMPDIR: temp.path };
  assert.equal(openNative(new TestPayload(), facts(env), open), OPENED);
  assert.deepEqual([...Deno.readDirSync(temp.path)].map(({ name }) => name), [`pz-cache-${Deno.uid()}`]);
});

Deno.test("a place from which nothing can be loaded leads to the next one", onlyUnix, async () => {
  await using temp = await TempDir.create();
  const payload = new TestPayload();
  const env = { PZ_CACHE_DIR: temp.join("noexec"), TMPDIR: temp.path };
  const noexec = (path: string) => {
    if (path.startsWith(temp.join("noexec"))) throw new Error("failed to map segment from shared object");
    return open(path);
  };
  assert.equal(openNative(payload, facts(env), noexec), OPENED);
});

for (
  const [text, message] of [
    [
      "libstdc++.so.6: cannot open shared object file: No such file or directory",
      "The system library 'libstdc++.so.6' is missing, which DuckDB needs",
    ],
    [
      "/lib/libc.so.6: version `GLIBC_2.25' not found (required by /x/libduckdb.so)",
      "The system's glibc is too old: DuckDB needs GLIBC_2.25",
    ],
    [
      "/lib/libstdc++.so.6: version `GLIBCXX_3.4.21' not found (required by /x/libduckdb.so)",
      "The system's libstdc++ is too old: DuckDB needs GLIBCXX_3.4.21",
    ],
  ] as const
) {
  Deno.test(`a missing system library is told once, with what to install: ${text.slice(0, 40)}`, onlyUnix, async () => {
    await using temp = await TempDir.create();
    let opens = 0;
    const error = failureOf(() =>
      openNative(new TestPayload(), facts({ PZ_CACHE_DIR: temp.join("a"), TMPDIR: temp.path }), () => {
        opens++;
        throw new Error(text);
      })
    );
    assert.equal(error.code, "PZ0721");
    assert.equal(error.message, message);
    assert.ok(error.hint);
    assert.equal(opens, 1);
  });
}

Deno.test("a damaged payload is never published", onlyUnix, async () => {
  await using temp = await TempDir.create();
  const payload = new TestPayload();
  const files = payload.files.map((file) => ({ ...file, sha256: "0".repeat(64) }));
  const env = { PZ_CACHE_DIR: temp.join("cache"), TMPDIR: temp.path };
  const error = failureOf(() => openNative({ id: payload.id, files }, facts(env), open));
  assert.equal(error.code, "PZ0720");
  assert.match(error.message, /'duckdb\.node' in this pz is damaged/);
  assert.deepEqual([...Deno.readDirSync(temp.join("cache", "native"))], []);
});
