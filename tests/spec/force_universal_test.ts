import assert from "node:assert/strict";
import { runPz } from "../harness/cli.ts";
import { Duck } from "../harness/duck.ts";
import { type Files, listFiles, TempDir, writeFiles } from "../harness/temp_dir.ts";

const CONNECTIONS = "raw:\n  connector: localfiles\n  root: data\nlake:\n  connector: localfiles\n  root: out\n";
const COLUMNS =
  "id: 'bigint', name: 'varchar', amount: 'decimal(18,4)', at: 'timestamp', day: 'date', seen: 'timestamptz', " +
  "rate: 'double', ok: 'boolean', u: 'uuid'";
const HEADER = "id,name,amount,at,day,seen,rate,ok,u";
/** What goes wrong in readers: delimiters, quotes and line ends in texts, empty against NULL, limits of types. */
const ROWS = [
  `9223372036854775807,"a, ""b""\nc",99999999999999.9999,2024-02-29 23:59:59.999999,0001-01-01,2024-01-01 00:00:00+00,1e300,true,00000000-0000-0000-0000-000000000001`,
  `-9223372036854775808,"",-0.0001,0001-01-01 00:00:00,9999-12-31,1969-12-31 23:59:59.5+00,-0.1,false,`,
  `9007199254740993,,0,,,,,,`,
  `1,"\tπ😀; #'x'\\",1.5,1969-12-31 23:59:59.000001,1970-01-01,,0.30000000000000004,t,`,
  `2, leading and trailing ,1e3,infinity,-infinity,infinity,nan,0,`,
  `3,"CR\r\nLF",.5,2024-01-01,2024-01-01,,inf,1,ffffffff-ffff-ffff-ffff-ffffffffffff`,
];

/** A project that runs with or without `force_universal`. */
async function runBoth(
  files: Files,
  compare: (native: TempDir, forced: TempDir) => Promise<void>,
  check: (plan: string) => void = () => {},
): Promise<void> {
  await using native = await TempDir.create();
  await using forced = await TempDir.create();
  for (const folder of [native, forced]) {
    await writeFiles(folder.path, {
      "project.yml": `name: p\nversion: "1"\nengine:\n  force_universal: ${
        folder === forced
      }\n  preserve_order: true\n`,
      "connections.yml": CONNECTIONS,
      ...files,
    });
    const plan = await runPz(["plan"], { cwd: folder.path });
    assert.equal(plan.code, 0, plan.toString());
    assert.equal(plan.stdout.includes("engine.force_universal is set"), folder === forced, plan.stdout);
    if (folder === forced) check(plan.stdout);
    const run = await runPz(["run", "--all"], { cwd: folder.path });
    assert.equal(run.code, 0, run.toString());
  }
  await compare(native, forced);
}

function pipeline(sink: string, select: string): string {
  return `INSERT INTO {{ sink('lake', 'out', ${sink}) }}\n${select}\n`;
}

