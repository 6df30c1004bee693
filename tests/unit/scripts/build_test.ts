import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { join, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { artifactName, publishArtifact, writeChecksums } from "../../../scripts/build_artifacts.ts";
import type { BundleOptions } from "../../../scripts/build_bundle.ts";
import { licencesOf } from "../../../scripts/build_licenses.ts";
import { writeGuard } from "../../../scripts/build_guard.ts";
import { packNative } from "../../../scripts/build_native.ts";
import { packageFiles } from "../../../scripts/build_package.ts";
import { tarFiles } from "../../../scripts/build_tar.ts";
import { type Target, TARGETS } from "../../../scripts/build_targets.ts";
import { listFiles, TempDir, writeFiles } from "../../harness/temp_dir.ts";
import { ReleaseServer } from "./release_server.ts";

const ROOT = resolve(import.meta.dirname ?? ".", "../../..");
const NATIVE = "@duckdb/node-bindings-linux-x64";
const ARCHIVE_PATH = `/${NATIVE}/-/node-bindings-linux-x64-1.0.0.tgz`;

function targetNamed(name: string): Target {
  const target = TARGETS.find((target) => target.name === name);
  assert.ok(target !== undefined);
  return target;
}

/** A tar archive as npm makes it. */
function tarOf(files: { readonly [path: string]: string }): Uint8Array {
  const blocks: Uint8Array[] = [];
  for (const [path, text] of Object.entries(files)) {
    const encoder = new TextEncoder();
    const content = encoder.encode(text);
    const block = new Uint8Array(512 + Math.ceil(content.length / 512) * 512);
    encoder.encodeInto(path, block);
    encoder.encodeInto(content.length.toString(8).padStart(11, "0"), block.subarray(124));
    encoder.encodeInto("0", block.subarray(156));
    block.set(content, 512);
    blocks.push(block);
  }
  return new Uint8Array([...blocks, new Uint8Array(1024)].flatMap((block) => [...block]));
}

const ARCHIVE = gzipSync(tarOf({ "package/duckdb.node": "the addon", "package/libduckdb.so": "the library" }));

function integrityOf(bytes: Uint8Array): string {
  return `sha512-${createHash("sha512").update(bytes).digest("base64")}`;
}

/** A repository that names one native package, with the integrity given. */
async function withRepository(integrity: string, work: (temp: TempDir) => Promise<void>): Promise<void> {
  await using temp = await TempDir.create();
  await writeFiles(temp.path, {
    "deno.json": JSON.stringify({ imports: { "@duckdb/node-bindings": "npm:@duckdb/node-bindings@1.0.0" } }),
    "deno.lock": JSON.stringify({ npm: { [`${NATIVE}@1.0.0`]: { integrity } } }),
  });
  await work(temp);
}

/** Makes the build ask a registry on this machine. */
async function withRegistry(archives: { readonly [path: string]: Uint8Array }, work: () => Promise<void>) {
  const before = Deno.env.get("NPM_CONFIG_REGISTRY");
  await using server = new ReleaseServer(archives);
  Deno.env.set("NPM_CONFIG_REGISTRY", server.address);
  try {
    await work();
  } finally {
    if (before === undefined) Deno.env.delete("NPM_CONFIG_REGISTRY");
    else Deno.env.set("NPM_CONFIG_REGISTRY", before);
  }
}

Deno.test("the files of an archive are found by their path, and one that is cut off is refused", () => {
  const archive = tarOf({ "package/a": "", "package/b": "x".repeat(600), "package/c": "end" });
  const decoder = new TextDecoder();
  const found = [...tarFiles(archive)].map(([path, bytes]) => [path, decoder.decode(bytes)]);
  assert.deepEqual(found, [["package/a", ""], ["package/b", "x".repeat(600)], ["package/c", "end"]]);
  assert.throws(() => tarFiles(archive.subarray(0, 1200)), /'package\/b' is cut off/);
});

Deno.test("a package is fetched once, and again when what was kept is damaged", async () => {
  await withRepository(integrityOf(ARCHIVE), async (temp) => {
    const kept = temp.join("gen/npm/@duckdb+node-bindings-linux-x64-1.0.0.tgz");
    const take = async () => [...(await packageFiles(temp.path, NATIVE, "1.0.0")).keys()];
    const names = ["package/duckdb.node", "package/libduckdb.so"];
    await withRegistry({ [ARCHIVE_PATH]: ARCHIVE }, async () => assert.deepEqual(await take(), names));
    await withRegistry({}, async () => assert.deepEqual(await take(), names));
    await Deno.truncate(kept, 10);
    await withRegistry(
      {},
      () => assert.rejects(take, /can't fetch .*: status 404; NPM_CONFIG_REGISTRY names a registry/),
    );
    await withRegistry({ [ARCHIVE_PATH]: ARCHIVE }, async () => assert.deepEqual(await take(), names));
    assert.deepEqual(await listFiles(temp.join("gen")), ["npm/@duckdb+node-bindings-linux-x64-1.0.0.tgz"]);
  });
});

Deno.test("a package that is not the one of deno.lock goes into no binary and is not kept", async () => {
  await withRepository(integrityOf(new Uint8Array(3)), async (temp) => {
    await withRegistry({ [ARCHIVE_PATH]: ARCHIVE }, async () => {
      await assert.rejects(
        packNative(temp.path, targetNamed("linux-x64"), temp.join("native")),
        /node-bindings-linux-x64@1\.0\.0 has another content than deno\.lock says: sha512-/,
      );
      await assert.rejects(
        packNative(temp.path, targetNamed("linux-arm64"), temp.join("native")),
        /deno\.lock has no integrity for @duckdb\/node-bindings-linux-arm64@1\.0\.0/,
      );
    });
    assert.deepEqual(await listFiles(temp.path), ["deno.json", "deno.lock"]);
  });
});

Deno.test("deno.lock names the native package of every target", async () => {
  const lock: object = JSON.parse(await Deno.readTextFile(join(ROOT, "deno.lock")));
  assert.ok("npm" in lock && typeof lock.npm === "object" && lock.npm !== null);
  const packages: readonly string[] = Object.keys(lock.npm);
  for (const { name } of TARGETS) {
    const locked = packages.filter((key) => key.startsWith(`@duckdb/node-bindings-${name}@`));
    assert.equal(locked.length, 1, name);
  }
});

Deno.test("the lock holds npm packages alone, and nothing that a test has fetched", async () => {
  const lock = JSON.parse(await Deno.readTextFile(join(ROOT, "deno.lock")));
  assert.deepEqual(Object.keys(lock).sort(), ["npm", "specifiers", "version", "workspace"]);
});

/** Bundles in a process of its own: that of the bundler, which nobody can wait for, ends with it. */
async function bundleAlone(options: BundleOptions): Promise<readonly string[]> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", join(ROOT, "tests/unit/scripts/bundle_alone.ts"), JSON.stringify(options)],
    cwd: ROOT,
  }).output();
  const decoder = new TextDecoder();
  assert.ok(success, decoder.decode(stderr));
  return JSON.parse(decoder.decode(stdout));
}

