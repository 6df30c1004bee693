import assert from "node:assert/strict";
import { buildConnector } from "../../../../src/connectors/packages/build.ts";
import { scaffoldFiles } from "../../../../src/connectors/packages/scaffold/scaffold.ts";
import { SDK_TYPES } from "../../../../src/connectors/packages/scaffold/sdk_types.ts";
import { arrowSchema, BatchBuilder, columnReaders } from "../../../../src/connectors/sdk/mod.ts";
import { TempDir, writeFiles } from "../../../harness/temp_dir.ts";
import { openPackage, SPEC } from "../host/package_support.ts";
import { failureOf, NEVER } from "../host/served_support.ts";

const README = await Deno.readTextFile(new URL("../../../../README.md", import.meta.url));
const CONNECTOR = /^```ts\n(import .*?)^```$/ms.exec(README)?.[1] ?? "";
const OUTPUT = {
  ...SPEC,
  entity: "shelf",
  mode: "append",
  schemaPolicy: "fail_on_change",
  keys: [],
  attempt: { node: "n", run: "r", ordinal: 1 },
} as const;

/** The connector that the README shows, as a new package whose manifest says the same. */
async function packaged(): Promise<TempDir> {
  const folder = await TempDir.create();
  const files = Object.fromEntries(scaffoldFiles("notes"));
  const manifest = JSON.parse(files["pz.connector.json"] ?? "{}");
  await writeFiles(folder.path, {
    ...files,
    "connector.ts": CONNECTOR,
    "pz.connector.json": JSON.stringify({ ...manifest, capabilities: ["Transactional"] }),
  });
  return folder;
}

Deno.test("the connector that the README shows passes the type checker, writes, takes back and reads", async () => {
  await using folder = await packaged();
  const { code, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["check", "--quiet", "--config", folder.join("deno.json"), folder.join("connector.ts")],
    stderr: "piped",
    stdout: "null",
  }).output();
  assert.equal(code, 0, new TextDecoder().decode(stderr));
  const built = await buildConnector(folder.path);
  assert.ok(built.ok, JSON.stringify(built));
  const path = folder.join("data");
  await using session = openPackage(await Deno.readTextFile(folder.join("dist/connector.js")), {
    connector: "notes",
    config: { path },
    grant: { net: [], read: [path], write: [path], env: [] },
    capabilities: new Set(["Transactional"]),
  });
  const schema = arrowSchema([{ name: "text", type: "VARCHAR" }]);
  const write = async (texts: readonly (string | null)[]) => {
    const builder = new BatchBuilder(schema);
    for (const text of texts) builder.append([text]);
    const handle = await session.beginWrite(OUTPUT, schema, NEVER);
    await handle.write(builder.finish(), NEVER);
    return handle;
  };
  assert.deepEqual(await (await write(["a\nb", null])).commit(), { rows: 2n, batches: 1 });
  await (await write(["never"])).abort();
  assert.deepEqual((await Array.fromAsync(Deno.readDir(`${path}/shelf`))).length, 1);
  const [part] = await session.planRead({ ...SPEC, entity: "shelf" }, NEVER);
  const found: unknown[] = [];
  const options = { batchBytes: 4096, signal: NEVER };
  for await (const batch of session.read({ ...SPEC, entity: "shelf" }, part ?? { id: "" }, options)) {
    for (let row = 0; row < batch.numRows; row++) found.push(columnReaders(batch)[0]?.value(row));
  }
  assert.deepEqual(found, ["a\nb", null]);
  const numbers = arrowSchema([{ name: "n", type: "BIGINT" }]);
  assert.match((await failureOf(session.beginWrite(OUTPUT, numbers, NEVER))).message, /one column of texts/);
});

Deno.test("the README tells what each capability promises that an author may declare, and no other", () => {
  const declared = /export type Capability =\n(.*?);/s.exec(SDK_TYPES)?.[1] ?? "";
  const names = [...declared.matchAll(/"(\w+)"/g)].map(([, name = ""]) => name);
  const table = /^\| capability +\| promise.*?\n\n/ms.exec(README)?.[0] ?? "";
  const told = [...table.matchAll(/^\| `(\w+)`/gm)].map(([, name = ""]) => name);
  assert.ok(names.length > 10);
  assert.deepEqual(told.sort(), names.sort());
});
