import assert from "node:assert/strict";
import { formatError } from "../../../src/errors/mod.ts";
import { planRun } from "../../../src/plan/mod.ts";
import type { SystemLayer } from "../../../src/connectors/mod.ts";
import { connection, dagOf, ENGINE, pipeline, project, readEntity } from "../compile/support.ts";
import { connector, MACHINE } from "./support.ts";

const MISSING: SystemLayer = { missing: "this kernel has no Landlock" };

const ALONE =
  "connectors run in the runtime's sandbox alone, without the operating system's, since this kernel has no Landlock";

/** A plan of one read, through a process unless it is native. */
async function planWith(
  layer: SystemLayer | undefined,
  { sandbox = "auto", native = false, isRun = true }: {
    readonly sandbox?: "auto" | "require";
    readonly native?: boolean;
    readonly isRun?: boolean;
  } = {},
) {
  const dag = await dagOf(
    project([connection("raw", readEntity("orders", "id int"))], [
      pipeline("a", "SELECT * FROM {{ source('raw', 'orders') }}"),
    ], { engine: { ...ENGINE, sandbox } }),
  );
  const process = connector({ capabilities: [], nativeScan: () => undefined, universal: { read: true, write: false } });
  return planRun(dag, {
    effective: new Set(isRun ? dag.nodes.map(({ id }) => id) : []),
    machine: MACHINE,
    findConnector: () => native ? connector() : process,
    ...(layer === undefined ? {} : { systemLayer: layer }),
  });
}

Deno.test("a plan with connectors' processes says where the operating system does not confine them", async () => {
  const planned = await planWith(MISSING);
  assert.deepEqual(planned.ok && planned.notices, [ALONE]);
});

Deno.test("nothing is said of the sandbox where it is whole, or nothing runs in it", async () => {
  for (
    const planned of [
      await planWith({ landlock: 1 }, { sandbox: "require" }),
      await planWith(undefined, { sandbox: "require" }),
      await planWith(MISSING, { sandbox: "require", native: true }),
      await planWith(MISSING, { sandbox: "require", isRun: false }),
    ]
  ) assert.deepEqual(planned.ok && planned.notices, []);
});

Deno.test("engine.sandbox: require refuses a plan whose connectors can't be confined", async () => {
  const planned = await planWith(MISSING, { sandbox: "require" });
  assert.deepEqual(planned.ok ? [] : planned.errors.map((error) => [error.code, error.message, error.file]), [
    ["PZ0743", `'engine.sandbox: require' can't be met: ${ALONE}`, "project.yml"],
  ]);
  assert.match(planned.ok ? "" : planned.errors.map(formatError).join(), /set engine.sandbox to auto/);
});
