import assert from "node:assert/strict";
import { installedConnectors } from "../../../../src/connectors/packages/installed.ts";
import { integrityOf } from "../../../../src/connectors/packages/integrity.ts";
import {
  lockDrift,
  type LockedPackage,
  lockText,
  readLock,
  writeLock,
} from "../../../../src/connectors/packages/lock.ts";
import { PzError } from "../../../../src/errors/mod.ts";
import { TempDir, writeFiles } from "../../../harness/temp_dir.ts";

const HASH = integrityOf(new Uint8Array());

function locked(id: string, changes: Partial<LockedPackage> = {}): LockedPackage {
  return {
    id,
    requested: "^1.0.0",
    connector: `c${id.length}${id.at(-1)}`,
    version: "1.2.0",
    resolved: "https://registry.test/x.tgz",
    integrity: HASH,
    files: { "pz.connector.json": HASH, "connector.js": HASH },
    ...changes,
  };
}

Deno.test("the hash of nothing is the one that npm gives", () => {
  assert.equal(
    HASH,
    "sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==",
  );
});

Deno.test("a lock is the same bytes for the same packages, in any order", async () => {
  await using folder = await TempDir.create();
  const text = lockText([
    locked("b"),
    locked("a", { files: { "z.js": HASH, "pz.connector.json": HASH, "a.js": HASH } }),
  ]);
  assert.equal(
    text,
    lockText([locked("a", { files: { "a.js": HASH, "pz.connector.json": HASH, "z.js": HASH } }), locked("b")]),
  );
  assert.match(text, /^\{\n {2}"version": 3,\n/);
  assert.equal(await writeLock(folder.path, [locked("a")]), true);
  assert.equal(await writeLock(folder.path, [locked("a")]), false);
  assert.deepEqual(await readLock(folder.path), [locked("a")]);
});

Deno.test("a lock that was changed by hand, or is another tool's, is refused", async () => {
  await using folder = await TempDir.create();
  assert.equal(await readLock(folder.path), undefined);
  const good: { packages: Record<string, unknown>[] } = JSON.parse(lockText([locked("a")]));
  const changed = (changes: object) => JSON.stringify({ ...good, packages: [{ ...good.packages[0], ...changes }] });
  for (
    const text of [
      "",
      "{}",
      '{"version":2,"packages":[]}',
      changed({ connector: "../../evil" }),
      changed({ connector: "a/b" }),
      changed({ version: ".." }),
      changed({ integrity: "sha1-x" }),
      changed({ files: {} }),
      changed({ files: { "../x": HASH, "pz.connector.json": HASH } }),
      changed({ files: { "pz.connector.json": "x" } }),
      JSON.stringify({ ...good, packages: [good.packages[0], good.packages[0]] }),
    ]
  ) {
    await writeFiles(folder.path, { "pz.lock.json": text });
    await assert.rejects(readLock(folder.path), (error) => error instanceof PzError && error.code === "PZ0321", text);
  }
});

Deno.test("every difference between project.yml and the lock is told", () => {
  const declared = [{ package: "a", version: "^2.0.0" }, { package: "b", version: undefined }];
  assert.deepEqual(lockDrift(declared, [locked("a"), locked("c")]).map(({ code, message }) => `${code} ${message}`), [
    "PZ0321 package 'a' is locked for version '^1.0.0', and project.yml asks for version '^2.0.0'",
    "PZ0321 package 'b' of project.yml is not in the lock",
    "PZ0321 package 'c' of the lock is not in project.yml",
  ]);
  assert.deepEqual(lockDrift([{ package: "a", version: "^1.0.0" }], [locked("a")]), []);
});

Deno.test("packages without a lock are told by their names", async () => {
  await using folder = await TempDir.create();
  const messageFor = async (...packages: readonly string[]) => {
    const declared = packages.map((id) => ({ package: id, version: undefined }));
    const found = await installedConnectors(folder.path, declared, () => false);
    return found.ok ? [] : found.errors.map(({ code, message }) => `${code} ${message}`);
  };
  assert.deepEqual(await messageFor("../maildir"), [
    "PZ0322 project.yml declares the package '../maildir', and it is not installed: there is no pz.lock.json",
  ]);
  assert.deepEqual(await messageFor("./a", "@b/c"), [
    "PZ0322 project.yml declares the packages './a', '@b/c', and they are not installed: there is no pz.lock.json",
  ]);
});
