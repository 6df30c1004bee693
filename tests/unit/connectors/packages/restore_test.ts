import assert from "node:assert/strict";
import { installedConnectors } from "../../../../src/connectors/packages/installed.ts";
import type { DeclaredPackage } from "../../../../src/connectors/packages/lock.ts";
import { type RestoreOptions, restorePackages } from "../../../../src/connectors/packages/restore.ts";
import { listFiles, TempDir, writeFiles } from "../../../harness/temp_dir.ts";
import { manifestText, npmTarball, packageFiles, tarballOf } from "./package_support.ts";
import { Registry } from "./registry_support.ts";

const NPM: DeclaredPackage = { package: "@acme/pz-acme", version: "^1.1.0" };
const FOLDER: DeclaredPackage = { package: "./acme", version: undefined };

/** The lines of what was done, or the codes of what is wrong. */
async function restore(root: string, declared: readonly DeclaredPackage[], changes: Partial<RestoreOptions> = {}) {
  const result = await restorePackages({
    root,
    declared,
    registries: [],
    update: false,
    env: { PZ_CACHE_DIR: `${root}/cache` },
    isKnown: (name) => name === "postgres",
    ...changes,
  });
  return result.ok
    ? result.value.packages.map(({ id, version, how }) => `${id} ${version} ${how}`)
    : result.errors.map(({ code }) => code);
}

/** The code of the one connector that is installed, or the codes of what is wrong. */
async function installed(root: string, declared: readonly DeclaredPackage[]): Promise<string | readonly string[]> {
  const result = await installedConnectors(root, declared, (name) => name === "postgres");
  if (!result.ok) return result.errors.map(({ code }) => code);
  const [{ program } = {}] = result.value;
  assert.ok(program?.kind === "module");
  return new TextDecoder().decode(program.code);
}

async function published(): Promise<Registry> {
  return new Registry({
    "@acme/pz-acme": {
      "1.0.0": await npmTarball(packageFiles("old", { version: "1.0.0" })),
      "1.2.0": await npmTarball({ ...packageFiles("good"), "package.json": "{}", "README.md": "x" }),
      "2.0.0": await npmTarball(packageFiles("next", { version: "2.0.0" })),
    },
  });
}

Deno.test("a folder is copied and locked, and only what its manifest names", async () => {
  await using temp = await TempDir.create();
  const files = packageFiles("mine");
  await writeFiles(temp.join("acme"), { ...files, "secret.txt": "x" });
  assert.deepEqual(await restore(temp.path, [FOLDER]), ["./acme 1.2.0 copied"]);
  assert.deepEqual(await listFiles(temp.join(".pz/packages")), [
    "acme/1.2.0/connector.js",
    "acme/1.2.0/pz.connector.json",
  ]);
  assert.equal(await installed(temp.path, [FOLDER]), files["connector.js"]);
  assert.deepEqual(await restore(temp.path, [FOLDER]), ["./acme 1.2.0 cache hit"]);
});

Deno.test("a changed folder is refused until the lock is made anew", async () => {
  await using temp = await TempDir.create();
  await writeFiles(temp.join("acme"), packageFiles("one"));
  await restore(temp.path, [FOLDER]);
  const changed = packageFiles("two");
  await writeFiles(temp.join("acme"), changed);
  assert.deepEqual(await restore(temp.path, [FOLDER]), ["PZ0327"]);
  assert.equal(await installed(temp.path, [FOLDER]), packageFiles("one")["connector.js"]);
  assert.deepEqual(await restore(temp.path, [FOLDER], { update: true }), ["./acme 1.2.0 copied"]);
  assert.equal(await installed(temp.path, [FOLDER]), changed["connector.js"]);
});

Deno.test("a range is resolved to the highest version that fits, once; then the lock decides", async () => {
  await using temp = await TempDir.create();
  await using registry = await published();
  const registries = [registry.url];
  assert.deepEqual(await restore(temp.path, [NPM], { registries }), ["@acme/pz-acme 1.2.0 downloaded"]);
  const lock = JSON.parse(await Deno.readTextFile(temp.join("pz.lock.json")));
  assert.equal(lock.packages[0].resolved, `${registry.url}/@acme/pz-acme/-/1.2.0.tgz`);
  assert.deepEqual(registry.asked, ["@acme/pz-acme", "@acme/pz-acme/-/1.2.0.tgz"]);
  assert.deepEqual(await restore(temp.path, [NPM], { registries }), ["@acme/pz-acme 1.2.0 cache hit"]);
  assert.equal(registry.asked.length, 2);
});

