import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { runPz } from "../harness/cli.ts";
import { Duck } from "../harness/duck.ts";
import { type Files, listFiles, TempDir, writeFiles } from "../harness/temp_dir.ts";
import { CONNECTIONS, PROJECT } from "./newcomer_project.ts";
import { VEGA_DATA } from "./vega_expected.ts";

const FIXTURE = join(import.meta.dirname ?? ".", "..", "..", "fixtures", "vega_atlas");

/** Nothing at all, and places far from one another, one of them in a language with letters of its own. */
const PLACES: readonly { readonly [name: string]: string }[] = [
  { TZ: "", LANG: "", LC_ALL: "" },
  { TZ: "Australia/Sydney", LANG: "tr_TR.UTF-8", LC_ALL: "tr_TR.UTF-8" },
  { TZ: "America/Los_Angeles", LANG: "tr_TR.UTF-8", LC_ALL: "tr_TR.UTF-8" },
];

/** One node and one thread at a time and a set share of memory, so that the order of what is said and written is the same each time. */
const ONE_BY_ONE = "\nengine: { threads: 1, duckdb: { threads: 1, memory_limit: 2GB } }\n";

type Case = {
  readonly title: string;
  /** Puts the project into a folder that is there. */
  readonly make: (folder: string) => Promise<void>;
  readonly commands: readonly (readonly string[])[];
};

const CASES: readonly Case[] = [
  {
    title: "the sample",
    make: async (folder) => {
      const made = await runPz(["init", "shop", "--template", "sample"], { cwd: join(folder, "..") });
      assert.equal(made.code, 0, made.toString());
      await Deno.writeTextFile(join(folder, "project.yml"), ONE_BY_ONE, { append: true });
    },
    commands: [["ls"], ["validate"], ["plan"], ["run", "--all"], ["run", "--all", "--log-format", "json"], ["runs"]],
  },
  {
    title: "the fixture over real files",
    make: async (folder) => {
      for (const path of await listFiles(FIXTURE)) {
        const text = await Deno.readTextFile(join(FIXTURE, path));
        await writeFiles(folder, { [path]: path === "project.yml" ? text + ONE_BY_ONE : text });
      }
    },
    commands: [["plan"], ["run", "--all", "--log-format", "json"]],
  },
  {
    title: "a newcomer's project, and one of mistakes",
    make: (folder) => writeFiles(folder, { ...newcomer(""), ...newcomer("mistaken/", MISTAKES) }),
    commands: [["run"], ["run", "--log-format", "json"], ["validate", "--project", "mistaken"], [
      "run",
      "--project",
      "mistaken",
    ]],
  },
];

/** Words with the letter that Turkish writes in two ways, and a value of each kind that a language could write apart. */
const MISTAKES = {
  "project.yml": `name: shop\nversion: "1"\nengine: { threds: 1, node_timeout: 1,5m }\nvars: { Iı: 1234567.5 }\n`,
  "pipelines/configs/orders.yml": "pipeline: orders\nmaterialization: TABLE\nchecks: [{ UNIQUE: [ID] }]\n",
};

for (const { title, make, commands } of CASES) {
  Deno.test(`${title}: output, events, artifacts and files have the same bytes in every time zone and language`, async () => {
    const seen: { readonly [what: string]: string }[] = [];
    for (const place of PLACES) {
      await using temp = await TempDir.create();
      const cwd = temp.join("shop");
      await Deno.mkdir(cwd);
      await make(cwd);
      const what: { [what: string]: string } = {};
      for (const args of commands) {
        const { code, stdout, stderr } = await runPz(args, { cwd, env: { ...place, VEGA_DATA } });
        what[args.join(" ")] = [`exit code ${code}`, stdout, "--- stderr", stderr]
          .map((text) => steady(text, temp.path)).join("\n");
      }
      seen.push({ ...what, ...await filesOf(cwd, temp.path) });
    }
    const [first = {}, ...others] = seen;
    assert.ok(Object.keys(first).some((path) => path.startsWith("out/")), "nothing was written");
    assert.ok(Object.keys(first).some((path) => path.endsWith("plan.json")), "nothing was planned");
    for (const other of others) assert.deepEqual(other, first);
  });
}

/** The newcomer's project that works, in a folder of its own, with some files in place of its own. */
function newcomer(folder: string, changed: Files = {}): Files {
  const files = { ...PROJECT, "project.yml": `${PROJECT["project.yml"]}${ONE_BY_ONE}`, ...changed };
  const entries = Object.entries({ "connections.yml": CONNECTIONS, ...files });
  return Object.fromEntries(entries.map(([path, content]) => [`${folder}${path}`, content ?? ""]));
}

/** Every file of a project after its runs: texts without what differs each time, others by the hash of their bytes. */
async function filesOf(folder: string, temp: string): Promise<{ [path: string]: string }> {
  const found: { [path: string]: string } = {};
  for (const path of await listFiles(folder)) {
    const file = join(folder, path);
    // Pages of a database come to lie as they will; its rows are compared.
    if (path.endsWith(".duckdb")) found[steady(path, temp)] = path.startsWith(".pz/") ? "" : await rowsOf(file);
    else if (/^\.pz\/.*json$/.test(path)) found[steady(path, temp)] = steady(await Deno.readTextFile(file), temp);
    else found[steady(path, temp)] = createHash("sha256").update(await Deno.readFile(file)).digest("hex");
  }
  return found;
}

async function rowsOf(file: string): Promise<string> {
  using duck = await Duck.open();
  await duck.run(`ATTACH '${file}' AS made (READ_ONLY)`);
  const tables = await duck.rows("SELECT table_name FROM duckdb_tables() WHERE database_name = 'made' ORDER BY ALL");
  const rows = [];
  for (const [table] of tables) {
    rows.push([table, await duck.rows(`SELECT t::VARCHAR FROM made."${table}" AS t ORDER BY ALL`)]);
  }
  return JSON.stringify(rows);
}

/** A text without run ids, instants and durations of this time, and without the name of the folder. */
function steady(text: string, temp: string): string {
  return text
    .split("\n").filter((line) => !line.startsWith(`{"event":"node_progress"`)).join("\n")
    .replaceAll(JSON.stringify(temp).slice(1, -1), "/temp").replaceAll(temp, "/temp")
    .replaceAll(temp.replaceAll("\\", "/"), "/temp")
    .replaceAll(/\b\d{8}T\d{9}Z-[0-9a-f]{4}\b/g, "RUN")
    .replaceAll(/("(?:at|\w+At)": ?)"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z"/g, '$1"AT"')
    .replaceAll(/("\w+Ms": ?)\d+/g, "$10")
    .replaceAll(/\b\d+(?:\.\d+)?m?s\b/g, "TIME")
    .replaceAll(/\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z\s+TIME\s+/g, "AT TIME ");
}
