import { deepStrictEqual, match, strictEqual } from "node:assert/strict";
import { connection, dagOf, pipeline, project, readEntity } from "../compile/support.ts";
import type { WriteBlock } from "../../../src/project/mod.ts";
import type { OutputTarget } from "../../../src/connectors/mod.ts";
import { findConnector } from "../../../src/connectors/mod.ts";
import { connector, plan, planned, planOf, refusals } from "./support.ts";
import { TempDir } from "../../harness/temp_dir.ts";

const REPLACE: WriteBlock = {
  strategy: "replace",
  keys: [],
  acceptDuplicates: false,
  schemaPolicy: "fail_on_change",
  options: {},
};
const HINT = "give each output a place of its own";

/** Two pipelines that write `lake.a` and `lake.b`, to these places. */
function twoOutputs() {
  const sql = (output: string) => `INSERT INTO {{ sink('lake', '${output}') }} SELECT * FROM {{ source('raw', 'o') }}`;
  return dagOf(
    project([connection("raw", readEntity("o", "id int")), connection("lake", {}, "lakefiles")], [
      pipeline("p", sql("a")),
      pipeline("q", sql("b")),
    ]),
    { "{{ sink('lake', 'a') }}": REPLACE, "{{ sink('lake', 'b') }}": REPLACE },
  );
}

function connectors(a: OutputTarget, b: OutputTarget) {
  return {
    localfiles: connector(),
    lakefiles: connector({
      nativeCopy: (spec) => ({
        ok: true,
        value: {
          statement: () => "",
          setup: [],
          mechanism: "copy",
          folders: [],
          moves: [],
          target: spec.entity === "a" ? a : b,
        },
      }),
    }),
  };
}

const file = (path: string): OutputTarget => ({ path, wholeFolder: false });
const folder = (path: string): OutputTarget => ({ path, wholeFolder: true });
const table = (path: string, name: string): OutputTarget => ({ path, wholeFolder: false, table: name });

for (
  const [a, b, expected] of [
    [file("/d/x.csv"), file("/d/x.csv"), `outputs 'lake.a' and 'lake.b' both write "/d/x.csv"`],
    [
      folder("/d/x"),
      file("/d/x/y/z.csv"),
      `output 'lake.a' replaces the whole folder "/d/x", which holds what output 'lake.b' writes`,
    ],
    [
      file("/d/x/z.csv"),
      folder("/d"),
      `output 'lake.b' replaces the whole folder "/d", which holds what output 'lake.a' writes`,
    ],
    [
      table("/w.db", "main.t"),
      table("/w.db", "main.t"),
      `outputs 'lake.a' and 'lake.b' both write the table "main.t" of "/w.db"`,
    ],
    [table("/w.db", "main.t"), file("/w.db"), `outputs 'lake.a' and 'lake.b' both write "/w.db"`],
    [file("/d/x.csv"), file("/d/X.csv"), undefined],
    [folder("/d/x"), folder("/d/xy"), undefined],
    [file("/d/x"), file("/d/x/y"), undefined],
    [table("/w.db", "main.t"), table("/w.db", "main.u"), undefined],
  ] as const
) {
  Deno.test(`outputs of ${JSON.stringify([a, b])} are ${expected === undefined ? "apart" : "refused"}`, async () => {
    const outcome = plan(await twoOutputs(), connectors(a, b));
    const errors = outcome.ok ? [] : outcome.errors;
    deepStrictEqual(
      errors.map(({ code, message, hint }) => [code, message, hint]),
      expected === undefined ? [] : [["PZ0206", expected, HINT]],
    );
  });
}

Deno.test("a shared place is refused when either output runs, and not when neither does", async () => {
  const dag = await twoOutputs();
  const both = connectors(file("/x"), file("/x"));
  const id = (name: string) => dag.nodes.filter((node) => node.name === name).map((node) => node.id);
  for (const name of ["lake.a", "lake.b"]) match(refusals(dag, both, id(name))[0] ?? "", /^PZ0206 /);
  const idle = planOf(dag, both, []);
  match(planned(idle, "lake.b").reason, /^refused: PZ0206 /);
});

Deno.test("files by two connections and two spellings of one table are the same place", async () => {
  await using dir = await TempDir.create();
  await Deno.mkdir(dir.join("real"));
  await Deno.symlink(dir.join("real"), dir.join("link"));
  const context = { projectRoot: dir.path };
  const target = (name: string, entity: string, options: Record<string, string>, config: Record<string, string>) => {
    const found = findConnector(name);
    if (found === undefined || found === "planned") throw new Error(name);
    const outcome = found.nativeCopy({
      connection: "c",
      entity,
      options,
      config,
      mode: "replace",
      schemaPolicy: "fail_on_change",
      keys: [],
      attempt: { node: "0123456789", run: "r", ordinal: 1 },
    }, context);
    if (outcome?.ok !== true) throw new Error(JSON.stringify(outcome));
    return outcome.value.target;
  };
  const real = dir.join("real/x.csv");
  deepStrictEqual(
    target("localfiles", "o", { format: "csv", path: "x.csv" }, { root: "link" }),
    file(Deno.realPathSync(dir.join("real")) + "/x.csv"),
  );
  deepStrictEqual(
    target("localfiles", "o", { format: "csv", path: real }, {}),
    target("localfiles", "o", { format: "csv", path: "link/x.csv" }, {}),
  );
  strictEqual(target("localfiles", "o", { format: "csv", path: "p", partition_by: "k" }, {})?.wholeFolder, true);
  deepStrictEqual(target("duckdb", "T", {}, { path: "w.db" }), target("duckdb", "main.t", {}, { path: "w.db" }));
});

Deno.test("the plan says where a write replaces a whole folder", async () => {
  const plan = planOf(await twoOutputs(), connectors(folder("/d/x"), file("/y")));
  match(planned(plan, "lake.a").reason, /strategy=replace, replaces the whole folder\)$/);
  match(planned(plan, "lake.b").reason, /strategy=replace\)$/);
});
