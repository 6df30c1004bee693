import assert from "node:assert/strict";
import { type PzResult, runPz, startPz } from "../harness/cli.ts";
import { Duck } from "../harness/duck.ts";
import { problemsOfStream } from "../harness/events.ts";
import { readJournal, readReceipt } from "../harness/run_files.ts";
import { type Files, listFiles, TempDir, writeFiles } from "../harness/temp_dir.ts";

const JSON_RUN = ["run", "--all", "--log-format", "json"];

const ROWS = Array.from({ length: 5000 }, (_, id) => {
  const note = ["", '""', "plain", '"a ""quoted"", one"', "straße"][id % 5];
  return `${id},${id % 7},${id % 100}.${String(id % 97).padStart(2, "0")},2026-01-${
    String(1 + id % 28).padStart(2, "0")
  },${note}`;
});

/** A project with one source in a file, and pipelines by name. */
function project(staging: "auto" | "always", pipelines: { readonly [name: string]: string }, data = ROWS): Files {
  return {
    "project.yml": `name: fused\nversion: "1"\nengine: { threads: 2, staging: ${staging} }\n`,
    "connections.yml": `files:\n  connector: localfiles\n  root: data\n  entities:\n    t:\n      read:\n` +
      `        format: csv\n        columns: { id: bigint, grp: bigint, amount: "decimal(12,2)", day: date, note: varchar }\n` +
      `lake:\n  connector: localfiles\n  root: out\nhouse:\n  connector: duckdb\n  path: data/house.duckdb\n`,
    "data/t.csv": `id,grp,amount,day,note\n${data.join("\n")}\n`,
    ...Object.fromEntries(Object.entries(pipelines).map(([name, sql]) => [`pipelines/${name}.sql`, `${sql}\n`])),
  };
}

const SOURCE = "{{ source('files', 't') }}";
const into = (format: string) => `INSERT INTO {{ sink('lake', 'o', format: '${format}', strategy: 'replace') }}\n`;

/** What a run did, without what differs from run to run and between fused and staged. */
function facts(result: PzResult): unknown {
  return result.events.filter(({ event }) => event === "node_completed").map((event) => [
    event["nodeId"],
    event["name"],
    event["status"],
    event["rows"],
    event["errorCode"],
    event["errorMessage"],
  ]);
}

/** Runs a project fused and staged and checks that both tell the same; the folder of each. */
async function runBoth(
  pipelines: { readonly [name: string]: string },
  check: (fused: TempDir, staged: TempDir, result: PzResult) => Promise<void>,
  data = ROWS,
): Promise<void> {
  await using fused = await TempDir.create();
  await using staged = await TempDir.create();
  await writeFiles(fused.path, project("auto", pipelines, data));
  await writeFiles(staged.path, project("always", pipelines, data));
  const plan = await runPz(["plan"], { cwd: fused.path });
  assert.match(plan.stdout, /^fused: src_files__t -> .* -> (lake\.o|house\.o)$/m, plan.toString());
  const result = await runPz(JSON_RUN, { cwd: fused.path });
  const expected = await runPz(JSON_RUN, { cwd: staged.path });
  assert.deepEqual(problemsOfStream(result.events), [], result.toString());
  assert.deepEqual(facts(result), facts(expected), result.toString());
  assert.equal(result.code, expected.code);
  assert.deepEqual(
    readReceipt(fused.path).nodes.map(({ name, status, rows, error }) => [name, status, rows, error]),
    readReceipt(staged.path).nodes.map(({ name, status, rows, error }) => [name, status, rows, error]),
  );
  assert.deepEqual(
    readJournal(fused.path).map(({ name }) => name),
    readReceipt(fused.path).nodes.map(({ name }) => name),
  );
  await check(fused, staged, result);
}

const SHAPES: { readonly [title: string]: { readonly [name: string]: string } } = {
  "every column": { p: `${into("parquet")}SELECT * FROM ${SOURCE}` },
  "some rows and columns": { p: `${into("parquet")}SELECT id, note FROM ${SOURCE} WHERE grp = 3 AND note <> 'plain'` },
  "a count": { p: `${into("csv")}SELECT count(*) AS n FROM ${SOURCE}` },
  "groups in order": {
    p: `${
      into("csv")
    }SELECT grp, sum(amount) AS total, max(day) AS last FROM ${SOURCE} GROUP BY grp ORDER BY total DESC`,
  },
  "an order over all": { p: `${into("csv")}SELECT * FROM ${SOURCE} ORDER BY note NULLS FIRST, id DESC` },
  "no rows": { p: `${into("parquet")}SELECT * FROM ${SOURCE} WHERE id < 0` },
  "a CTE read twice and a comment at the end": {
    p: `${
      into("parquet")
    }WITH x AS (SELECT * FROM ${SOURCE})\nSELECT a.id, b.note FROM x a JOIN x b USING (id) -- done`,
  },
  "names that stand twice": {
    p: `${into("parquet")}SELECT id, grp AS id, amount AS "ID", NULL AS nothing FROM ${SOURCE}`,
  },
  "pipelines in a row": {
    a: `SELECT * FROM ${SOURCE} WHERE grp < 5`,
    b: `SELECT grp, amount FROM {{ ref('a') }} WHERE amount > 10`,
    c: `${into("json")}SELECT grp, count(*) AS n FROM {{ ref('b') }} GROUP BY grp ORDER BY grp`,
  },
  "a table of a database": {
    p: `INSERT INTO {{ sink('house', 'o', strategy: 'replace') }}\nSELECT id, amount, day FROM ${SOURCE} WHERE grp = 1`,
  },
};

