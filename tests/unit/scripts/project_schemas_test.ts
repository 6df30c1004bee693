import assert from "node:assert/strict";
import { join } from "node:path";
import { type Schema, Validator } from "@cfworker/json-schema";
import { parse } from "yaml";
import { schemaFiles } from "../../../scripts/project_schemas.ts";
import { TEMPLATES } from "../../../src/cli/templates/mod.ts";
import { listFiles } from "../../harness/temp_dir.ts";

const ROOT = join(import.meta.dirname ?? ".", "..", "..", "..");
const FIXTURE = join(ROOT, "fixtures", "vega_atlas");

function committed(path: string): string {
  return Deno.readTextFileSync(join(ROOT, path)).replaceAll("\r\n", "\n");
}

/** What the committed schema of a project's file says against its text; undefined for what has none. */
function problemsOf(path: string, text: string): string[] | undefined {
  const name = /^(project|connections)\.yml$/.exec(path)?.[1] ?? (/^pipelines\/.*\.yml$/.test(path) ? "pipeline" : "");
  if (name === "") return undefined;
  const value: unknown = parse(text);
  // A file without settings is fine, and a validator of JSON has no word for it.
  if (value === null) return undefined;
  const schema: Schema = JSON.parse(committed(`fixtures/schemas/${name}.schema.json`));
  const { errors } = new Validator(schema, "2020-12", false).validate(value);
  return errors.map(({ instanceLocation, error }) => `${path} ${instanceLocation}: ${error}`);
}

Deno.test("the committed schemas of the YAML files are those that loading checks by", () => {
  for (const [path, text] of schemaFiles()) {
    const hint = `${path} is stale: run \`deno run --allow-read --allow-write scripts/project_schemas.ts\``;
    assert.equal(committed(path), text, hint);
  }
});

Deno.test("the committed schemas take the YAML files of the fixture and of every template", async () => {
  const checked: string[] = [];
  const check = (path: string, text: string) => {
    const problems = problemsOf(path, text);
    if (problems !== undefined) checked.push(path);
    assert.deepEqual(problems ?? [], []);
  };
  for (const path of await listFiles(FIXTURE)) check(path, Deno.readTextFileSync(join(FIXTURE, path)));
  for (const { files } of TEMPLATES) {
    for (const { path, content } of files) check(path, content);
  }
  assert.ok(checked.length >= 10, checked.join(", "));
});

Deno.test("the committed schemas refuse a key that is not there, at its place", () => {
  assert.match(problemsOf("project.yml", "name: a\nversion: 1\nengnie: {}\n")?.join("\n") ?? "", /engnie/);
  const entity = "a:\n  connector: localfiles\n  entities:\n    b: { reed: {} }\n";
  assert.match(problemsOf("connections.yml", entity)?.join("\n") ?? "", /connections\.yml #\/a\/entities\/b/);
  assert.match(problemsOf("pipelines/configs/a.yml", "pipeline: a\ncheks: []\n")?.join("\n") ?? "", /cheks/);
});