Deno.test("without a network the cache is enough, and what is damaged is put back", async () => {
  await using temp = await TempDir.create();
  {
    await using registry = await published();
    await restore(temp.path, [NPM], { registries: [registry.url] });
  }
  await Deno.remove(temp.join(".pz"), { recursive: true });
  assert.deepEqual(await installed(temp.path, [NPM]), ["PZ0304", "PZ0304"]);
  assert.deepEqual(await restore(temp.path, [NPM]), ["@acme/pz-acme 1.2.0 cache hit"]);
  await Deno.writeTextFile(temp.join(".pz/packages/acme/1.2.0/connector.js"), "evil");
  assert.deepEqual(await installed(temp.path, [NPM]), ["PZ0326"]);
  assert.deepEqual(await restore(temp.path, [NPM]), ["@acme/pz-acme 1.2.0 cache hit"]);
  assert.equal(await installed(temp.path, [NPM]), packageFiles("good")["connector.js"]);
});

Deno.test("another tarball than the lock's is refused, from the registry and from a damaged cache", async () => {
  await using temp = await TempDir.create();
  await using registry = await published();
  const registries = [registry.url];
  await restore(temp.path, [NPM], { registries });
  await Deno.remove(temp.join(".pz"), { recursive: true });
  const [cached = ""] = await listFiles(temp.join("cache/packages"));
  await Deno.writeTextFile(temp.join("cache/packages", cached), "evil");
  registry.tampered = await npmTarball(packageFiles("evil"));
  assert.deepEqual(await restore(temp.path, [NPM], { registries }), ["PZ0327"]);
  assert.deepEqual(await installed(temp.path, [NPM]), ["PZ0304", "PZ0304"]);
  registry.tampered = undefined;
  assert.deepEqual(await restore(temp.path, [NPM], { registries }), ["@acme/pz-acme 1.2.0 downloaded"]);
});

Deno.test("a tarball that its registry does not describe is never installed", async () => {
  await using temp = await TempDir.create();
  await using registry = await published();
  registry.tampered = await npmTarball(packageFiles("evil"));
  assert.deepEqual(await restore(temp.path, [NPM], { registries: [registry.url] }), ["PZ0320"]);
  assert.deepEqual(await installed(temp.path, [NPM]), ["PZ0322"]);
});

Deno.test("what project.yml asks for and the lock does not hold is drift, for restore and for a run", async () => {
  await using temp = await TempDir.create();
  await using registry = await published();
  const registries = [registry.url];
  await restore(temp.path, [NPM], { registries });
  const moved = [{ ...NPM, version: "^2.0.0" }];
  assert.deepEqual(await restore(temp.path, moved, { registries }), ["PZ0321"]);
  assert.deepEqual(await installed(temp.path, moved), ["PZ0321"]);
  assert.deepEqual(await restore(temp.path, moved, { registries, update: true }), ["@acme/pz-acme 2.0.0 downloaded"]);
});

Deno.test("versions that nothing pins, that nobody has, and names that are none are refused", async () => {
  await using temp = await TempDir.create();
  await using registry = await published();
  const wanted = async (id: string, version: string | undefined) =>
    (await restore(temp.path, [{ package: id, version }], { registries: [registry.url] })).join();
  for (const version of ["latest", "*", "x", ""]) {
    assert.equal(await wanted("@acme/pz-acme", version), "PZ0323", version);
  }
  assert.equal(await wanted("@acme/pz-acme", undefined), "PZ0323");
  assert.equal(await wanted("@acme/pz-acme", "9.9.9"), "PZ0320");
  assert.equal(await wanted("nobody-has-this", "1.0.0"), "PZ0320");
  assert.equal(await wanted("Not A Name", "1.0.0"), "PZ0320");
  assert.equal(await wanted("./nowhere", undefined), "PZ0320");
});

Deno.test("a registry that can't be reached is told without its login, which it gets", async () => {
  await using temp = await TempDir.create();
  await using registry = await published();
  const registries = [registry.url.replace("http://", "http://ada:s3cret@")];
  assert.deepEqual(await restore(temp.path, [NPM], { registries }), ["@acme/pz-acme 1.2.0 downloaded"]);
  assert.equal(registry.authorization, `Basic ${btoa("ada:s3cret")}`);
  assert.doesNotMatch(await Deno.readTextFile(temp.join("pz.lock.json")), /s3cret/);
  for (const status of [401, 403, 500]) {
    registry.status = status;
    const result = await restorePackages({
      root: temp.path,
      declared: [NPM],
      registries,
      update: true,
      env: {},
      isKnown: () => false,
    });
    assert.ok(!result.ok);
    const [error] = result.errors;
    assert.equal(error?.code, "PZ0328");
    assert.match(error.message, new RegExp(`it answers ${status}`));
    assert.doesNotMatch(error.message, /s3cret/);
  }
});

Deno.test("a second registry is asked for what the first has not", async () => {
  await using temp = await TempDir.create();
  await using first = new Registry({});
  await using second = await published();
  assert.deepEqual(await restore(temp.path, [NPM], { registries: [first.url, second.url] }), [
    "@acme/pz-acme 1.2.0 downloaded",
  ]);
  assert.deepEqual(first.asked, ["@acme/pz-acme"]);
});