for (const [title, pipelines] of Object.entries(SHAPES)) {
  Deno.test(`fused and staged give the same rows and tell the same: ${title}`, async () => {
    await runBoth(pipelines, async (fused, staged, result) => {
      assert.equal(result.code, 0, result.toString());
      const written = async (folder: TempDir) =>
        (await listFiles(folder.path)).filter((path) => /^out\/|^data\/house\.duckdb$/.test(path));
      const files = await written(fused);
      assert.equal(files.length, 1);
      assert.deepEqual(files, await written(staged));
      for (const path of files) await assertSameFile(fused.join(path), staged.join(path));
    });
  });
}

/** Texts are the same to the byte, other files hold the same rows. */
async function assertSameFile(actual: string, expected: string): Promise<void> {
  if (/\.(csv|json)$/.test(actual)) return assert.equal(Deno.readTextFileSync(actual), Deno.readTextFileSync(expected));
  using duck = await Duck.open();
  if (actual.endsWith(".parquet")) return await duck.assertSame(`FROM '${actual}'`, `FROM '${expected}'`);
  await duck.run(`ATTACH '${actual}' AS a (READ_ONLY)`);
  await duck.run(`ATTACH '${expected}' AS e (READ_ONLY)`);
  await duck.assertSame("FROM a.o", "FROM e.o");
}

const BAD_LINE = ROWS.with(4200, "4200,0,1.239,2026-01-01,bad");

for (
  const [title, sql] of [
    ["that the pipeline delivers", `SELECT * FROM ${SOURCE}`],
    ["in a column that the pipeline does not read", `SELECT id FROM ${SOURCE}`],
    ["in a row that the pipeline leaves out", `SELECT amount FROM ${SOURCE} WHERE note = 'plain'`],
    ["that the pipeline counts", `SELECT count(*) AS n FROM ${SOURCE}`],
    ["where the pipeline fails too", `SELECT CAST('x' || id AS BIGINT) AS n FROM ${SOURCE}`],
  ] as const
) {
  Deno.test(`a bad value ${title} is the source's failure, with file and line, fused as staged`, async () => {
    await runBoth({ p: `${into("parquet")}${sql}` }, async (fused, _, result) => {
      assert.equal(result.code, 1, result.toString());
      const failed = result.events.find(({ status }) => status === "failed");
      assert.equal(failed?.["name"], "src_files__t");
      assert.match(String(failed?.["errorMessage"]), /^Column "amount" holds "1\.239".* \(data\/t\.csv:4202\)/);
      assert.deepEqual((await listFiles(fused.path)).filter((path) => path.startsWith("out/")), []);
    }, BAD_LINE);
  });
}

Deno.test("a pipeline that fails is told with file, line and column, fused as staged", async () => {
  const sql = `${into("csv")}SELECT\n  id,\n  CAST('x' || id AS BIGINT) AS n\nFROM ${SOURCE} WHERE id = 77`;
  await runBoth({ p: sql }, (_, __, result) => {
    const failed = result.events.find(({ status }) => status === "failed");
    assert.equal(failed?.["name"], "p");
    assert.match(String(failed?.["errorMessage"]), /'x77'.*\(pipelines\/p\.sql:4:3\)/);
    return Promise.resolve();
  });
});

Deno.test("a Parquet file that a pipeline reads in part has all its rows in the receipt", async () => {
  await using folder = await TempDir.create();
  using duck = await Duck.open();
  await Deno.mkdir(folder.join("data"));
  await duck.run(`COPY (SELECT i AS id, i % 10 AS g FROM range(300000) AS r(i)) TO '${folder.join("data/t.parquet")}'`);
  await writeFiles(folder.path, {
    "project.yml": `name: parts\nversion: "1"\n`,
    "connections.yml": "files: { connector: localfiles, root: data }\nlake: { connector: localfiles, root: out }\n",
    "pipelines/p.sql": `${
      into("csv")
    }SELECT id FROM {{ source('files', 't', format: 'parquet') }} WHERE id < 5 ORDER BY id\n`,
  });
  const result = await runPz(JSON_RUN, { cwd: folder.path });
  assert.equal(result.code, 0, result.toString());
  const rows = readReceipt(folder.path).nodes.map(({ name, rows }) => [name, rows]);
  assert.deepEqual(rows, [["src_files__t", 300000], ["p", 5], ["lake.o", 5]]);
  assert.equal(Deno.readTextFileSync(folder.join("out/o/o.csv")), "id\n0\n1\n2\n3\n4\n");
});

