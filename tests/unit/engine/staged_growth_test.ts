import { createHash } from "node:crypto";
import assert from "node:assert/strict";
import { setTimeout } from "node:timers/promises";
import { openDuckDb } from "../../../src/duckdb/mod.ts";
import { type Growth, StagedGrowth } from "../../../src/engine/executors/staged_growth.ts";
import { TempDir, writeFiles } from "../../harness/temp_dir.ts";

const ROWS = 400_000;

Deno.test("what DuckDB has written of a file stays as it is while it writes on, in every format", async () => {
  await using folder = await TempDir.create();
  await using database = await openDuckDb({ allowedPaths: { files: [], folders: [folder.path] } });
  const connection = await database.connect();
  await connection.run(
    `CREATE TABLE t AS SELECT range AS id, md5(range::varchar) AS a, md5((range + 1)::varchar) AS b FROM range(${ROWS})`,
  );
  for (
    const options of [
      "FORMAT csv, HEADER true",
      "FORMAT json, ARRAY false",
      "FORMAT json, ARRAY true",
      "FORMAT parquet",
    ]
  ) {
    const path = folder.join("file");
    const seen: { readonly bytes: number; readonly hash: string }[] = [];
    const growth = new StagedGrowth(folder.path, "file", ({ bytes }) => {
      seen.push({ bytes, hash: hashOf(path, bytes) });
    });
    const stop = new AbortController();
    const watching = growth.watch(stop.signal);
    await connection.run(`COPY (FROM t) TO '${path}' (${options}, USE_TMP_FILE false)`);
    stop.abort();
    await watching;
    const { files, bytes } = await growth.finish();
    assert.deepEqual([files, bytes], [1, (await Deno.stat(path)).size]);
    for (const { bytes: known, hash } of seen) assert.equal(hashOf(path, known), hash, `${options} ${known}`);
    assert.equal(seen.at(-1)?.bytes, bytes);
    await Deno.remove(path);
  }
  await connection.close();
});

Deno.test("a file is told as it grows, in steps, and as whole at the end; several files only then", async () => {
  await using folder = await TempDir.create();
  const told: Growth[] = [];
  const waiters: (() => void)[] = [];
  const growth = new StagedGrowth(folder.path, "x.csv", (file) => {
    told.push(file);
    waiters.shift()?.();
  });
  const stop = new AbortController();
  const watching = growth.watch(stop.signal);
  const once = new Promise<void>((resolve) => waiters.push(resolve));
  await writeFiles(folder.path, { "x.csv": new Uint8Array(5 << 20) });
  const patience = new AbortController();
  const late = setTimeout(10_000, undefined, { signal: patience.signal }).catch(() => {});
  await Promise.race([once, late]);
  patience.abort();
  stop.abort();
  await watching;
  await Deno.writeFile(folder.join("x.csv"), new Uint8Array(1), { append: true });
  assert.deepEqual(await growth.finish(), { files: 1, bytes: (5 << 20) + 1 });
  assert.deepEqual(told.at(-1), { path: "x.csv", bytes: (5 << 20) + 1, isWhole: true });
  assert.ok(told.slice(0, -1).every(({ isWhole, bytes }) => !isWhole && bytes <= 5 << 20));
  assert.ok(told.length >= 2);

  await using many = await TempDir.create();
  await writeFiles(many.path, { "b/k=2/x.csv": "22", "b/k=1/x.csv": "1", "a.csv": "" });
  const all: Growth[] = [];
  assert.deepEqual(await new StagedGrowth(many.path, undefined, (file) => void all.push(file)).finish(), {
    files: 3,
    bytes: 3,
  });
  assert.deepEqual(all.map(({ path, bytes }) => `${path} ${bytes}`), ["a.csv 0", "b/k=1/x.csv 1", "b/k=2/x.csv 2"]);
});

function hashOf(path: string, bytes: number): string {
  using file = Deno.openSync(path);
  const content = new Uint8Array(bytes);
  for (let at = 0; at < bytes;) at += file.readSync(content.subarray(at)) ?? bytes;
  return createHash("sha256").update(content).digest("hex");
}
