import assert from "node:assert/strict";
import { BINARY, type EventLine, runPz } from "../harness/cli.ts";
import { Duck } from "../harness/duck.ts";
import { problemsOfStream } from "../harness/events.ts";
import { type RandomNode, randomProject, readCsv } from "../harness/random_project.ts";
import { readJournal, readReceipt } from "../harness/run_files.ts";
import { TempDir, writeFiles } from "../harness/temp_dir.ts";

/** Nodes of the projects after the first eighty, which have 5 to 16. */
const LARGE = [18, 20, 22, 24, 26, 28, 30, 32, 34, 36, 38, 40, 42, 44, 46, 48, 51, 54, 57, 60];

const PROJECTS = Array.from({ length: 100 }, (_, index) => ({
  index,
  size: LARGE[index - 80] ?? 5 + index % 12,
  failing: index % 4 === 3,
}));

// A binary runs the same code, so that a part of them is enough for it.
for (const { index, size, failing } of PROJECTS.filter(({ index }) => BINARY === undefined || index % 5 === 3)) {
  const title = `random project ${index + 1} of 100, ${size} nodes${failing ? " with a failing pipeline" : ""}`;
  Deno.test(`${title}: events keep the contract, files hold what raw DuckDB computes`, async () => {
    await using folder = await TempDir.create();
    const project = randomProject({ seed: 7000 + index, size, folder: folder.path, failing });
    await writeFiles(folder.path, project.files);

    const result = await runPz(["run", "--all", "--log-format", "json"], { cwd: folder.path });

    assert.equal(result.code, failing ? 1 : 0, result.toString());
    const { events } = result;
    assert.deepEqual(problemsOfStream(events), [], result.toString());
    assert.deepEqual(dependencyProblems(events, project.nodes), []);
    const statuses = expectedStatuses(project.nodes, project.failing);
    assert.deepEqual(statusesOf(events), statuses, result.toString());
    assert.equal(events.at(-1)?.["status"], failing ? "completed_with_failures" : "success");

    const announced = completed(events).map(({ nodeId, name, status, rows }) => [nodeId, name, status, rows]);
    const flat = readReceipt(folder.path).nodes.map(({ id, name, status, rows }) => [id, name, status, rows]);
    assert.deepEqual(flat, announced);
    assert.deepEqual(readJournal(folder.path).map(({ id, name, status, rows }) => [id, name, status, rows]), announced);

    using duck = await Duck.open();
    for (const { node, sql } of project.expected) {
      if (statuses[node] === "success") await duck.run(sql);
    }
    for (const { file, format, pipeline } of project.sinks) {
      if (statuses[pipeline] !== "success") continue;
      const path = folder.join(file);
      await duck.assertSame(format === "csv" ? `FROM ${readCsv(path)}` : `FROM '${path}'`, `FROM ${pipeline}`);
    }
  });
}

function completed(events: readonly EventLine[]): EventLine[] {
  return events.filter((event) => event["event"] === "node_completed");
}

function statusesOf(events: readonly EventLine[]): { [name: string]: unknown } {
  return Object.fromEntries(sorted(completed(events).map((event) => [String(event["name"]), event["status"]])));
}

function expectedStatuses(nodes: readonly RandomNode[], failing: string | undefined): { [name: string]: string } {
  const statuses = new Map<string, string>();
  for (const { name, dependsOn } of nodes) {
    const held = dependsOn.some((parent) => statuses.get(parent) !== "success");
    statuses.set(name, name === failing ? "failed" : held ? "skipped" : "success");
  }
  return Object.fromEntries(sorted([...statuses]));
}

function sorted<T>(entries: readonly (readonly [string, T])[]): (readonly [string, T])[] {
  return entries.toSorted(([a], [b]) => a < b ? -1 : 1);
}

/** Nodes that started before all that they depend on had succeeded. */
function dependencyProblems(events: readonly EventLine[], nodes: readonly RandomNode[]): string[] {
  const parents = new Map(nodes.map(({ name, dependsOn }) => [name, dependsOn]));
  const succeeded = new Set<unknown>();
  const problems: string[] = [];
  for (const event of events) {
    if (event["event"] === "node_completed" && event["status"] === "success") succeeded.add(event["name"]);
    if (event["event"] !== "node_started") continue;
    for (const parent of parents.get(String(event["name"])) ?? []) {
      if (!succeeded.has(parent)) problems.push(`${event["name"]} started before ${parent} had succeeded`);
    }
  }
  return problems;
}
