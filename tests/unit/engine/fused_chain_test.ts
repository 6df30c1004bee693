import assert from "node:assert/strict";
import type { DagNode } from "../../../src/compile/mod.ts";
import { runUnits } from "../../../src/engine/fused_chain.ts";
import { runNodes } from "../../../src/engine/graph.ts";
import type { Chain, PlannedNode } from "../../../src/plan/mod.ts";
import { connection, csvCopy, makePlan, makeProject, nativeSource, pipeline, sink } from "./fixture.ts";

const NODES: readonly (readonly [DagNode, PlannedNode])[] = [
  nativeSource("a", "SELECT 1 AS i"),
  nativeSource("b", "SELECT 2 AS i", { connection: connection("lake") }),
  pipeline("p", "SELECT * FROM staging.a", ["a"]),
  pipeline("q", "SELECT * FROM staging.b", ["b"]),
  sink("lake.p", "p", csvCopy("/out", "p.csv")),
  sink("lake.q", "q", csvCopy("/out", "q.csv")),
];
const CHAIN_P = { nodes: ["id-a", "id-p", "id-lake.p"] };
const CHAIN_Q = { nodes: ["id-b", "id-q", "id-lake.q"] };

/** Names and connections of each unit. */
function units(chains: readonly Chain[], effective = NODES.map(([{ id }]) => id)) {
  const dag = { project: makeProject("/p", {}), nodes: NODES.map(([node]) => node) };
  const plan = { ...makePlan("/p", NODES.map(([, plan]) => plan)), chains };
  return runUnits(runNodes(dag, effective), plan).map(({ nodes, connections, after, chain }) => ({
    names: nodes.map(({ name }) => name),
    connections,
    after,
    fused: chain !== undefined,
  }));
}

Deno.test("a fused chain is one unit in its source's place, with each of its connections once", () => {
  assert.deepEqual(units([CHAIN_P, CHAIN_Q]), [
    { names: ["a", "p", "lake.p"], connections: ["raw", "lake"], after: [], fused: true },
    { names: ["b", "q", "lake.q"], connections: ["lake"], after: [], fused: true },
  ]);
});

Deno.test("nodes of no fused chain are units of their own", () => {
  assert.deepEqual(units([CHAIN_P, { ...CHAIN_Q, obstacle: "engine.staging is always" }]), [
    { names: ["a", "p", "lake.p"], connections: ["raw", "lake"], after: [], fused: true },
    { names: ["b"], connections: ["lake"], after: [], fused: false },
    { names: ["q"], connections: [], after: ["id-b"], fused: false },
    { names: ["lake.q"], connections: ["lake"], after: ["id-q"], fused: false },
  ]);
});

Deno.test("a chain that reads what a load staged is a unit after that load, one that stages comes before its write", () => {
  const chains = [
    { nodes: ["id-p", "id-lake.p"], from: "id-a" },
    { nodes: ["id-b", "id-q"], to: "id-lake.q" },
  ];
  assert.deepEqual(units(chains), [
    { names: ["a"], connections: ["raw"], after: [], fused: false },
    { names: ["b", "q"], connections: ["lake"], after: [], fused: true },
    { names: ["p", "lake.p"], connections: ["lake"], after: ["id-a"], fused: true },
    { names: ["lake.q"], connections: ["lake"], after: ["id-q"], fused: false },
  ]);
  // What comes after a unit waits for its id.
  const dag = { project: makeProject("/p", {}), nodes: NODES.map(([node]) => node) };
  const plan = { ...makePlan("/p", NODES.map(([, plan]) => plan)), chains };
  const all = runUnits(runNodes(dag, NODES.map(([{ id }]) => id)), plan);
  assert.deepEqual(all.map(({ id }) => id), ["id-a", "id-q", "id-lake.p", "id-lake.q"]);
});

Deno.test("a chain of which only a part runs is not fused", () => {
  assert.deepEqual(units([CHAIN_P], ["id-a", "id-p"]).map(({ names, fused }) => [names, fused]), [
    [["a"], false],
    [["p"], false],
  ]);
});