Deno.test("plan and plan.json name each fused chain, or the condition that failed", async () => {
  await using folder = await TempDir.create();
  await writeFiles(folder.path, {
    ...project("auto", {
      p: `${into("csv")}SELECT * FROM ${SOURCE}`,
      q: `INSERT INTO {{ sink('lake', 'q', format: 'csv', strategy: 'append') }}\nSELECT * FROM {{ source('files', 'u', format: 'csv') }}`,
    }),
    "data/u.csv": "a\n1\n",
  });
  const lines = (text: string) => text.split("\n").filter((line) => /^(fused|staged): /.test(line));
  const plan = await runPz(["plan"], { cwd: folder.path });
  assert.equal(plan.code, 0, plan.toString());
  assert.deepEqual(lines(plan.stdout), [
    "fused: src_files__t -> p -> lake.o",
    "staged: lake.q, since the strategy is append",
  ]);
  const document: {
    nodes: { id: string; name: string }[];
    chains: { nodes: string[]; fused: boolean; reason: unknown }[];
  } = JSON.parse(Deno.readTextFileSync(folder.join(".pz/target/plan.json")));
  const names = new Map(document.nodes.map(({ id, name }) => [id, name]));
  assert.deepEqual(
    document.chains.map(({ nodes, fused, reason }) => [nodes.map((id) => names.get(id)), fused, reason]),
    [
      [["src_files__t", "p", "lake.o"], true, null],
      [["src_files__u", "q", "lake.q"], false, "the strategy is append"],
    ],
  );
  const narrowed = await runPz(["plan", "q"], { cwd: folder.path });
  assert.deepEqual(lines(narrowed.stdout), ["staged: lake.q, since the strategy is append"]);
  await writeFiles(folder.path, { "project.yml": `name: fused\nversion: "1"\nengine: { staging: always }\n` });
  const always = await runPz(["plan"], { cwd: folder.path });
  assert.deepEqual(lines(always.stdout), [
    "staged: lake.o, since engine.staging is always",
    "staged: lake.q, since engine.staging is always",
  ]);
});

/** A chain whose statement writes for minutes. */
const LONG = {
  "project.yml": `name: long\nversion: "1"\n`,
  "connections.yml": `files:\n  connector: localfiles\n  root: data\nlake:\n  connector: localfiles\n  root: out\n`,
  "data/t.csv": "id\n1\n",
  "pipelines/p.sql": `${
    into("csv")
  }SELECT id, a.range AS a, b.range AS b FROM {{ source('files', 't', format: 'csv') }}, range(300000) a, range(100000) b\n`,
  "out/o/o.csv": "from the last run\n",
};

/** Starts the long chain and waits until its temporary file is there. */
async function startLong(folder: TempDir) {
  await writeFiles(folder.path, LONG);
  const running = startPz(JSON_RUN, { cwd: folder.path });
  assert.ok(await running.until(({ event }) => event === "node_started"));
  while ([...Deno.readDirSync(folder.join("out/o"))].length === 1) {
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  return running;
}

Deno.test("killed while a fused chain writes, the old file stands and nothing is recorded; the next run does it all", async () => {
  await using folder = await TempDir.create();
  await using running = await startLong(folder);

  running.kill("SIGKILL");
  const result = await running.finish();

  assert.equal(result.signal, "SIGKILL");
  assert.equal(Deno.readTextFileSync(folder.join("out/o/o.csv")), LONG["out/o/o.csv"]);
  assert.deepEqual(readJournal(folder.path), []);
  assert.deepEqual(readReceipt(folder.path).nodes, []);
  await writeFiles(folder.path, {
    "pipelines/p.sql": `${into("csv")}SELECT id FROM {{ source('files', 't', format: 'csv') }}\n`,
  });
  const again = await runPz(JSON_RUN, { cwd: folder.path });
  assert.equal(again.code, 0, again.toString());
  assert.equal(Deno.readTextFileSync(folder.join("out/o/o.csv")), "id\n1\n");
});

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  Deno.test(`${signal} interrupts a fused chain: exit code 3, the old file stands, nothing is left`, async () => {
    await using folder = await TempDir.create();
    await using running = await startLong(folder);

    running.kill(signal);
    const result = await running.finish();

    assert.equal(result.code, 3, result.toString());
    assert.deepEqual(problemsOfStream(result.events), []);
    const receipt = readReceipt(folder.path);
    assert.equal(receipt.interrupted, true);
    assert.deepEqual(receipt.nodes.map(({ name, status }) => [name, status]), [
      ["src_files__t", "skipped"],
      ["p", "skipped"],
      ["lake.o", "skipped"],
    ]);
    assert.deepEqual((await listFiles(folder.path)).filter((path) => path.startsWith("out/")), ["out/o/o.csv"]);
    assert.equal(Deno.readTextFileSync(folder.join("out/o/o.csv")), LONG["out/o/o.csv"]);
  });
}