Deno.test("payload, bundles and configuration are the same bytes at every build, in every folder", async () => {
  await withRepository(integrityOf(ARCHIVE), async (temp) => {
    await withRegistry({ [ARCHIVE_PATH]: ARCHIVE }, async () => {
      const builds: object[] = [];
      let count = 0;
      for (const name of ["one", "another/place"]) {
        const folder = temp.join(name);
        const native = await packNative(temp.path, targetNamed("linux-x64"), join(folder, "native"));
        const modules = await bundleAlone({ root: ROOT, folder, version: "1.2.3", native });
        await writeGuard(folder, modules);
        const files = await listFiles(folder);
        count = files.length;
        const contents = files.map((path) => integrityOf(Deno.readFileSync(join(folder, path))));
        builds.push({ id: native.id, files, contents });
      }
      assert.ok(count > 10);
      assert.deepEqual(builds[0], builds[1]);
    });
  });
});

Deno.test("artifacts carry version and target in their name, and SHA256SUMS names those of the version", async () => {
  await using temp = await TempDir.create();
  const names = TARGETS.map((target) => artifactName("1.2.3", target));
  assert.deepEqual(names, [
    "pz-1.2.3-linux-x64",
    "pz-1.2.3-linux-arm64",
    "pz-1.2.3-darwin-arm64",
    "pz-1.2.3-darwin-x64",
    "pz-1.2.3-win32-x64.exe",
  ]);
  await writeFiles(temp.path, {
    "pz": "abc",
    "pz-1.2.2-linux-x64": "older",
    "LICENSES.txt": "",
    "SHA256SUMS": "older",
  });
  for (const name of ["win32-x64", "linux-x64"]) {
    await publishArtifact(temp.join("pz"), temp.path, "1.2.3", targetNamed(name));
  }
  assert.deepEqual(await writeChecksums(temp.path, "1.2.3"), ["pz-1.2.3-linux-x64", "pz-1.2.3-win32-x64.exe"]);
  const sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
  assert.equal(
    await Deno.readTextFile(temp.join("SHA256SUMS")),
    `${sha256}  pz-1.2.3-linux-x64\n${sha256}  pz-1.2.3-win32-x64.exe\n`,
  );
  assert.equal((await listFiles(temp.path)).length, 6);
});

Deno.test("a licence is the package's file or the chapter of its README; its name alone is enough for MIT with an author", async () => {
  await using temp = await TempDir.create();
  const text = "Copyright (c) A Person\n\nPermission is hereby granted.";
  const manifest = (name: string) => JSON.stringify({ name, version: "1.0.0" });
  await writeFiles(temp.path, {
    "a/package.json": manifest("a"),
    "a/LICENSE": text,
    "b/package.json": manifest("b"),
    "b/README.md": `# b\n\n## license\n\n${text}\n\n## More\n\nWords.\n`,
    "c/package.json": manifest("c"),
    "c/README.md": "# c\n\n## License\n\nMIT\n",
  });
  const rule = "-".repeat(80);
  assert.equal(await licencesOf(temp.path, ["b", "a"]), `a 1.0.0\n\n${text}\n\n${rule}\n\nb 1.0.0\n\n${text}\n`);
  await assert.rejects(licencesOf(temp.path, ["c"]), /'c 1\.0\.0' has no licence text/);
  const mit = { name: "d", version: "1.0.0", license: "MIT", author: "Ada" };
  await writeFiles(temp.path, { "d/package.json": JSON.stringify(mit) });
  assert.match(await licencesOf(temp.path, ["d"]), /Copyright \(c\) Ada[^]*Permission is hereby granted/);
});
