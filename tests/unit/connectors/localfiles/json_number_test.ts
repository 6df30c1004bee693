import assert from "node:assert/strict";
import { writeFiles } from "../../../harness/temp_dir.ts";
import { Bench } from "../bench.ts";

const READ = { format: "json" };

for (
  const [type, number] of [
    ["decimal(18,2)", "1234567890123456.78"],
    ["decimal(18,2)", "9007199254740993.01"],
    ["decimal(18,3)", "123456789012345.678"],
    ["decimal(38,20)", "0.12345678901234567"],
    ["decimal(38,20)", "1.23456789012345678"],
    ["bigint", "9007199254740993.0"],
    ["varchar", "9007199254740993.01"],
  ] as const
) {
  Deno.test(`a JSON number of more digits than a double holds is refused as ${type}: ${number}`, async () => {
    await using bench = await Bench.open();
    await writeFiles(bench.dir.path, { "x.json": `{"a":1}\n{"a":${number}}\n` });
    const scan = bench.scan("x", READ, { a: type });
    await assert.rejects(bench.read(scan), { message: /^Column "a".*holds? '.*too many digits/ });
    if (type === "varchar") return;
    const found = await scan.diagnose?.((sql) => bench.connection.rows(sql));
    assert.equal(found?.line, 2);
    assert.match(found?.message ?? "", /too many digits for a JSON number: quote it/);
  });
}

Deno.test("JSON numbers that a double holds, whole ones of any length and numbers in strings stay exact", async () => {
  await using bench = await Bench.open();
  const text = '{"a":1234567890123.45,"b":9223372036854775807,"c":"9007199254740993.01","d":0.30000000000000004}\n';
  await writeFiles(bench.dir.path, { "x.json": text });
  const scan = bench.scan("x", READ, { a: "decimal(18,2)", b: "bigint", c: "decimal(18,2)", d: "varchar" });
  assert.deepEqual(await bench.read(scan), [[
    "1234567890123.45",
    "9223372036854775807",
    "9007199254740993.01",
    "0.30000000000000004",
  ]]);
  await writeFiles(bench.dir.path, {
    "y.json": '{"a":123456789012345.0,"b":12345678901234567890123456789012345678}\n',
  });
  assert.deepEqual(await bench.read(bench.scan("y", READ, { a: "bigint", b: "decimal(38,0)" })), [[
    "123456789012345",
    "12345678901234567890123456789012345678",
  ]]);
});

Deno.test("lossy: allow reads a JSON number as the double that it becomes", async () => {
  await using bench = await Bench.open();
  await writeFiles(bench.dir.path, { "x.json": '{"a":9007199254740993.01}\n' });
  assert.deepEqual(await bench.read(bench.scan("x", { ...READ, lossy: "allow" }, { a: "decimal(18,2)" })), [[
    "9007199254740994.00",
  ]]);
});
