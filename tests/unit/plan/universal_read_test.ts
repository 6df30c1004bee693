import { deepStrictEqual } from "node:assert/strict";
import type { Capability, ConnectorDescription, Predicate } from "../../../src/connectors/mod.ts";
import type { ReadBlock } from "../../../src/project/mod.ts";
import { connection, dagOf, pipeline, project, readEntity } from "../compile/support.ts";
import { connector, planned, planOf, refusals } from "./support.ts";

Deno.test("pushed columns and filters show by the connector's capability, each half by itself", async () => {
  const dag = await dagOf(
    project([connection("raw", readEntity("o"))], [
      pipeline("a", "SELECT id, v FROM {{ source('raw', 'o') }} WHERE v = 1"),
    ]),
  );
  const pushed = (...capabilities: ("ColumnPruning" | "PredicatePushdown")[]) =>
    planned(
      planOf(dag, connector({ capabilities, nativeScan: () => undefined, universal: { read: true, write: false } })),
      "src_raw__o",
    ).pushed;
  deepStrictEqual(pushed(), undefined);
  deepStrictEqual(pushed("ColumnPruning"), { columns: 2, predicate: false, atMost: true });
  deepStrictEqual(pushed("PredicatePushdown"), { columns: null, predicate: true });
  deepStrictEqual(pushed("ColumnPruning", "PredicatePushdown"), { columns: 2, predicate: true, atMost: true });
});

Deno.test("a connector gets the hints that it can follow, and only comparisons that it makes as DuckDB does", async () => {
  const sql = "SELECT id FROM {{ source('raw', 'o') }} WHERE v = 1 AND w > 2 AND id IS NOT NULL";
  const dag = await dagOf(project([connection("raw", readEntity("o"))], [pipeline("a", sql)]));
  const hints = (init: Partial<ConnectorDescription>, ...capabilities: Capability[]) =>
    planned(
      planOf(
        dag,
        {
          ...connector({ capabilities, nativeScan: () => undefined, universal: { read: true, write: false } }),
          ...init,
        },
      ),
      "src_raw__o",
    );
  const one = { type: "INTEGER", text: "1" };
  const two = { type: "INTEGER", text: "2" };
  const equal = { op: "=", column: "v", value: one };
  const greater = { op: ">", column: "w", value: two };
  const given = { op: "is_not_null", column: "id" };
  deepStrictEqual(hints({}).dataset?.hints, undefined);
  deepStrictEqual(hints({}, "ColumnPruning").dataset?.hints, { columns: ["id", "v", "w"] });
  deepStrictEqual(hints({}, "PredicatePushdown").dataset?.hints, {
    predicate: { op: "and", args: [given, equal, greater] },
  });
  const some = (...operators: Predicate["op"][]) =>
    hints({ predicateOperators: new Set(operators) }, "PredicatePushdown");
  deepStrictEqual(some("=", "is_not_null").dataset?.hints, { predicate: { op: "and", args: [given, equal] } });
  deepStrictEqual(some("=").dataset?.hints, { predicate: equal });
  deepStrictEqual([some("in").dataset?.hints, some("in").pushed], [undefined, undefined]);
  deepStrictEqual(some("=").pushed, { columns: null, predicate: true });
});

Deno.test("where no SQL says which columns are needed, the contract does", async () => {
  const dag = await dagOf(
    project([connection("raw", readEntity("o", "id int, v varchar"))], [
      pipeline("a", "SELECT * FROM {{ source('raw', 'o') }}"),
    ]),
  );
  const universal = connector({
    capabilities: ["ColumnPruning"],
    nativeScan: () => undefined,
    universal: { read: true, write: false },
  });
  const { dataset, pushed } = planned(planOf(dag, universal), "src_raw__o");
  deepStrictEqual([dataset?.hints, pushed], [{ columns: ["id", "v"] }, { columns: 2, predicate: false }]);
});

Deno.test("of columns that may be another source's in the SQL only those of the contract are counted", async () => {
  const dag = await dagOf(
    project([connection("raw", { ...readEntity("o", "id int, v varchar"), ...readEntity("p", "key int, w int") })], [
      pipeline("a", "SELECT ID, v, w FROM {{ source('raw', 'o') }} JOIN {{ source('raw', 'p') }} ON id = key"),
    ]),
  );
  const universal = connector({
    capabilities: ["ColumnPruning"],
    nativeScan: () => undefined,
    universal: { read: true, write: false },
  });
  const plan = planOf(dag, universal);
  deepStrictEqual(planned(plan, "src_raw__o").pushed, { columns: 2, predicate: false });
  deepStrictEqual(planned(plan, "src_raw__p").pushed, { columns: 2, predicate: false });
});

Deno.test("what parts a read asks for must fit how it is read", async () => {
  const refused = async (read: ReadBlock, init: Parameters<typeof connector>[0]) => {
    const raw = connection("raw", { o: { name: "o", read, position: { file: "c", line: 1, column: 1 } } });
    const dag = await dagOf(project([raw], [pipeline("a", "SELECT * FROM {{ source('raw', 'o') }}")]));
    return refusals(dag, connector(init));
  };
  const parts = { options: { files_per_partition: 4n } };
  deepStrictEqual(await refused(parts, {}), [
    "PZ0312 connector 'localfiles' reads 'raw.o' only by DuckDB itself, which makes its own parts",
  ]);
  const universal = { nativeScan: () => undefined, universal: { read: true, write: false } };
  deepStrictEqual(await refused(parts, universal), []);
  deepStrictEqual(await refused(parts, { universal: universal.universal }), [
    "PZ0312 connector 'localfiles' reads 'raw.o' by DuckDB itself, which makes its own parts",
  ]);
  const feed = { options: {}, sync: { mode: "auto" } } as const;
  const refusal = "PZ0316 connector 'localfiles' reads 'raw.o' in parts, which 'sync' can't follow";
  deepStrictEqual(await refused(feed, { ...universal, capabilities: ["SyncState"] }), []);
  deepStrictEqual(await refused(feed, { ...universal, capabilities: ["SyncState", "PartitionedRead"] }), [refusal]);
  deepStrictEqual(await refused(feed, { ...universal, capabilities: ["SyncState", "StreamingPartitions"] }), [refusal]);
});

Deno.test("planned partitions need the capability, a column and a count, and stay between 1 and 16", async () => {
  const partitions = async (options: ReadBlock["options"], ...capabilities: "PartitionedRead"[]) => {
    const raw = connection("raw", { o: { name: "o", read: { options }, position: { file: "c", line: 1, column: 1 } } });
    const dag = await dagOf(project([raw], [pipeline("a", "SELECT * FROM {{ source('raw', 'o') }}")]));
    const node = planned(
      planOf(dag, connector({ capabilities, nativeScan: () => undefined, universal: { read: true, write: false } })),
      "src_raw__o",
    );
    return [node.partitions, node.reason.includes("partitions")];
  };
  const both = { partition_column: "id", partitions: 4n };
  deepStrictEqual(await partitions(both), [1, false]);
  deepStrictEqual(await partitions(both, "PartitionedRead"), [4, true]);
  deepStrictEqual(await partitions({ partitions: 4n }, "PartitionedRead"), [1, false]);
  deepStrictEqual(await partitions({ ...both, partitions: 0n }, "PartitionedRead"), [1, false]);
  deepStrictEqual(await partitions({ ...both, partitions: 17n }, "PartitionedRead"), [16, true]);
});
