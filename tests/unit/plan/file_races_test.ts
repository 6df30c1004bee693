import { deepStrictEqual } from "node:assert/strict";
import type { NativeCopy } from "../../../src/connectors/mod.ts";
import type { WriteBlock } from "../../../src/project/mod.ts";
import { connection, dagOf, pipeline, project, readEntity } from "../compile/support.ts";
import { connector, plan } from "./support.ts";

const REPLACE: WriteBlock = {
  strategy: "replace",
  keys: [],
  acceptDuplicates: false,
  schemaPolicy: "fail_on_change",
  options: {},
};
const SINK = "{{ sink('lake', 'out') }}";

async function racesOf(
  pipelines: Readonly<Record<string, string>>,
  target: string,
  reads: { readonly files: readonly string[]; readonly folders: readonly string[] },
  only?: string,
): Promise<readonly string[]> {
  const copy: NativeCopy = {
    statement: () => "",
    setup: [],
    mechanism: "copy",
    folders: [],
    moves: [{ from: `${target}.tmp`, to: target }],
  };
  const files = connector({
    nativeScan: () => ({
      ok: true,
      value: { fragment: "f", setup: [], mechanism: "read_csv", schemaInferred: false, reads },
    }),
    nativeCopy: () => ({ ok: true, value: copy }),
  });
  const dag = await dagOf(
    project(
      [connection("raw", readEntity("orders", "id int")), connection("lake", {}, "lakefiles")],
      Object.entries(pipelines).map(([name, sql]) => pipeline(name, sql)),
    ),
    { [SINK]: REPLACE },
  );
  const effective = dag.nodes.filter(({ name }) => only === undefined || name.includes(only)).map(({ id }) => id);
  const outcome = plan(dag, files, effective);
  return (outcome.ok ? outcome.warnings : outcome.errors).map(({ code, message, hint }) =>
    `${code} ${message} — ${hint}`
  );
}

const APART = { a: `INSERT INTO ${SINK} SELECT 1 AS id`, b: "SELECT * FROM {{ source('raw', 'orders') }}" };
const WARNING = "PZ0704 source 'raw.orders' of pipeline 'b' reads what sink 'lake.out' of pipeline 'a' writes in the " +
  "same run, and nothing says which comes first — read the pipeline itself: {{ ref('a') }}";

Deno.test("a source that reads the file of a sink is warned of, by its path or by a pattern over its folder", async () => {
  deepStrictEqual(await racesOf(APART, "/d/out/out.csv", { files: ["/d/out/out.csv"], folders: [] }), [WARNING]);
  deepStrictEqual(await racesOf(APART, "/d/out/out.csv", { files: [], folders: ["/d/out"] }), [WARNING]);
  deepStrictEqual(await racesOf(APART, "/d/out", { files: [], folders: ["/d/out"] }), [WARNING]);
});

Deno.test("another file, a sink that does not run and a pipeline that replaces what it has read are fine", async () => {
  const same = { files: ["/d/out/out.csv"], folders: [] };
  deepStrictEqual(await racesOf(APART, "/d/out/other.csv", same), []);
  deepStrictEqual(await racesOf(APART, "/d/out/out.csv", { files: [], folders: ["/d"] }), []);
  deepStrictEqual(await racesOf(APART, "/d/out/out.csv", same, "orders"), []);
  const own = { a: `INSERT INTO ${SINK} SELECT * FROM {{ source('raw', 'orders') }}` };
  deepStrictEqual(await racesOf(own, "/d/out/out.csv", same), []);
});

Deno.test("where no places are told, a source and a sink of one entity meet", async () => {
  const system = connector({
    nativeScan: () => undefined,
    nativeCopy: () => undefined,
    universal: { read: true, write: true },
  });
  const races = async (entity: string) => {
    const sink = `{{ sink('raw', '${entity}') }}`;
    const dag = await dagOf(
      project([connection("raw", readEntity("orders", "id int"))], [
        pipeline("a", `INSERT INTO ${sink} SELECT 1 AS id`),
        pipeline("b", "SELECT * FROM {{ source('raw', 'orders') }}"),
      ]),
      { [sink]: REPLACE },
    );
    const outcome = plan(dag, system);
    return (outcome.ok ? outcome.warnings : outcome.errors).map(({ code }) => code);
  };
  deepStrictEqual(await races("orders"), ["PZ0704"]);
  deepStrictEqual(await races("other"), []);
});
