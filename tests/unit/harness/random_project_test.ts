import assert from "node:assert/strict";
import { Duck } from "../../harness/duck.ts";
import { randomProject } from "../../harness/random_project.ts";
import { TempDir, writeFiles } from "../../harness/temp_dir.ts";

Deno.test("a random project has the asked number of nodes, unique names, parents before children, and rows", async () => {
  for (const size of [5, 17, 60]) {
    await using folder = await TempDir.create();
    const project = randomProject({ seed: size, size, folder: folder.path });
    assert.equal(project.nodes.length, size);
    assert.equal(new Set(project.nodes.map(({ name }) => name)).size, size);
    const seen = new Set<string>();
    for (const { name, dependsOn } of project.nodes) {
      assert.ok(dependsOn.every((parent) => seen.has(parent)));
      seen.add(name);
    }
    await writeFiles(folder.path, project.files);
    using duck = await Duck.open();
    for (const { sql } of project.expected) await duck.run(sql);
    for (const { pipeline } of project.sinks) {
      const [facts] = await duck.rows(`SELECT count(*) > 0, count(*) = count(DISTINCT id) FROM ${pipeline}`);
      assert.deepEqual(facts, ["true", "true"]);
    }
  }
});

Deno.test("the same seed makes the same project, another seed another", () => {
  const of = (seed: number) => randomProject({ seed, size: 20, folder: "/x" });
  assert.deepEqual(of(1), of(1));
  assert.notDeepEqual(of(1).files, of(2).files);
});

Deno.test("a failing pipeline is one of the project's", () => {
  const { failing, nodes } = randomProject({ seed: 3, size: 20, folder: "/x", failing: true });
  assert.ok(nodes.some(({ kind, name }) => kind === "Pipeline" && name === failing));
});
