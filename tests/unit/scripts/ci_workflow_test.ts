import assert from "node:assert/strict";
import { parse } from "yaml";

type Step = { readonly uses?: string; readonly run?: string; readonly with?: { readonly [name: string]: unknown } };
type Workflow = {
  readonly on: { readonly [event: string]: unknown };
  readonly permissions: unknown;
  readonly concurrency: { readonly group: string; readonly "cancel-in-progress": unknown };
  readonly jobs: {
    readonly [job: string]: {
      readonly "runs-on": string;
      readonly permissions?: unknown;
      readonly strategy: { readonly "fail-fast": unknown; readonly matrix: { readonly include: readonly Variant[] } };
      readonly steps: readonly Step[];
    };
  };
};
type Variant = { readonly name: string; readonly os: string; readonly command: string; readonly variable?: string };

const TEST_COMMAND = "npx --yes deno@2.9.6 task test";

function read(path: string): string {
  return Deno.readTextFileSync(new URL(`../../../${path}`, import.meta.url));
}

function workflow(): Workflow {
  return parse(read(".github/workflows/ci.yml"), { uniqueKeys: true, strict: true });
}

Deno.test("the workflow may only read, and a newer push cancels it", () => {
  const { permissions, concurrency, jobs, on } = workflow();
  assert.deepEqual(permissions, { contents: "read" });
  assert.equal(concurrency["cancel-in-progress"], true);
  assert.match(concurrency.group, /github\.ref/);
  assert.deepEqual(Object.keys(on), ["push", "pull_request"]);
  for (const job of Object.values(jobs)) assert.equal(job.permissions, undefined);
});

Deno.test("every action of the workflow is pinned to a commit, and keeps no credentials", () => {
  const used = Object.values(workflow().jobs).flatMap(({ steps }) => steps).filter(({ uses }) => uses !== undefined);
  assert.ok(used.length > 0);
  for (const { uses = "", with: options } of used) {
    assert.match(uses, /^[\w.-]+\/[\w.-]+@[0-9a-f]{40}$/);
    if (uses.startsWith("actions/checkout@")) assert.equal(options?.["persist-credentials"], false);
  }
});

Deno.test("the workflow runs the README's test command on three systems, in three time zones and in Turkish", () => {
  assert.ok(read("README.md").includes(`\n${TEST_COMMAND} `), "the README has another test command");
  const { test } = workflow().jobs;
  const variants = test?.strategy.matrix.include ?? [];
  assert.equal(test?.strategy["fail-fast"], false);
  assert.equal(test?.["runs-on"], "${{ matrix.os }}");
  assert.equal(test?.steps.at(-1)?.run, "${{ matrix.command }}");
  const plain = variants.filter(({ variable }) => variable === undefined);
  assert.deepEqual(
    plain.map(({ os, command }) => [os.split("-")[0], command]),
    [["ubuntu", "bash .ci/run"], ["macos", TEST_COMMAND], ["windows", TEST_COMMAND]],
  );
  assert.ok(read(".ci/run").includes(`npx --yes "deno@$deno_version" task test`), ".ci/run has another test command");
  const varied = variants.filter(({ variable }) => variable !== undefined);
  assert.deepEqual(
    varied.map(({ variable, command }) => [variable, command]),
    ["TZ=Australia/Sydney", "TZ=Europe/London", "TZ=America/Toronto", "LC_ALL=tr_TR.UTF-8"]
      .map((variable) => [variable, TEST_COMMAND]),
  );
});
