import assert from "node:assert/strict";
import { buildConnector } from "../../../../src/connectors/packages/build.ts";
import { scaffoldFiles } from "../../../../src/connectors/packages/scaffold/scaffold.ts";
import { TempDir, writeFiles } from "../../../harness/temp_dir.ts";

/** What building a new connector with another entry says; undefined: it was built. */
async function refusalOf(change: (entry: string) => string): Promise<string | undefined> {
  await using folder = await TempDir.create();
  const files = Object.fromEntries(scaffoldFiles("acme"));
  await writeFiles(folder.path, { ...files, "connector.ts": change(files["connector.ts"] ?? "") });
  const built = await buildConnector(folder.path);
  if (built.ok) return void assert.ok((await Deno.readTextFile(folder.join("dist/connector.js"))).length > 0);
  await assert.rejects(Deno.stat(folder.join("dist/connector.js")), Deno.errors.NotFound);
  return built.errors.map(({ code, file, message }) => `${code} ${file}: ${message}`).join("\n");
}

for (
  const [what, change, told] of [
    [
      "exports nothing by the name connector",
      (entry: string) => entry.replace("export const connector", "export const conector"),
      `Connector 'acme' can't be run: its code exports no "connector"`,
    ],
    [
      "has no open",
      (entry: string) => entry.replace("open(config, host)", "opne(config: ConfigMap, host: ConnectorHost)"),
      `Connector 'acme' can't be run: its "connector" has no function "open"`,
    ],
    [
      "has another name than its manifest",
      (entry: string) => entry.replace(`name: "acme"`, `name: "acne"`),
      "Connector 'acme' answers as 'acne' with protocol 1: expected 'acme' with protocol 1",
    ],
    [
      "names other capabilities than its manifest",
      (entry: string) => entry.replace(`"ReplaceWrites", "Transactional"`, `"ReplaceWrites"`),
      "Connector 'acme' tells its capabilities differently in two places: pz.connector.json names Transactional and " +
      "its code (connector.ts) does not",
    ],
  ] as const
) {
  Deno.test(`a connector that ${what} is not built`, async () => {
    assert.equal(await refusalOf(change), `PZ0744 connector.ts: ${told}`);
  });
}

Deno.test("a connector that needs its rights or its settings to open is built", async () => {
  assert.equal(await refusalOf((entry) => entry), undefined);
  assert.equal(await refusalOf((entry) => `Deno.env.get("ACME_TOKEN");\n${entry}`), undefined);
  const strict = `if (config["path"] === undefined) throw new ConnectorError("no path", { transient: false });`;
  assert.equal(await refusalOf((entry) => entry.replace("const folder =", `${strict}\nconst folder =`)), undefined);
});