for (
  const { what, options, file, text } of [
    { what: "csv", options: "", file: "in.csv", text: `${HEADER}\n${ROWS.join("\n")}\n` },
    {
      what: "csv with CRLF and a byte-order mark",
      options: "",
      file: "in.csv",
      text: `\ufeff${HEADER}\r\n${ROWS.join("\r\n")}`,
    },
    {
      what: "csv with another delimiter",
      options: "delimiter: '|', ",
      file: "in.csv",
      text: [HEADER, ...ROWS].join("\n").replaceAll(/,(?! ")/g, "|"),
    },
    {
      what: "tsv",
      options: "format: 'tsv', ",
      file: "in.tsv",
      text: [HEADER, ...ROWS].join("\n").replaceAll(/,(?! ")/g, "\t"),
    },
  ]
) {
  Deno.test(`${what} is read equally by DuckDB and through the connector's process`, async () => {
    const select = `SELECT * FROM {{ source('raw', 'in', ${options}columns: {${COLUMNS}}) }}`;
    const files = {
      [`data/${file}`]: text,
      "pipelines/p.sql": `INSERT INTO {{ sink('lake', 'out', format: 'csv', strategy: 'replace') }}\n${select}\n`,
    };
    await runBoth(files, async (native, forced) => {
      const written = await Deno.readTextFile(native.join("out/out/out.csv"));
      assert.equal(await Deno.readTextFile(forced.join("out/out/out.csv")), written);
      using duck = await Duck.open();
      const [row] = await duck.rows(
        `SELECT count(*) FROM read_csv('${native.join("out/out/out.csv")}', all_varchar = true)`,
      );
      assert.deepEqual(row, [String(ROWS.length)]);
    });
  });
}

Deno.test("files of a pattern are read equally, with folders that give columns and files that lack some", async () => {
  const files = {
    "data/d/year=2024/k=a%20b/1.csv": "id,v\n1,x\n2,\n",
    "data/d/year=2024/k=%C3%A9/2.csv": 'v,id\n"",3\n',
    "data/d/year=2025/k=__HIVE_DEFAULT_PARTITION__/3.csv": "id\n\n4\n",
    "data/d/year=2025/k=/4.csv": "id,v\n\n5,y,,\n",
    "pipelines/p.sql": pipeline(
      "format: 'csv', strategy: 'replace'",
      "SELECT * FROM {{ source('raw', 'd', path: 'd/*/*/*.csv', columns: {id: 'int', v: 'varchar', year: 'int', k: 'varchar'}) }} ORDER BY ALL",
    ),
  };
  await runBoth(
    files,
    async (native, forced) => {
      const written = await Deno.readTextFile(native.join("out/out/out.csv"));
      assert.equal(written.split("\n").length, 8, written);
      assert.equal(await Deno.readTextFile(forced.join("out/out/out.csv")), written);
    },
    (plan) => assert.match(plan, /raw\.d, read=full, 4 partitions/),
  );
});

Deno.test("a column that may change its values does so equally, whether the contract or the read says so", async () => {
  const entity = (columns: string) => `    read:\n      columns: ${columns}\n`;
  for (
    const read of [
      entity("{ n: { type: int, lossy: allow }, d: date }"),
      `${entity("{ n: int, d: date }")}      lossy: { n: allow }\n`,
    ]
  ) {
    const files = {
      "connections.yml": `${CONNECTIONS.replace("root: data\n", `root: data\n  entities:\n   in:\n${read}`)}`,
      "data/in.csv": 'n,d\n1.5,2024-01-01\n"",\n2,2024-01-02\n',
      "pipelines/p.sql": pipeline("format: 'csv', strategy: 'replace'", "SELECT * FROM {{ source('raw', 'in') }}"),
    };
    await runBoth(files, async (native, forced) => {
      for (const folder of [native, forced]) {
        assert.equal(await Deno.readTextFile(folder.join("out/out/out.csv")), "n,d\n2,2024-01-01\n,\n2,2024-01-02\n");
      }
    });
  }
});

const VALUES = `SELECT * FROM (VALUES
  (1::TINYINT, (-32768)::SMALLINT, 2147483647, 9223372036854775807, 18446744073709551615::UBIGINT,
   '-170141183460469231731687303715884105728'::HUGEINT, 12345678901234567890.123456789::DECIMAL(38,9), 0.1::FLOAT, 0.1::DOUBLE,
   true, DATE '2024-02-29', TIME '23:59:59.9', TIMESTAMP '2024-01-01 00:00:00.000001', TIMESTAMPTZ '0044-03-15 (BC) 01:02:03+00',
   INTERVAL '1 year -2 days 3.5 seconds', 'a,"b"' || chr(10), '\\x00ab\\x22'::BLOB, '00000000-0000-0000-0000-000000000001'::UUID,
   TIMESTAMP_NS '2024-01-01 00:00:00.123456789', '{"a": [1, 2.50]}'::JSON, 'one'::ENUM('one', 'two')),
  (-128, 0, -2147483648, -9223372036854775808, 0, 0, -0.000000001, 16777216, 1e16, false, DATE '-infinity', TIME '00:00:00',
   TIMESTAMP 'infinity', TIMESTAMPTZ '-infinity', INTERVAL '-13 months', '', ''::BLOB, NULL, NULL, '[null]', 'two'),
  (NULL, NULL, NULL, NULL, NULL, NULL, NULL, 3.4028235e38, 5e-324, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
  (0, 0, 0, 0, 0, 0, 0, -1e-5, 123456789012345680, NULL, DATE '0001-12-31 (BC)', NULL, TIMESTAMP '12024-01-01', NULL,
   INTERVAL '0 s', '#', encode('é'), NULL, NULL, NULL, NULL)
) t("tiny", small, i, big, ubig, huge, "de""c", f, d, b, day, clock, ts, tz, span, "näme, x", blob, u, ns, js, e)`;

for (const format of ["csv", "tsv"]) {
  Deno.test(`${format} of every type is written as DuckDB writes it, byte for byte`, async () => {
    const files = { "pipelines/p.sql": pipeline(`format: '${format}', strategy: 'replace'`, VALUES) };
    await runBoth(files, async (native, forced) => {
      const written = await Deno.readTextFile(native.join(`out/out/out.${format}`));
      assert.equal(await Deno.readTextFile(forced.join(`out/out/out.${format}`)), written);
    });
  });
}

Deno.test("JSON lines hold the same values as DuckDB's, nested ones too", async () => {
  const select =
    `SELECT *, [1, NULL, 3] AS l, {'a': TIMESTAMP '2024-01-01', 'b "q"': [{'c': 1.5}]} AS s, MAP {'k': [1.25], '"': NULL} AS m,
    [1.5, 2.5]::DOUBLE[2] AS a FROM (${VALUES})`;
  const files = { "pipelines/p.sql": pipeline("format: 'json', strategy: 'replace'", select) };
  await runBoth(files, async (native, forced) => {
    using duck = await Duck.open();
    const types =
      `{tiny: 'TINYINT', i: 'INTEGER', big: 'BIGINT', ubig: 'UBIGINT', huge: 'HUGEINT', 'de"c': 'DECIMAL(38,9)', f: 'FLOAT',
      d: 'DOUBLE', b: 'BOOLEAN', day: 'DATE', clock: 'TIME', ts: 'TIMESTAMP', tz: 'TIMESTAMPTZ', span: 'INTERVAL', 'näme, x': 'VARCHAR',
      blob: 'VARCHAR', u: 'UUID', ns: 'TIMESTAMP_NS', js: 'JSON', e: 'VARCHAR', l: 'INTEGER[]',
      s: 'STRUCT(a TIMESTAMP, "b ""q""" STRUCT(c DECIMAL(2,1))[])', m: 'MAP(VARCHAR, DECIMAL(3,2)[])', a: 'DOUBLE[]'}`;
    const read = (folder: TempDir) =>
      `FROM read_json('${folder.join("out/out/out.json")}', format = 'newline_delimited', columns = ${types})`;
    await duck.assertSame(read(forced), read(native));
    const text = await Deno.readTextFile(forced.join("out/out/out.json"));
    assert.match(text, /"ts":"2024-01-01T00:00:00\.000001Z"/);
    assert.match(text, /"ns":"2024-01-01T00:00:00\.123456789Z"/);
    assert.match(text, /"day":"2024-02-29"/);
    assert.match(text, /"s":\{"a":"2024-01-01T00:00:00\.000000Z","b \\"q\\"":\[\{"c":1\.5\}\]\}/);
  });
});

Deno.test("a partitioned output is the same tree of files", async () => {
  const select =
    "SELECT * FROM (VALUES (1, 'a b', 2024), (2, NULL, 2024), (3, 'é/ü', 2025), (4, '', 2025), (5, 'a b', 2024)) t(n, k, year)";
  const sink = "format: 'csv', strategy: 'replace', partition_by: ['k', 'year']";
  await runBoth({ "pipelines/p.sql": pipeline(sink, select) }, async (native, forced) => {
    const files = await listFiles(native.join("out"));
    assert.equal(files.length, 4);
    assert.deepEqual(await listFiles(forced.join("out")), files);
    for (const file of files) {
      assert.equal(
        await Deno.readTextFile(forced.join("out", file)),
        await Deno.readTextFile(native.join("out", file)),
      );
    }
  });
});

Deno.test("an output without rows is its header alone", async () => {
  const files = {
    "pipelines/p.sql": pipeline("format: 'csv', strategy: 'replace'", "SELECT 1 AS a, 'x' AS b WHERE false"),
  };
  await runBoth(files, async (native, forced) => {
    assert.equal(await Deno.readTextFile(native.join("out/out/out.csv")), "a,b\n");
    assert.equal(await Deno.readTextFile(forced.join("out/out/out.csv")), "a,b\n");
  });
});

/** A forced project with one pipeline. */
async function forced(files: Files): Promise<TempDir> {
  const folder = await TempDir.create();
  await writeFiles(folder.path, {
    "project.yml": `name: p\nversion: "1"\nengine:\n  force_universal: true\n`,
    "connections.yml": CONNECTIONS,
    ...files,
  });
  return folder;
}

Deno.test("what only DuckDB reads or writes is refused by the plan when it is forced", async () => {
  const source = (options: string) => `SELECT * FROM {{ source('raw', 'in', ${options}) }}`;
  const cases: [string, string, RegExp][] = [
    [
      "format: 'csv', strategy: 'replace'",
      source("format: 'csv'"),
      /PZ0353: raw\.in: Format "csv" needs declared columns/,
    ],
    [
      "format: 'csv', strategy: 'replace'",
      source("format: 'json'"),
      /PZ0361: raw\.in: Format "json" can only be read by DuckDB/,
    ],
    [
      "format: 'csv', strategy: 'replace'",
      source("format: 'parquet'"),
      /PZ0361: raw\.in: Format "parquet" can only be read/,
    ],
    [
      "format: 'parquet', strategy: 'replace'",
      "SELECT 1 AS a",
      /PZ0361: lake\.out: Format "parquet" can only be written/,
    ],
    [
      "format: 'json', layout: 'array', strategy: 'replace'",
      "SELECT 1 AS a",
      /PZ0361: lake\.out: Layout "array" can only/,
    ],
  ];
  for (const [sink, select, message] of cases) {
    await using folder = await forced({
      "data/in.csv": "a\n1\n",
      "data/in.json": '{"a":1}\n',
      "data/in.parquet": "x",
      "pipelines/p.sql": pipeline(sink, select),
    });
    const result = await runPz(["run"], { cwd: folder.path });
    assert.equal(result.code, 2, result.toString());
    assert.match(result.stderr, message);
  }
});

Deno.test("a value that its type can't hold is told with file and line, as DuckDB's reader tells it", async () => {
  const files = {
    "data/in-1.csv": 'id,v\n1,"two\nlines"\n2,x\n',
    "data/in-2.csv": 'id,v\n\n3,"a\r\nb"\n4.5,y\n',
    "pipelines/p.sql": pipeline(
      "format: 'csv', strategy: 'replace'",
      "SELECT * FROM {{ source('raw', 'in', path: 'in-*.csv', columns: {id: 'int', v: 'varchar'}) }}",
    ),
  };
  await using folder = await forced(files);
  const told = (text: string) => /PZ0501: .*\n.*hint: .*/.exec(text)?.[0];
  const first = await runPz(["run"], { cwd: folder.path });
  assert.match(told(first.stdout + first.stderr) ?? "", /Column "id" holds "4\.5".*\(data\/in-2\.csv:5\)/);
  await writeFiles(folder.path, { "project.yml": `name: p\nversion: "1"\n` });
  const native = await runPz(["run"], { cwd: folder.path });
  assert.equal(told(native.stdout + native.stderr), told(first.stdout + first.stderr));
});

Deno.test("a file that is no CSV fails its node with the line, and nothing is written", async () => {
  for (
    const [content, message] of [
      ["id,v\n1,a\n2\n", /A record has 1 fields where the first line has 2 \(.*in\.csv:3\)/],
      ['id,v\n1,"a\n\n', /A quoted text has no end \(.*in\.csv:2\)/],
      [
        new Uint8Array([...new TextEncoder().encode("id,v\n1,é\n2,"), 0xe9, 0x0a]),
        /This is no text in UTF-8 \(.*in\.csv:3\)/,
      ],
    ] as const
  ) {
    await using folder = await forced({
      "data/in.csv": content,
      "pipelines/p.sql": pipeline(
        "format: 'csv', strategy: 'replace'",
        "SELECT * FROM {{ source('raw', 'in', columns: {id: 'varchar', v: 'varchar'}) }}",
      ),
    });
    const result = await runPz(["run"], { cwd: folder.path });
    assert.equal(result.code, 1, result.toString());
    assert.match(result.stdout + result.stderr, message);
    assert.deepEqual(await listFiles(folder.path).then((files) => files.filter((file) => file.startsWith("out"))), []);
  }
});

Deno.test("files beside the root are granted by name, and a write that fails leaves nothing", async () => {
  await using elsewhere = await TempDir.create();
  await writeFiles(elsewhere.path, { "x.csv": "a\n1\n" });
  await using folder = await forced({
    "pipelines/p.sql": pipeline(
      `format: 'csv', strategy: 'replace', path: '${elsewhere.join("made/by/pz")}'`,
      `SELECT a, [a] AS l FROM {{ source('raw', 'x', path: '${elsewhere.join("x.csv")}', columns: {a: 'int'}) }}`,
    ),
  });
  const plan = await runPz(["plan"], { cwd: folder.path });
  assert.ok(plan.stdout.includes(`${elsewhere.join("x.csv")}`), plan.stdout);
  const refused = await runPz(["run"], { cwd: folder.path });
  assert.equal(refused.code, 1, refused.toString());
  assert.match(refused.stdout + refused.stderr, /Column "l" holds values of the kind list/);
  assert.deepEqual(await Array.fromAsync(Deno.readDir(elsewhere.path), ({ name }) => name), ["x.csv"]);

  await writeFiles(folder.path, {
    "pipelines/p.sql": pipeline(
      `format: 'csv', strategy: 'append', path: '${elsewhere.join("made/by/pz")}'`,
      `SELECT a FROM {{ source('raw', 'x', path: '${elsewhere.join("x.csv")}', columns: {a: 'int'}) }}`,
    ),
  });
  for (let runs = 1; runs <= 2; runs++) {
    const result = await runPz(["run"], { cwd: folder.path });
    assert.equal(result.code, 0, result.toString());
    assert.equal((await listFiles(elsewhere.join("made/by/pz"))).length, runs);
  }
});

Deno.test("JSON lines in folders go through the process, since DuckDB does not write them", async () => {
  await using folder = await TempDir.create();
  await writeFiles(folder.path, {
    "project.yml": `name: p\nversion: "1"\n`,
    "connections.yml": CONNECTIONS,
    "pipelines/p.sql": pipeline(
      "format: 'json', strategy: 'replace', partition_by: 'k'",
      "SELECT * FROM (VALUES (1, 'a'), (2, NULL)) t(n, k)",
    ),
  });
  for (let runs = 0; runs < 2; runs++) {
    const result = await runPz(["run"], { cwd: folder.path });
    assert.equal(result.code, 0, result.toString());
  }
  const plan = await runPz(["plan"], { cwd: folder.path });
  assert.match(
    plan.stdout,
    /arrow stream: no native path \(localfiles, lake\.out, strategy=replace, replaces the whole folder\)/,
  );
  assert.deepEqual(await listFiles(folder.join("out")), [
    "out/k=__HIVE_DEFAULT_PARTITION__/out-0.json",
    "out/k=a/out-0.json",
  ]);
  assert.equal(await Deno.readTextFile(folder.join("out/out/k=a/out-0.json")), '{"n":1}\n');
});
