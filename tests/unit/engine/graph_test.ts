import assert from "node:assert/strict";
import { connectionLimits, runNodes } from "../../../src/engine/graph.ts";
import { connection, csvCopy, makeProject, nativeSource, pipeline, sink } from "./fixture.ts";

Deno.test("only the nodes of the run are dispatched, with the connections and limits that they use", () => {
  const nodes = [
    nativeSource("src", "SELECT 1", { connection: connection("raw", { maxConcurrency: 2 }) }),
    nativeSource("other", "SELECT 1", { connection: connection("more", { maxConcurrency: 1 }) }),
    pipeline("a", "", ["src"]),
    sink("lake.a", "a", csvCopy("/out", "x.csv")),
  ].map(([node]) => node);
  const run = runNodes({ project: makeProject("/p", {}), nodes }, ["id-lake.a", "id-src", "id-a"]);
  assert.deepEqual(run.map(({ name, connection: used, after }) => [name, used, after]), [
    ["src", "raw", []],
    ["a", undefined, ["id-src"]],
    ["lake.a", "lake", ["id-a"]],
  ]);
  assert.deepEqual(connectionLimits(run), new Map([["raw", 2]]));
});
