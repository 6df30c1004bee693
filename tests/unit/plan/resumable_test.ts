import { deepStrictEqual, strictEqual } from "node:assert/strict";
import type { CompiledDag } from "../../../src/compile/mod.ts";
import type { WriteBlock } from "../../../src/project/mod.ts";
import { connection, dagOf, pipeline, project, readEntity } from "../compile/support.ts";
import { connector, planned, planOf, refusals } from "./support.ts";

const APPEND: WriteBlock = {
  strategy: "append",
  keys: [],
  acceptDuplicates: false,
  schemaPolicy: "fail_on_change",
  options: {},
};

function sample(write: Partial<WriteBlock> = {}): Promise<CompiledDag> {
  return dagOf(
    project(
      [connection("raw", readEntity("orders", "id int")), connection("lake", {}, "lakefiles")],
      [pipeline("a", "INSERT INTO {{ sink('lake', 'out') }} SELECT * FROM {{ source('raw', 'orders') }}")],
    ),
    { "{{ sink('lake', 'out') }}": { ...APPEND, ...write } },
  );
}

const THROUGH = { nativeCopy: () => undefined, universal: { read: true, write: true }, parallelWriters: 4 };

Deno.test("a write that can go on where it stopped is planned as one, by one writer", async () => {
  const sinks = connector({ ...THROUGH, capabilities: ["CheckpointableWrites"] });
  const { resumable, writers } = planned(planOf(await sample(), sinks), "lake.out");
  deepStrictEqual([resumable, writers], [true, undefined]);
  const plain = planned(planOf(await sample(), connector(THROUGH)), "lake.out");
  deepStrictEqual([plain.resumable, plain.writers], [undefined, 4]);
});

Deno.test("a connector decides write by write, and hears after how many rows it may save how far it is", async () => {
  const asked: (number | undefined)[] = [];
  const sinks = connector({
    ...THROUGH,
    capabilities: ["CheckpointableWrites"],
    resumesWrite: ({ checkpointRows }) => {
      asked.push(checkpointRows);
      return checkpointRows !== undefined;
    },
  });
  strictEqual(planned(planOf(await sample(), sinks), "lake.out").resumable, undefined);
  strictEqual(planned(planOf(await sample({ checkpointRows: 500 }), sinks), "lake.out").resumable, true);
  deepStrictEqual(asked, [undefined, 500]);
});

Deno.test("checkpoint_rows is refused where nothing can follow from it", async () => {
  const able = connector({ ...THROUGH, capabilities: ["CheckpointableWrites", "Merge", "ReplaceWrites"] });
  const unable = connector({ ...THROUGH, capabilities: ["Merge", "ReplaceWrites"] });
  deepStrictEqual(refusals(await sample({ checkpointRows: 5 }), able), []);
  for (const strategy of ["replace", "merge"] as const) {
    deepStrictEqual(
      refusals(await sample({ checkpointRows: 5, strategy, keys: strategy === "merge" ? ["id"] : [] }), able),
      [
        `PZ0334 'checkpoint_rows' of 'lake.out' needs strategy 'append', not '${strategy}'`,
      ],
    );
  }
  deepStrictEqual(refusals(await sample({ checkpointRows: 5 }), unable), [
    "PZ0334 connector 'localfiles' can't save how far a write of 'lake.out' is, as 'checkpoint_rows' asks",
  ]);
});
