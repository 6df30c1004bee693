import assert from "node:assert/strict";
import type { PlannedNode } from "../../../src/plan/mod.ts";
import { planTable } from "../../../src/render/mod.ts";

Deno.test("the plan counts pushed columns only where it knows that the source has them", () => {
  const rowOf = (pushed: PlannedNode["pushed"]) =>
    planTable([{
      id: "1",
      kind: "SourceLoad",
      name: "src_raw__o",
      strategy: "arrow_stream",
      partitions: 1,
      reason: "why",
      ...(pushed === undefined ? {} : { pushed }),
    }])[1]?.replace(/^.*why/, "why");
  assert.equal(rowOf(undefined), "why");
  assert.equal(rowOf({ columns: 1, predicate: false }), "why [pushed: 1 column]");
  assert.equal(rowOf({ columns: 3, predicate: true }), "why [pushed: 3 columns + filter]");
  assert.equal(rowOf({ columns: 3, predicate: true, atMost: true }), "why [pushed: columns + filter]");
  assert.equal(rowOf({ columns: null, predicate: true }), "why [pushed: filter]");
});