Deno.test("nothing is installed or locked unless every package is found", async () => {
  await using temp = await TempDir.create();
  await writeFiles(temp.join("acme"), packageFiles("mine"));
  const declared = [FOLDER, { package: "./nowhere", version: undefined }];
  assert.deepEqual(await restore(temp.path, declared), ["PZ0320"]);
  assert.deepEqual(await listFiles(temp.join(".pz/packages")), []);
  assert.equal(await Deno.readTextFile(temp.join("pz.lock.json")).catch(() => undefined), undefined);
});

Deno.test("no package takes the name of a connector inside pz, or of another package", async () => {
  await using temp = await TempDir.create();
  await writeFiles(temp.join("pg"), { ...packageFiles("x"), "pz.connector.json": manifestText({ name: "postgres" }) });
  await writeFiles(temp.join("acme"), packageFiles("x"));
  await writeFiles(temp.join("other"), packageFiles("y"));
  assert.deepEqual(await restore(temp.path, [{ package: "./pg", version: undefined }]), ["PZ0305"]);
  assert.deepEqual(await restore(temp.path, [FOLDER, { package: "./other", version: undefined }]), ["PZ0305"]);
});

Deno.test("a tarball beside the project is a package too, and a hostile one is refused whole", async () => {
  await using temp = await TempDir.create();
  await Deno.writeFile(temp.join("acme.tgz"), await npmTarball(packageFiles("mine")));
  const declared = [{ package: "./acme.tgz", version: undefined }];
  assert.deepEqual(await restore(temp.path, declared), ["./acme.tgz 1.2.0 copied"]);
  assert.equal(await installed(temp.path, declared), packageFiles("mine")["connector.js"]);
  const evil = await tarballOf([
    ...Object.entries(packageFiles("x")).map(([path, content]) => ({ name: `package/${path}`, content })),
    { name: "package/../../../evil", content: "x" },
  ]);
  await Deno.writeFile(temp.join("acme.tgz"), evil);
  assert.deepEqual(await restore(temp.path, declared, { update: true }), ["PZ0320"]);
  assert.equal(await installed(temp.path, declared), packageFiles("mine")["connector.js"]);
});

Deno.test("restores of one project at once all end well, with one whole package", async () => {
  await using temp = await TempDir.create();
  await using registry = await published();
  const registries = [registry.url];
  const results = await Promise.all(
    Array.from({ length: 4 }, () => restore(temp.path, [NPM], { registries, update: true })),
  );
  for (const result of results) assert.match(result.join(), /^@acme\/pz-acme 1.2.0 (?:downloaded|cache hit)$/);
  assert.equal(await installed(temp.path, [NPM]), packageFiles("good")["connector.js"]);
  assert.deepEqual(await listFiles(temp.join(".pz/packages")), [
    "acme/1.2.0/connector.js",
    "acme/1.2.0/pz.connector.json",
  ]);
});

Deno.test("what a restore left that died is swept by the next", async () => {
  await using temp = await TempDir.create();
  await writeFiles(temp.join("acme"), packageFiles("mine"));
  await writeFiles(temp.join(".pz/packages/acme"), { ".123.0123456789abcdef.new/connector.js": "half" });
  await restore(temp.path, [FOLDER]);
  assert.deepEqual(await listFiles(temp.join(".pz/packages")), [
    "acme/1.2.0/connector.js",
    "acme/1.2.0/pz.connector.json",
  ]);
});

Deno.test("a link in the place of an installed file is not followed", async () => {
  await using temp = await TempDir.create();
  await writeFiles(temp.join("acme"), packageFiles("mine"));
  await restore(temp.path, [FOLDER]);
  const file = temp.join(".pz/packages/acme/1.2.0/connector.js");
  await Deno.rename(file, temp.join("elsewhere.js"));
  await Deno.symlink(temp.join("elsewhere.js"), file);
  assert.deepEqual(await installed(temp.path, [FOLDER]), ["PZ0304"]);
});

Deno.test("a manifest whose version is not the package's, and a package that is no connector, are refused", async () => {
  await using temp = await TempDir.create();
  await using registry = new Registry({
    wrong: { "3.0.0": await npmTarball(packageFiles("x")) },
    none: { "1.0.0": await npmTarball({ "index.js": "x" }) },
    entryless: { "1.2.0": await npmTarball({ "pz.connector.json": manifestText() }) },
  });
  const wanted = async (id: string) =>
    (await restore(temp.path, [{ package: id, version: ">=1" }], { registries: [registry.url] })).join();
  assert.equal(await wanted("wrong"), "PZ0320");
  assert.equal(await wanted("none"), "PZ0320");
  assert.equal(await wanted("entryless"), "PZ0354");
});
