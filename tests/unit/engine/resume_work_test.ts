import assert from "node:assert/strict";
import fc from "fast-check";
import type { CompiledDag, DagNode } from "../../../src/compile/mod.ts";
import { connectionHash } from "../../../src/engine/resume/connection_hash.ts";
import { planWork, type WorkInputs } from "../../../src/engine/resume/work.ts";
import type { NodeFact } from "../../../src/state/mod.ts";
import { check, connection, csvCopy, makeProject, nativeSource, pipeline, sink } from "./fixture.ts";

const NOBODY = { assumeDelivered: new Set<string>(), redeliver: new Set<string>() };

function write(name: string, of: string, strategy: "append" | "replace" | "merge" = "replace"): DagNode {
  const block = { strategy, keys: [], acceptDuplicates: false, schemaPolicy: "fail_on_change" as const, options: {} };
  return sink(name, of, csvCopy("/out", name), { write: block })[0];
}

/** Two loads; `a` and `b` of the first, `both` of both; a sink behind each. */
function diamond(strategy: "append" | "replace" = "replace"): CompiledDag {
  return {
    project: makeProject("/p", {}),
    nodes: [
      nativeSource("s1", "SELECT 1")[0],
      nativeSource("s2", "SELECT 1")[0],
      pipeline("a", "SELECT 1", ["s1"])[0],
      pipeline("b", "SELECT 1", ["s1"])[0],
      pipeline("both", "SELECT 1", ["s1", "s2"])[0],
      check("c", "b", { type: "not_null" })[0],
      write("lake.a", "a", strategy),
      write("lake.b", "b"),
      write("lake.both", "both"),
    ],
  };
}

function fact(dag: CompiledDag, id: string, status: NodeFact["status"], more: Partial<NodeFact> = {}): NodeFact {
  const node = dag.nodes.find((one) => one.id === `id-${id}`);
  const done = status === "success" ? { run: "r1", rows: 3 } : undefined;
  return { id: `id-${id}`, kind: node?.kind ?? "Pipeline", name: node?.name ?? id, status, done, tries: [], ...more };
}

/** A retry of a run in which all but the named nodes succeeded. */
function work(dag: CompiledDag, failed: readonly string[], more: Partial<WorkInputs> = {}) {
  const facts = new Map(
    dag.nodes.map(({ id }) => {
      const name = id.replace("id-", "");
      return [id, fact(dag, name, failed.includes(name) ? "failed" : "success")] as const;
    }),
  );
  const inputs: WorkInputs = {
    dag,
    asked: new Set(dag.nodes.map(({ id }) => id)),
    facts,
    reusable: new Set(["id-s1", "id-s2"]),
    comparable: new Set(["id-lake.a", "id-lake.b", "id-lake.both"]),
    decisions: NOBODY,
    ...more,
  };
  const { effective, reused, carried, compared, left } = planWork(inputs);
  const names = (nodes: readonly DagNode[]) => nodes.map(({ name }) => name);
  return {
    effective: effective.map((id) => id.replace("id-", "")),
    reused: names(reused),
    carried: names(carried),
    compared: names(compared),
    left: names(left),
  };
}

Deno.test("what failed runs with what it needs; loads are taken over, and outputs of the same loads carried", () => {
  assert.deepEqual(work(diamond(), ["lake.b"]), {
    effective: ["s1", "b", "lake.b"],
    reused: ["s1"],
    carried: ["lake.a", "lake.both"],
    compared: [],
    left: [],
  });
});

Deno.test("an output of loads that nothing else needs is no part of a retry", () => {
  const dag = diamond();
  const alone = pipeline("alone", "SELECT 1", ["s3"])[0];
  const more = {
    ...dag,
    nodes: [...dag.nodes, nativeSource("s3", "SELECT 1")[0], alone, write("lake.alone", "alone")],
  };
  assert.equal(work(more, ["lake.b"]).carried.includes("lake.alone"), false);
});

Deno.test("an output whose pipeline is made again is compared, or written again where nothing is to compare", () => {
  const dag = diamond();
  const nodes = [...dag.nodes, write("lake.b2", "b")];
  const ends = work({ ...dag, nodes }, ["lake.b2"]);
  assert.deepEqual([ends.compared, ends.effective.includes("lake.b")], [["lake.b"], true]);
  const blind = work({ ...dag, nodes }, ["lake.b2"], { comparable: new Set() });
  assert.deepEqual([blind.compared, blind.carried, blind.effective.includes("lake.b")], [
    [],
    ["lake.a", "lake.both"],
    true,
  ]);
});

Deno.test("where a load is read anew, outputs and checks behind it are done again, but for appends", () => {
  const ends = work(diamond("append"), ["lake.b"], { reusable: new Set(["id-s2"]) });
  assert.deepEqual(ends, {
    effective: ["s1", "s2", "b", "both", "c", "lake.b", "lake.both"],
    reused: ["s2"],
    carried: [],
    compared: [],
    left: ["lake.a"],
  });
});

