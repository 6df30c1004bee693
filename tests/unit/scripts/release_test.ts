import assert from "node:assert/strict";
import { parse } from "yaml";
import { TARGETS } from "../../../scripts/build_targets.ts";

type Step = {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: { readonly [name: string]: unknown };
};
type Job = {
  readonly needs?: string;
  readonly permissions?: unknown;
  readonly strategy?: { readonly matrix: { readonly include: readonly { readonly target: string }[] } };
  readonly steps: readonly Step[];
};
type Workflow = {
  readonly on: unknown;
  readonly permissions: unknown;
  readonly jobs: { readonly build: Job; readonly publish: Job };
};

function read(path: string): string {
  return Deno.readTextFileSync(new URL(`../../../${path}`, import.meta.url));
}

function workflow(): Workflow {
  return parse(read(".github/workflows/release.yml"), { uniqueKeys: true, strict: true });
}

function textOf({ steps }: Job): string {
  return steps.map(({ run }) => run ?? "").join("\n");
}

Deno.test("only a tag releases, and only the job that publishes may write", () => {
  const { on, permissions, jobs } = workflow();
  assert.deepEqual(on, { push: { tags: ["v*"] } });
  assert.deepEqual(permissions, { contents: "read" });
  assert.equal(jobs.build.permissions, undefined);
  assert.deepEqual(jobs.publish.permissions, { contents: "write" });
  assert.equal(jobs.publish.needs, "build");
});

Deno.test("every action of the release is pinned to a commit, and none keeps credentials", () => {
  const { build, publish } = workflow().jobs;
  for (const { uses, with: options } of [...build.steps, ...publish.steps]) {
    if (uses === undefined) continue;
    assert.match(uses, /^[\w.-]+\/[\w.-]+@[0-9a-f]{40}$/);
    if (uses.startsWith("actions/checkout@")) assert.equal(options?.["persist-credentials"], false);
  }
});

Deno.test("every target is built and tested with the pinned Deno, then published", () => {
  const { build, publish } = workflow().jobs;
  const targets = TARGETS.map(({ name }) => name);
  assert.deepEqual(build.strategy?.matrix.include.map(({ target }) => target), targets);
  const deno = /deno_version=(\S+)/.exec(read(".ci/run"))?.[1];
  for (const task of ["build", "test", "test:binary"]) {
    assert.match(textOf(build), new RegExp(`npx --yes deno@${deno} task ${task}( |$)`, "m"));
  }
  assert.ok(textOf(publish).includes(`for target in ${targets.join(" ")}; do`));
  assert.match(textOf(publish), /sha256sum --check --strict SHA256SUMS/);
  const base = /https:\/\/github\.com\/[^#\s]+releases/.exec(textOf(publish))?.[0] ?? "?";
  for (const file of ["install.sh", "install.ps1"]) assert.ok(read(file).includes(base), file);
});

Deno.test("the image starts from a plain one, with what pz needs, and its user is not root", () => {
  const image = read("Dockerfile");
  assert.match(image, /^FROM debian:bookworm-slim$/m);
  for (const name of ["ca-certificates", "libstdc++6"]) assert.ok(image.includes(name), name);
  assert.match(image, /^USER [1-9]\d*$/m);
  assert.ok(image.indexOf("USER") < image.indexOf("ENTRYPOINT"));
});
