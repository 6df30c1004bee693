import assert from "node:assert/strict";
import { writeGuard } from "../../scripts/build_guard.ts";
import { TempDir } from "../harness/temp_dir.ts";

type Guard = {
  readonly imports: { readonly [specifier: string]: string };
  readonly scopes: { readonly [prefix: string]: { readonly [specifier: string]: string } };
};

async function guardOf(modules: readonly string[]): Promise<Guard> {
  await using temp = await TempDir.create();
  return JSON.parse(await Deno.readTextFile(await writeGuard(temp.path, modules)));
}

Deno.test("file: leads nowhere but to the modules inside, each by its whole name", async () => {
  const { imports } = await guardOf(["main.js", "chunk-A.js"]);
  assert.equal(imports["file:///"], "file:///dev/null/blocked-by-pz/");
  const own = Object.keys(imports).filter((key) => key.startsWith("./")).sort();
  assert.deepEqual(own, ["./chunk-A.js", "./guard_module.js", "./guard_process.js", "./main.js"]);
  for (const key of own) assert.equal(imports[key], key);
});

Deno.test("code from elsewhere never gets the built-in modules that lead around the guard, our own does", async () => {
  const { imports, scopes } = await guardOf([]);
  for (const name of ["child_process", "cluster", "inspector", "repl", "vm", "worker_threads"]) {
    for (const key of [name, `node:${name}`]) {
      assert.equal(imports[key], `file:///dev/null/blocked-by-pz/${name}`);
      assert.equal(scopes["./"]?.[key], `node:${name}`);
    }
  }
  for (const name of ["module", "process"]) {
    for (const key of [name, `node:${name}`]) {
      assert.equal(imports[key], `./guard_${name}.js`);
      assert.equal(scopes["./"]?.[key], `node:${name}`);
    }
  }
  assert.deepEqual(Object.keys(scopes), ["./"]);
});
