import assert from "node:assert/strict";
import { planTable } from "../../../src/render/mod.ts";
import type { WriteBlock } from "../../../src/project/mod.ts";
import { connection, dagOf, pipeline, project, readEntity } from "../compile/support.ts";
import { connector, type ConnectorInit, MACHINE, planned, planOf, refusals } from "./support.ts";
import { planRun } from "../../../src/plan/mod.ts";

const STAGED: ConnectorInit = {
  name: "store",
  grant: () => ({ net: ["h:1"], read: [], write: [], env: [] }),
  nativeScan: () => undefined,
  nativeCopy: () => undefined,
  stagedRead: ({ entity }) =>
    entity === "bad" ? { ok: false, problems: [{ code: "PZ0361", message: "no such format" }] } : {
      ok: true,
      value: {
        options: { key: entity },
        net: ["b.h:1", "h:1"],
        mechanism: "read_csv",
        scan: () => ({ ok: false, problems: [] }),
      },
    },
  stagedWrite: ({ mode, attempt }) => ({
    ok: true,
    value: {
      options: { run: attempt.run },
      net: [],
      mechanism: "copy",
      copy: () => ({ statement: () => "" }),
      target: { path: "s3://b/x", wholeFolder: mode === "replace" },
    },
  }),
};

const { nativeScan, nativeCopy } = connector();
const NATIVE: ConnectorInit = { nativeScan, nativeCopy };
const SINK = "{{ sink('raw', 'out') }}";
const REPLACE: WriteBlock = {
  strategy: "replace",
  keys: [],
  acceptDuplicates: false,
  schemaPolicy: "fail_on_change",
  options: {},
};

async function dag(entity = "orders") {
  const of = project([connection("raw", readEntity(entity, "id int"))], [
    pipeline("a", `INSERT INTO ${SINK} SELECT * FROM {{ source('raw', '${entity}') }}`),
  ]);
  return await dagOf(of, { [SINK]: REPLACE });
}

Deno.test("where files are moved by a process the plan says so, and what the connection may reach", async () => {
  const found = planOf(await dag(), connector(STAGED));
  const load = planned(found, "src_raw__orders");
  assert.deepEqual([load.strategy, load.reason], ["staged_scan", "staged: read_csv (store, raw.orders, read=full)"]);
  assert.deepEqual(load.stagedInput?.dataset.options, { key: "orders" });
  const write = planned(found, "raw.out");
  assert.deepEqual([write.strategy, write.reason], [
    "staged_copy",
    "staged: copy (store, raw.out, strategy=replace, replaces the whole folder)",
  ]);
  assert.deepEqual(write.stagedOutput?.({ run: "r7", ordinal: 1 }).output.options, { run: "r7" });
  assert.deepEqual(found.grants, [
    {
      connection: "raw",
      connector: "localfiles",
      grant: { net: ["h:1", "b.h:1"], read: [], write: [], env: [] },
      stages: true,
    },
  ]);
  assert.ok(planTable(found.nodes).some((row) => row.startsWith("staged_copy")));
});

Deno.test("a native path goes before files that are moved, and nothing native is forced away from them", async () => {
  const both = planOf(await dag(), connector({ ...STAGED, ...NATIVE }));
  assert.equal(planned(both, "src_raw__orders").strategy, "native_scan");
  assert.equal(planned(both, "raw.out").strategy, "native_copy");
  assert.equal(both.grants[0]?.stages, undefined);
});

Deno.test("what a connector says against files that are to be moved refuses the plan", async () => {
  assert.deepEqual(refusals(await dag("bad"), connector(STAGED)), ["PZ0361 raw.bad: no such format"]);
});

Deno.test("a process that moves files counts for the sandbox", async () => {
  const of = await dag();
  const outcome = planRun(of, {
    effective: new Set(of.nodes.map(({ id }) => id)),
    machine: MACHINE,
    findConnector: () => connector(STAGED),
    systemLayer: { missing: "this kernel has no Landlock" },
  });
  assert.equal(outcome.ok && outcome.notices.length, 1);
});