Deno.test("a pipeline of which nothing is known, and what hangs on it, is done again, but for appends", () => {
  for (const strategy of ["replace", "append"] as const) {
    const dag = diamond(strategy);
    const facts = new Map(dag.nodes.map(({ id }) => [id, fact(dag, id.replace("id-", ""), "success")]));
    facts.delete("id-a");
    const ends = work(dag, [], { facts });
    assert.deepEqual(ends.effective, strategy === "append" ? ["s1", "a"] : ["s1", "a", "lake.a"]);
    assert.deepEqual(ends.left, strategy === "append" ? ["lake.a"] : []);
  }
});

Deno.test("an append that was done stays done whatever became of it later, another output does not", () => {
  const dag = diamond("append");
  for (const [name, again] of [["lake.a", false], ["lake.b", true]] as const) {
    const facts = new Map(dag.nodes.map(({ id }) => [id, fact(dag, id.replace("id-", ""), "success")]));
    facts.set(`id-${name}`, { ...fact(dag, name, "success"), status: "skipped" });
    assert.equal(work(dag, [], { facts }).effective.includes(name), again);
  }
});

Deno.test("what was done at another place counts as not done", () => {
  const dag = diamond();
  const facts = new Map(dag.nodes.map(({ id }) => [id, fact(dag, id.replace("id-", ""), "success")]));
  const done = (place: string) => ({ run: "r1", rows: 3, connection: place });
  const here = connectionHash(connection("lake"));
  facts.set("id-lake.a", { ...fact(dag, "lake.a", "success"), done: done(here) });
  facts.set("id-lake.b", { ...fact(dag, "lake.b", "success"), done: done("elsewhere") });
  facts.set("id-s2", { ...fact(dag, "s2", "success"), done: done("elsewhere") });
  assert.deepEqual(work(dag, [], { facts }).effective, ["s1", "s2", "b", "both", "lake.b", "lake.both"]);
});

Deno.test("the user's word decides", () => {
  const dag = diamond("append");
  const unknown = new Map(dag.nodes.map(({ id }) => [id, fact(dag, id.replace("id-", ""), "success")]));
  unknown.set("id-lake.a", { ...fact(dag, "lake.a", undefined), tries: [{ run: "r1", ordinal: 1 }] });
  const assumed = work(dag, [], { facts: unknown, decisions: { ...NOBODY, assumeDelivered: new Set(["lake.a"]) } });
  assert.deepEqual([assumed.effective, assumed.carried], [[], ["lake.a"]]);
  const again = work(dag, [], { decisions: { ...NOBODY, redeliver: new Set(["lake.a"]) } });
  assert.deepEqual(again.effective, ["s1", "a", "lake.a"]);
});

Deno.test("another password is the same place, another host is another", () => {
  const hash = (config: { readonly [key: string]: string }) => connectionHash({ connector: "postgres", config });
  const here = { host: "a", user: "u", password: "x" };
  assert.equal(hash(here), hash({ ...here, password: "y" }));
  assert.notEqual(hash(here), hash({ ...here, host: "b" }));
  assert.equal(hash({ url: "https://u:p@h/x?sig=1" }), hash({ url: "https://h/x?sig=2" }));
  assert.notEqual(hash({ url: "https://h/x" }), hash({ url: "https://h/y" }));
});

Deno.test("property: nothing succeeded is run again without a reason, nothing appended twice, and all that runs has what it needs", () => {
  const names = ["s1", "s2", "a", "b", "both", "c", "lake.a", "lake.b", "lake.both"];
  fc.assert(
    fc.property(
      fc.subarray(names),
      fc.subarray(["id-s1", "id-s2"]),
      fc.subarray(["id-lake.a", "id-lake.b", "id-lake.both"]),
      (failed, reusable, comparable) => {
        const dag = diamond("append");
        const ends = work(dag, failed, { reusable: new Set(reusable), comparable: new Set(comparable) });
        const running = new Set(ends.effective);
        for (const name of failed) assert.ok(running.has(name));
        for (const id of running) {
          const node = dag.nodes.find((one) => one.id === `id-${id}`);
          for (const parent of node?.dependsOn ?? []) assert.ok(running.has(parent.replace("id-", "")));
        }
        if (!failed.includes("lake.a")) assert.equal(running.has("lake.a") && !ends.compared.includes("lake.a"), false);
        for (const name of ends.reused) assert.ok(reusable.includes(`id-${name}`) && !failed.includes(name));
        for (const name of [...ends.carried, ...ends.compared]) {
          const read = name === "lake.both" ? ["s1", "s2"] : ["s1"];
          for (const load of read) assert.ok(!running.has(load) || ends.reused.includes(load), `${name} of ${load}`);
        }
        if (failed.length === 0) assert.deepEqual(ends.effective, []);
      },
    ),
    { numRuns: 500 },
  );
});
