import { deepStrictEqual } from "node:assert/strict";
import type { ConfigProblem, ConnectorDescription, OutputSpec } from "../../../src/connectors/mod.ts";
import type { WriteBlock } from "../../../src/project/mod.ts";
import { connection, dagOf, pipeline, project, readEntity } from "../compile/support.ts";
import { connector, plan, planned, planOf, refusals } from "./support.ts";

const REPLACE: WriteBlock = {
  strategy: "replace",
  keys: [],
  acceptDuplicates: false,
  schemaPolicy: "fail_on_change",
  options: { path: "out" },
};
const SINK = "{{ sink('lake', 'out') }}";

/** A connector whose process is asked otherwise than the project says. */
function asking(more: Partial<ConnectorDescription> = {}): ConnectorDescription {
  return {
    ...connector({ universal: { read: true, write: true } }),
    universalRead: () => ({
      ok: true,
      value: {
        options: { files: ["/far/x.csv"] },
        grant: { read: ["/far/x.csv", "/data"], write: [] },
        partitions: 3,
        reads: { files: [], folders: ["/far"] },
        contract: (relation) => `(SELECT 1 FROM ${relation})`,
      },
    }),
    universalWrite: ({ attempt }) => ({
      ok: true,
      value: {
        options: { final: "/far/out", aside: `/far/.out.${attempt.run}-${attempt.ordinal}` },
        grant: { read: ["/far"], write: ["/far"] },
        moves: [{ from: "/far/.out", to: "/far/out" }],
        target: { path: "/far/out", wholeFolder: true },
      },
    }),
    ...more,
  };
}

async function dag(forceUniversal: boolean) {
  const whole = project(
    [connection("raw", readEntity("o", "id int")), connection("lake", {})],
    [pipeline("a", `INSERT INTO ${SINK} SELECT 1 AS id`), pipeline("b", "SELECT * FROM {{ source('raw', 'o') }}")],
  );
  return await dagOf({ ...whole, engine: { ...whole.engine, forceUniversal } }, { [SINK]: REPLACE });
}

Deno.test("what goes through a process is asked as its connector says, and granted what it touches besides", async () => {
  const outcome = planOf(await dag(true), asking());
  const load = planned(outcome, "src_raw__o");
  deepStrictEqual(
    [load.reason, load.partitions, load.dataset?.options, load.typing?.contract?.("t")],
    [
      "arrow stream: engine.force_universal is set (localfiles, raw.o, read=full, 3 partitions)",
      3,
      { files: ["/far/x.csv"] },
      "(SELECT 1 FROM t)",
    ],
  );
  const write = planned(outcome, "lake.out");
  const spec: OutputSpec | undefined = write.output?.({ run: "r7", ordinal: 2 });
  deepStrictEqual(
    [write.reason, spec?.options, spec?.attempt.ordinal],
    [
      "arrow stream: engine.force_universal is set (localfiles, lake.out, strategy=replace, replaces the whole folder)",
      { final: "/far/out", aside: "/far/.out.r7-2" },
      2,
    ],
  );
  deepStrictEqual(outcome.grants.map(({ connection: name, grant }) => [name, grant.read, grant.write]), [
    ["lake", ["/data", "/far"], ["/data", "/far"]],
    ["raw", ["/data", "/far/x.csv"], []],
  ]);
});

Deno.test("what a process reads and writes is compared as what DuckDB does", async () => {
  const outcome = plan(await dag(true), asking());
  deepStrictEqual(outcome.ok ? outcome.warnings.map(({ code }) => code) : [], ["PZ0704"]);
});

Deno.test("nothing is asked while DuckDB reads and writes by itself", async () => {
  const fail = () => {
    throw new Error("asked");
  };
  const outcome = planOf(await dag(false), asking({ universalRead: fail, universalWrite: fail }));
  deepStrictEqual(outcome.nodes.map(({ strategy }) => strategy), [
    "native_scan",
    "duck_sql",
    "duck_sql",
    "native_copy",
  ]);
});

Deno.test("what a connector says against its process stops the plan, or the attempt when it says it later", async () => {
  const problems: ConfigProblem[] = [{ code: "PZ0361", message: "only DuckDB can" }];
  const refusing = asking({
    universalRead: () => ({ ok: false, problems }),
    universalWrite: () => ({ ok: false, problems }),
  });
  deepStrictEqual(refusals(await dag(true), refusing), [
    "PZ0361 raw.o: only DuckDB can",
    "PZ0361 lake.out: only DuckDB can",
  ]);
  let asked = 0;
  const { universalWrite } = asking();
  const later = asking({
    universalWrite: (spec, context) =>
      asked++ === 0 && universalWrite !== undefined ? universalWrite(spec, context) : { ok: false, problems },
  });
  const write = planned(planOf(await dag(true), later), "lake.out");
  let code: unknown;
  try {
    write.output?.({ run: "r", ordinal: 2 });
  } catch (error) {
    code = error instanceof Error && "code" in error ? error.code : error;
  }
  deepStrictEqual(code, "PZ0361");
});
