import assert from "node:assert/strict";
import { join } from "node:path";
import { systemLayer } from "../../src/connectors/host/landlock.ts";
import { ArrowFrames, schemaFrames } from "../../src/connectors/protocol/arrow_frames.ts";
import { HEADER_BYTES } from "../../src/connectors/protocol/frame.ts";
import { arrowSchema, BatchBuilder } from "../../src/connectors/sdk/mod.ts";
import { runPz } from "../harness/cli.ts";
import { listFiles, TempDir, writeFiles } from "../harness/temp_dir.ts";

const FIXTURE = join(import.meta.dirname ?? ".", "..", "..", "fixtures", "connectors", "facts");
const IS_CONFINED = "landlock" in systemLayer();

/** The bytes that the program sends, as it keeps them. */
function arrowFile(): string {
  const schema = arrowSchema([{ name: "id", type: "BIGINT" }, { name: "fact", type: "VARCHAR" }]);
  const builder = new BatchBuilder(schema);
  for (const [id, fact] of [[1n, "one"], [2n, "two"], [9_007_199_254_740_993n, null]] as const) {
    builder.append([id, fact]);
  }
  const frames = new ArrowFrames(0, schema);
  const rows = [...frames.start(), ...frames.batch(builder.finish()), ...frames.finish()];
  const hex = (list: readonly Uint8Array<ArrayBuffer>[]) => list.map((frame) => frame.subarray(HEADER_BYTES).toHex());
  return JSON.stringify({ schema: hex(schemaFrames(0, schema)), rows: hex(rows) });
}

async function projectWith(folder: TempDir, query: string): Promise<void> {
  for (const path of await listFiles(FIXTURE)) {
    await writeFiles(folder.join("facts"), { [path]: await Deno.readTextFile(join(FIXTURE, path)) });
  }
  await writeFiles(folder.path, {
    "facts/arrow.json": arrowFile(),
    "secret.txt": "s3cret",
    "project.yml": `name: facts\nversion: "1"\nconnectors:\n  - package: ./facts\n`,
    "connections.yml":
      `facts:\n  connector: facts\n  variable: FACTS_TOKEN\nlake:\n  connector: localfiles\n  root: out\n`,
    "pipelines/p.sql":
      `INSERT INTO {{ sink('lake', 'p', format: 'csv', strategy: 'replace') }}\nSELECT * FROM ${query}\n`,
  });
}

async function pz(
  folder: TempDir,
  ...args: readonly string[]
): Promise<{ readonly code: number; readonly text: string }> {
  const { PATH = "/usr/bin:/bin" } = Deno.env.toObject();
  const env = { PATH, HOME: folder.path, FACTS_TOKEN: "x", OTHER_TOKEN: "y" };
  const { code, stdout, stderr } = await runPz(args, { cwd: folder.path, env });
  return { code, text: stdout + stderr };
}

const HAS_PYTHON = await hasPython();
if (HAS_PYTHON) suite();
else {Deno.test({
    name: "programs as connectors need python3: apt-get install python3",
    ignore: !HAS_PYTHON,
    fn: () => {},
  });}

function suite(): void {
  Deno.test("a program in another language keeps its promises, and is shown as trusted", async () => {
    await using folder = await TempDir.create();
    await projectWith(folder, "{{ source('facts', 'facts') }}");
    await Deno.chmod(folder.join("facts/connector.py"), 0o755);
    const tested = await pz(folder, "connector", "test", "facts");
    assert.equal(tested.code, 0, tested.text);
    assert.match(tested.text, /^SKIP numeric-option-fidelity: its SDK does not answer the probe$/m);
    assert.match(tested.text, /^facts 1\.0\.0: 10 passed, 0 failed, 20 skipped$/m);

    assert.equal((await pz(folder, "restore")).code, 0);
    assert.match((await pz(folder, "connectors")).text, /^facts +facts \(trusted\) +1\.0\.0/m);
    const planned = await pz(folder, "plan");
    assert.match(
      planned.text,
      /^grant: facts \(facts, trusted: a program that only the operating system confines\) env FACTS_TOKEN$/m,
    );
    const run = await pz(folder, "run");
    assert.equal(run.code, 0, run.text);
    assert.equal(await Deno.readTextFile(folder.join("out/p/p.csv")), "id,fact\n1,one\n2,two\n9007199254740993,\n");
  });

  Deno.test("a changed file of a program stops it", async () => {
    await using folder = await TempDir.create();
    await projectWith(folder, "{{ source('facts', 'facts') }}");
    assert.equal((await pz(folder, "restore")).code, 0);
    const data = folder.join(".pz/packages/facts/1.0.0/arrow.json");
    await Deno.writeTextFile(data, (await Deno.readTextFile(data)).replace("6f6e65", "6f6e66"));
    const run = await pz(folder, "run");
    assert.deepEqual([run.code, /PZ0326/.test(run.text)], [2, true], run.text);
  });

  Deno.test(`a program gets the variables of its grant${IS_CONFINED ? ", and the kernel keeps it from other files" : ""}`, async () => {
    await using folder = await TempDir.create();
    const said = async (dataset: string, options = "") => {
      await projectWith(folder, `{{ source('facts', '${dataset}'${options}) }}`);
      assert.equal((await pz(folder, "restore")).code, 0);
      const { code, text } = await pz(folder, "run");
      assert.equal(code, 1, text);
      return text;
    };
    const variables = await said("variables");
    assert.match(variables, /it sees .*FACTS_TOKEN .*PATH/);
    assert.doesNotMatch(variables, /OTHER_TOKEN|PZ_CONNECTOR/);
    if (!IS_CONFINED) return;
    assert.match(await said("peek", `, path: '${folder.join("secret.txt")}'`), /it was refused: Permission denied/);
    assert.match(await said("poke", `, path: '${folder.join("new.txt")}'`), /it was refused: Permission denied/);
    assert.match(
      await said("poke", `, path: '${folder.join(".pz/packages/facts/1.0.0/connector.py")}'`),
      /it was refused/,
    );
  });
}

async function hasPython(): Promise<boolean> {
  try {
    return (await new Deno.Command("python3", { args: ["--version"], stdout: "null", stderr: "null" }).output())
      .success;
  } catch {
    return false;
  }
}
