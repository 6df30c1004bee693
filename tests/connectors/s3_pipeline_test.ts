import assert from "node:assert/strict";
import { Duck } from "../harness/duck.ts";
import { openStores } from "../harness/s3_store.ts";
import { assertNothingLeft, objectRows, pzIn, runAll, storeProject } from "./s3_support.ts";
import { CASES } from "./types_matrix_cases.ts";

const stores = await openStores();
const CSV = "id,name,amount\n2,b,2.50\n1,a,1.25\n";

for (const store of stores) {
  const test = (title: string, work: () => Promise<void>) => Deno.test(`${title} (${store.name})`, work);

  test("a csv object becomes a Parquet object, and the plan says how", async () => {
    await store.put("thin/orders.csv", CSV);
    await using folder = await storeProject(store, "thin", {
      "pipelines/copy.sql": `INSERT INTO {{ sink('store', 'out', format: 'parquet', strategy: 'replace') }}\n` +
        `SELECT id, upper(name) AS name, amount FROM {{ source('store', 'orders', format: 'csv') }} ORDER BY id\n`,
    });
    const plan = await pzIn(folder, store, "plan");
    assert.equal(plan.code, 0, String(plan));
    assert.match(plan.stdout, /staged_scan +src_store__orders +staged: read_csv \(s3, store\.orders, read=full\)/);
    assert.match(plan.stdout, /staged_copy +store\.out +staged: copy \(s3, store\.out, strategy=replace\)/);
    assert.match(plan.stdout, /grant: store \(s3\) net 127\.0\.0\.1:\d+; read and write its own folder of each run/);
    await runAll(folder, store);
    assert.deepEqual(await store.keys("thin/"), ["thin/orders.csv", "thin/out/out.parquet"]);
    assert.deepEqual(await objectRows(store, "thin/out/out.parquet"), [["1", "A", "1.25"], ["2", "B", "2.5"]]);
    assert.equal((await store.headers("thin/out/out.parquet")).get("content-type"), "application/vnd.apache.parquet");
    await assertNothingLeft(folder, store);
  });

  test("every format goes out and comes in again, with its types where they are declared", async () => {
    const select = "SELECT range AS id, 'tëxt, \"' || range AS name, (range * 1.25)::decimal(9,2) AS amount, " +
      "DATE '2024-02-29' AS day, NULL::bigint AS nothing FROM range(1, 4)";
    const columns =
      "columns: { id: 'bigint', name: 'varchar', amount: 'decimal(9,2)', day: 'date', nothing: 'bigint' }";
    for (const format of ["csv", "tsv", "json", "parquet"]) {
      await using out = await storeProject(store, "formats", {
        "pipelines/out.sql":
          `INSERT INTO {{ sink('store', 'x', format: '${format}', strategy: 'replace') }}\n${select}\n`,
      });
      await runAll(out, store);
      await using back = await storeProject(store, "formats", {
        "pipelines/in.sql": `INSERT INTO {{ sink('files', 'back', format: 'csv', strategy: 'replace') }}\n` +
          `SELECT *, typeof(amount) AS t FROM {{ source('store', 'x', path: 'x/x.${format}', format: '${format}', ` +
          `${columns}) }} ORDER BY id\n`,
      });
      await runAll(back, store);
      assert.equal(
        await Deno.readTextFile(back.join("data", "back", "back.csv")),
        `id,name,amount,day,nothing,t\n` +
          [1, 2, 3].map((id) => `${id},"tëxt, ""${id}",${(id * 1.25).toFixed(2)},2024-02-29,,"DECIMAL(9,2)"\n`).join(
            "",
          ),
        format,
      );
      await assertNothingLeft(back, store);
    }
  });

  test("many objects of a pattern are one dataset, with columns from the parts of their keys", async () => {
    for (const [year, rows] of [["2023", "1,a\n2,b\n"], ["2024", "3,c\n"], ["2025", ""]]) {
      await store.put(`many/events/year=${year}/part.csv`, `id,name\n${rows}`);
    }
    await using folder = await storeProject(store, "many", {
      "pipelines/p.sql": `INSERT INTO {{ sink('files', 'out', format: 'csv', strategy: 'replace') }}\n` +
        `SELECT * FROM {{ source('store', 'events', path: 'events/**/*.csv', format: 'csv', ` +
        `columns: { id: 'int', name: 'varchar', year: 'int' }) }} ORDER BY id\n`,
    });
    await runAll(folder, store);
    assert.equal(
      await Deno.readTextFile(folder.join("data", "out", "out.csv")),
      "id,name,year\n1,a,2023\n2,b,2023\n3,c,2024\n",
    );
    await assertNothingLeft(folder, store);
  });

  test("no rows are an object all the same, and come back as none", async () => {
    for (const format of ["csv", "parquet", "json"]) {
      await using folder = await storeProject(store, "zero", {
        "pipelines/p.sql": `INSERT INTO {{ sink('store', 'x', format: '${format}', strategy: 'replace') }}\n` +
          `SELECT 1 AS id, 'x' AS name WHERE false\n`,
      });
      await runAll(folder, store);
      await using back = await storeProject(store, "zero", {
        "pipelines/p.sql": `INSERT INTO {{ sink('files', 'out', format: 'csv', strategy: 'replace') }}\n` +
          `SELECT count(*) AS n FROM {{ source('store', 'x', path: 'x/x.${format}', format: '${format}', ` +
          `columns: { id: 'int', name: 'varchar' }) }}\n`,
      });
      await runAll(back, store);
      assert.equal(await Deno.readTextFile(back.join("data", "out", "out.csv")), "n\n0\n", format);
    }
  });

  test("an append adds an object with every run, a replace leaves one", async () => {
    await using folder = await storeProject(store, "twice", {
      "pipelines/a.sql": `INSERT INTO {{ sink('store', 'a', format: 'csv') }}\nSELECT 1 AS id\n`,
      "pipelines/r.sql":
        `INSERT INTO {{ sink('store', 'r', path: 'r/name.csv', format: 'csv', strategy: 'replace') }}\n` +
        `SELECT 1 AS id\n`,
    });
    await runAll(folder, store);
    await runAll(folder, store);
    const keys = await store.keys("twice/");
    assert.deepEqual(keys.slice(-1), ["twice/r/name.csv"]);
    assert.equal(keys.length, 3);
    assert.match(keys[0] ?? "", /^twice\/a\/a-[0-9a-f]{8}-\d{8}T\d{9}Z-[0-9a-f]{4}\.csv$/);
  });

  test("partition_by makes an object for each value, and a replace leaves nothing else below", async () => {
    const pipeline = (from: number, to: number) => ({
      "pipelines/p.sql":
        `INSERT INTO {{ sink('store', 'parts', format: 'parquet', partition_by: ['k'], strategy: 'replace') }}\n` +
        `SELECT range AS id, 'k ' || range % 3 AS k FROM range(${from}, ${to})\n`,
    });
    await using folder = await storeProject(store, "parts", pipeline(0, 10));
    await store.put("parts/parts/of-others.txt", "x");
    const plan = await pzIn(folder, store, "plan");
    assert.match(plan.stdout, /replaces the whole folder/);
    await runAll(folder, store);
    assert.deepEqual(
      await store.keys("parts/"),
      [0, 1, 2].map((k) => `parts/parts/k=k%20${k}/parts-0.parquet`),
    );
    await using back = await storeProject(store, "parts", {
      "pipelines/p.sql": `INSERT INTO {{ sink('files', 'out', format: 'csv', strategy: 'replace') }}\n` +
        `SELECT k, count(*) AS n, sum(id) AS s FROM {{ source('store', 'parts', path: 'parts/**') }} GROUP BY k ORDER BY k\n`,
    });
    await runAll(back, store);
    assert.equal(await Deno.readTextFile(back.join("data", "out", "out.csv")), "k,n,s\nk 0,4,18\nk 1,3,12\nk 2,3,15\n");
    await using fewer = await storeProject(store, "parts", pipeline(0, 2));
    await runAll(fewer, store);
    assert.deepEqual((await store.keys("parts/")).length, 2);
  });

  test("a value that its type can't hold is told with its object, line and column; other mistakes with a next step", async () => {
    await store.put("wrong/orders.csv", "id,amount\n1,1.5\n2,x\n");
    await store.put("wrong/none.csv", "");
    const said = async (source: string) => {
      await using folder = await storeProject(store, "wrong", {
        "pipelines/p.sql":
          `INSERT INTO {{ sink('files', 'out', format: 'csv') }}\nSELECT * FROM {{ source('store', ${source}) }}\n`,
      });
      const result = await pzIn(folder, store, "run", "--all");
      assert.equal(result.code, 1, String(result));
      await assertNothingLeft(folder, store);
      return result.stdout + result.stderr;
    };
    const bucket = `s3://${String(store.config["endpoint"]).replace("http://", "")}/${store.bucket}/wrong`;
    const value = await said(`'orders', format: 'csv', columns: { id: 'int', amount: 'double' }`);
    assert.ok(value.includes(`Column "amount" holds "x", which is no DOUBLE (${bucket}/orders.csv:3)`), value);
    const column = await said(`'orders', format: 'csv', columns: { id: 'int', total: 'double' }`);
    assert.ok(column.includes(`Column "total" is not in the header of "${bucket}/orders.csv"`), column);
    assert.match(await said(`'orders', path: 'orders.csv'`), /This is no Parquet file/);
    assert.ok((await said(`'none', format: 'csv'`)).includes(`"${bucket}/none.csv" is empty`));
    assert.match(await said(`'x', path: 'x/*.csv', format: 'csv'`), /No object matches .*wrong\/x\/\*\.csv/);
    assert.match(await said(`'x', format: 'csv'`), /x\.csv failed: there is no such object or bucket/);
  });

  test("the plan refuses what can't be, at its place", async () => {
    const refused = async (call: string, more: { entities?: string; settings?: string } = {}) => {
      await using folder = await storeProject(store, "refused", { "pipelines/p.sql": call }, more);
      const result = await pzIn(folder, store, "plan");
      assert.equal(result.code, 2, String(result));
      return result.stderr;
    };
    const sink = (options: string) => refused(`INSERT INTO {{ sink('store', 'x', ${options}) }}\nSELECT 1 AS id\n`);
    const source = (options: string) =>
      refused(`INSERT INTO {{ sink('files', 'x') }}\nSELECT * FROM {{ source('store', 'x', ${options}) }}\n`);
    assert.match(await sink(`strategy: 'replace'`), /PZ0361: .*needs the option "format"/);
    assert.match(await sink(`format: 'csv', path: 'a/*.csv'`), /PZ0301: .*a write takes no wildcards/);
    assert.match(await sink(`format: 'csv', path: '../x'`), /PZ0365/);
    assert.match(await sink(`format: 'json', partition_by: ['id']`), /PZ0361: .*"partition_by"/);
    assert.match(await sink(`format: 'csv', strategy: 'merge', keys: ['id']`), /PZ0324/);
    assert.match(await source(`bucket: 'another-bucket'`), /PZ0365: .*leads out of the connection's root/);
    assert.match(await source(`path: 's3://b/x.csv'`), /PZ0301: .*is no key of an object/);
    assert.match(await source(`format: 'csv', sheet: 'a'`), /PZ0362/);
    assert.match(await source(`files_per_partition: 2`), /PZ0312/);
    const forced = await refused(
      `INSERT INTO {{ sink('files', 'x') }}\nSELECT * FROM {{ source('store', 'x') }}\n`,
      { settings: "engine: { force_universal: true }\n" },
    );
    assert.match(forced, /PZ0312/);
  });

  test("validate --connect reaches the bucket, and says what stands against it", async () => {
    const said = async (prefix: string, change: (yaml: string) => string = (yaml) => yaml) => {
      await using folder = await storeProject(store, prefix, {
        "pipelines/p.sql":
          `INSERT INTO {{ sink('files', 'x') }}\nSELECT * FROM {{ source('store', 'x', format: 'csv') }}\n`,
      });
      const file = folder.join("connections.yml");
      await Deno.writeTextFile(file, change(await Deno.readTextFile(file)));
      return await pzIn(folder, store, "validate", "--connect");
    };
    const good = await said("connect");
    assert.equal(good.code, 0, String(good));
    const bad = await said("connect", (yaml) => yaml.replace(store.bucket, `${store.bucket}-x`));
    assert.equal(bad.code, 2, String(bad));
    assert.match(bad.stderr, /PZ0330: .*NoSuchBucket/);
  });

  test("every type is in an object as it is in a file of this machine, and comes back so", async () => {
    const cases = CASES.filter(({ notIn, values }) =>
      notIn?.includes("parquet") !== true && !(values[0]?.duck ?? "").includes("\0")
    );
    const columns = cases.map(({ name, duck, values }) =>
      `CAST(${literal(values[0]?.duck ?? "")} AS ${duck}) AS "c_${name}"`
    );
    const outputs = ["store", "files"].map((connection) =>
      `{{ sink('${connection}', 't', format: 'parquet', strategy: 'replace') }}`
    );
    await using folder = await storeProject(store, "types", {
      "pipelines/p.sql": `INSERT INTO [${outputs.join(", ")}]\nSELECT ${columns.join(",\n")}\n`,
    });
    await runAll(folder, store);
    const file = folder.join("data", "t", "t.parquet");
    const object = folder.join("object.parquet");
    await Deno.writeFile(object, await store.get("types/t/t.parquet"));
    using duck = await Duck.open();
    await duck.assertSame(`FROM '${object}'`, `FROM '${file}'`);
    await using back = await storeProject(store, "types", {
      "pipelines/p.sql": `INSERT INTO {{ sink('files', 'back', format: 'parquet', strategy: 'replace') }}\n` +
        `SELECT * FROM {{ source('store', 't', path: 't/*.parquet') }}\n`,
    });
    await runAll(back, store);
    await duck.assertSame(`FROM '${back.join("data", "back", "back.parquet")}'`, `FROM '${file}'`);
    assert.ok(cases.length > 20);
  });
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
