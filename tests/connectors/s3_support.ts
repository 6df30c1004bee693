import assert from "node:assert/strict";
import { type PzResult, runPz } from "../harness/cli.ts";
import { Duck } from "../harness/duck.ts";
import type { TestStore } from "../harness/s3_store.ts";
import { type Files, TempDir, writeFiles } from "../harness/temp_dir.ts";

/** A project with the connection `store`, whose root is a prefix of its own, and `files` for what is local. */
export async function storeProject(
  store: TestStore,
  prefix: string,
  files: Files,
  { entities = "", settings = "" }: { readonly entities?: string; readonly settings?: string } = {},
): Promise<TempDir> {
  const folder = await TempDir.create();
  await writeFiles(folder.path, {
    "project.yml": `name: shop\nversion: "1"\n${settings}`,
    "connections.yml": `store:\n${store.yaml(prefix)}${entities}files:\n  connector: localfiles\n  root: data\n`,
    ...files,
  });
  return folder;
}

/** Runs a verb of pz in a project; no secret may show. */
export async function pzIn(folder: TempDir, store: TestStore, ...args: readonly string[]): Promise<PzResult> {
  const result = await runPz(args, { cwd: folder.path, env: { S3_SECRET: store.secret } });
  assert.ok(!result.stdout.includes(store.secret) && !result.stderr.includes(store.secret), "a secret was shown");
  return result;
}

/** Runs all of a project, which must succeed. */
export async function runAll(folder: TempDir, store: TestStore): Promise<PzResult> {
  const result = await pzIn(folder, store, "run", "--all");
  assert.equal(result.code, 0, String(result));
  return result;
}

/** The rows of an object of the store, as DuckDB reads them from a file. */
export async function objectRows(store: TestStore, key: string): Promise<readonly (readonly (string | null)[])[]> {
  await using folder = await TempDir.create();
  const file = folder.join(`object${/\.\w+$/.exec(key)?.[0] ?? ""}`);
  await Deno.writeFile(file, await store.get(key));
  using duck = await Duck.open();
  return await duck.rows(`SELECT * FROM '${file}'`);
}

/** No file on its way may be left in the project, and no upload in the store. */
export async function assertNothingLeft(folder: TempDir, store: TestStore): Promise<void> {
  assert.deepEqual(await store.uploads(), []);
  const left: string[] = [];
  const look = async (path: string) => {
    for await (const { name, isDirectory } of Deno.readDir(path)) {
      if (isDirectory) await look(`${path}/${name}`);
      else if (path.includes("/files/")) left.push(`${path}/${name}`);
    }
  };
  await look(folder.join(".pz"));
  assert.deepEqual(left, []);
}
