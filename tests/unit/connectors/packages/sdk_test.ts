import assert from "node:assert/strict";
import { join } from "node:path";
import { FOREIGN_SDK } from "../../../../src/connectors/child/foreign.ts";
import { SDK_NAMES } from "../../../../src/connectors/packages/scaffold/sdk_code.ts";
import { scaffoldFiles } from "../../../../src/connectors/packages/scaffold/scaffold.ts";
import { TempDir, writeFiles } from "../../../harness/temp_dir.ts";

const ROOT = join(import.meta.dirname ?? ".", "..", "..", "..", "..");
const FIXTURE = join(ROOT, "fixtures", "connectors", "shelf");

/** What must hold between the types that an author sees and those that pz has; each direction as it is used. */
const AGREEMENT = `import type * as told from "./sdk.d.ts";
import type * as contract from "ROOT/src/connectors/contract/mod.ts";
import type * as sdk from "ROOT/src/connectors/sdk/mod.ts";
import type { RecordBatch, Schema } from "ROOT/src/util/arrow.ts";
import { connector } from "./connector.ts";

export const module: sdk.ConnectorModule = connector as never as Loose<typeof connector>;
export const host: told.ConnectorHost = given<sdk.ConnectorHost>();
export const dataset: told.DatasetSpec = given<contract.DatasetSpec>();
export const output: told.OutputSpec = given<contract.OutputSpec>();
export const capability: contract.Capability = given<told.Capability>();
export const cell: sdk.CellValue = given<told.CellValue>();
export const cellBack: told.CellValue = given<sdk.CellValue>();
export const schema: told.Schema = given<Schema>();
export const batch: told.RecordBatch = given<RecordBatch>();
export const builder: Pick<told.BatchBuilder, "rows" | "bytes"> = given<sdk.BatchBuilder>();
export const append: told.BatchBuilder["append"] = given<sdk.BatchBuilder["append"]>();
export const reader: told.ColumnReader = given<sdk.ColumnReader>();
export const kind: told.ColumnKind = given<sdk.ColumnKind>();
export const error: told.ConnectorError = given<contract.ConnectorError>();
export const init: ConstructorParameters<typeof contract.ConnectorError>[1] =
  given<ConstructorParameters<typeof told.ConnectorError>[1]>();
export const columns: Parameters<typeof sdk.arrowSchema>[0] = given<Parameters<typeof told.arrowSchema>[0]>();
export const net: typeof told.requireNet = given<typeof sdk.requireNet>();

/** The author's batches are pz's own, which only their type does not say. */
type Loose<T> = T extends told.ConnectorModule ? sdk.ConnectorModule : never;
declare function given<T>(): T;
`;

async function check(folder: string, file: string): Promise<void> {
  const { code, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["check", "--quiet", "--config", join(folder, "deno.json"), join(folder, file)],
    stderr: "piped",
    stdout: "null",
  }).output();
  assert.equal(code, 0, new TextDecoder().decode(stderr));
}

Deno.test("an author's code gets what the SDK's module names, and its types agree with pz's own", async () => {
  assert.deepEqual(Object.keys(FOREIGN_SDK).sort(), [...SDK_NAMES].sort());
  await using folder = await TempDir.create();
  const config = JSON.parse(await Deno.readTextFile(join(ROOT, "deno.json")));
  await writeFiles(folder.path, {
    ...Object.fromEntries(scaffoldFiles("acme")),
    "agreement.ts": AGREEMENT.replaceAll("ROOT", ROOT),
    "deno.json": JSON.stringify({
      nodeModulesDir: "none",
      imports: config.imports,
      unstable: config.unstable,
      compilerOptions: { ...config.compilerOptions, noUnusedLocals: false, noUnusedParameters: false },
    }),
  });
  for (const name of ["package.json", "tsconfig.json"]) await Deno.remove(folder.join(name));
  await check(folder.path, "agreement.ts");
});

Deno.test("a new connector, and the example of the tests, pass the type checker as they stand", async () => {
  await using folder = await TempDir.create();
  await writeFiles(folder.path, Object.fromEntries(scaffoldFiles("acme")));
  await check(folder.path, "connector.ts");
  for (const name of ["connector.ts", "line_client.ts"]) {
    await Deno.copyFile(join(FIXTURE, name), folder.join(name));
  }
  await check(folder.path, "connector.ts");
});

Deno.test("a new connector's files bear its name and no other, and its manifest is right", async () => {
  const { parseManifest } = await import("../../../../src/connectors/packages/manifest.ts");
  const files = scaffoldFiles("acme");
  for (const [path, text] of files) assert.doesNotMatch(text, /__NAME__/, path);
  const manifest = parseManifest(files.get("pz.connector.json") ?? "", "m.json");
  assert.ok("name" in manifest);
  assert.equal(manifest.name, "acme");
  assert.match(files.get("connector.ts") ?? "", /name: "acme"/);
});
