import assert from "node:assert/strict";
import { writeFiles } from "../../../harness/temp_dir.ts";
import { Bench, texts } from "../bench.ts";

const UNIX = { ignore: Deno.build.os === "windows" };

Deno.test("a pipe where a data file is expected is refused without being opened", UNIX, async () => {
  await using bench = await Bench.open();
  const pipe = bench.dir.join("x.csv");
  assert.ok((await new Deno.Command("mkfifo", { args: [pipe] }).output()).success);
  const said = `PZ0353 "${pipe}" is not a regular file ` +
    "(pz needs a file on a disk: a pipe, a socket, a device and the like are none)";
  assert.deepEqual(texts(bench.tryScan("x")), [said]);
  assert.deepEqual(texts(bench.tryScan("x", {}, { a: "int" })), [said]);
  assert.deepEqual(texts(bench.tryCopy("o", { format: "csv", path: "x.csv" })), [said]);
  assert.deepEqual(texts(bench.tryScan("x", { path: "*.csv" })), [
    `PZ0353 No file matches "${bench.dir.join("*.csv")}" for entity "x"`,
  ]);
});

Deno.test("devices and the insides of the system are no data files, and the runtime's words stay out", {
  ignore: Deno.build.os !== "linux",
}, async () => {
  await using bench = await Bench.open();
  await Deno.symlink("/dev/stdin", bench.dir.join("in.csv"));
  for (const path of ["/dev/null", "/dev/stdin", "/proc/self/environ", "in.csv"]) {
    for (const problems of [bench.tryScan("x", { path }), bench.tryScan("x", { path }, { a: "int" })]) {
      assert.match(texts(problems).join(), /^PZ0353 "[^"]*" is not a regular file/, path);
    }
  }
});

Deno.test("a link to nothing and a link to itself are named with the next step", UNIX, async () => {
  await using bench = await Bench.open();
  await Deno.symlink("gone.csv", bench.dir.join("a.csv"));
  await Deno.symlink("b.csv", bench.dir.join("b.csv"));
  const config = { root: "." };
  assert.deepEqual(texts(bench.tryScan("a", {}, undefined, config)), [
    `PZ0353 "${bench.dir.join("a.csv")}" is a link to "gone.csv", where there is nothing ` +
    "(put the file there, or correct the link)",
  ]);
  assert.deepEqual(texts(bench.tryScan("b", {}, undefined, config)), [
    `PZ0353 "${bench.dir.join("b.csv")}" is a link that leads back to itself (put a file there, or a link to one)`,
  ]);
  assert.equal(bench.tryScan("x", { path: "*.csv" }, undefined, config)[0]?.code, "PZ0353");
});

Deno.test("an empty file is named, also among others that a pattern matches", async () => {
  await using bench = await Bench.open();
  await writeFiles(bench.dir.path, { "d/1.csv": "a\n1\n", "d/2.csv": "", "e.parquet": "", "f.json": "" });
  const said = `PZ0353 "${bench.dir.join("d/2.csv")}" is empty: there is no header in it ` +
    "(write the file again, or take it away)";
  assert.deepEqual(texts(bench.tryScan("x", { path: "d/*.csv" })), [said]);
  assert.deepEqual(texts(bench.tryScan("x", { path: "d/*.csv" }, { a: "int" })), [said]);
  assert.match(texts(bench.tryScan("e", { format: "parquet" })).join(), /e\.parquet" is empty/);
  assert.deepEqual(await bench.read(bench.scan("f", { format: "json" }, { a: "int" })), []);
});

Deno.test(
  "letters of a pattern in a folder's name are letters, and so are those of a file that is there",
  UNIX,
  async () => {
    await using bench = await Bench.open("localfiles", ["p[[]1][*][?]"]);
    const folder = "p[1]*?";
    await writeFiles(bench.dir.path, {
      [`${folder}/a.csv`]: "v\n1\n",
      [`${folder}/b[1].csv`]: "v\n2\n",
      [`${folder}/b1.csv`]: "v\n3\n",
      "p1xy/a.csv": "v\n9\n",
      "p1xy/b1.csv": "v\n9\n",
    });
    for (const columns of [undefined, { v: "int" }]) {
      for (
        const [path, root, expected] of [
          ["a.csv", folder, ["1"]],
          ["b[1].csv", folder, ["2"]],
          ["*.csv", folder, ["1", "2", "3"]],
          ["b[0-9].csv", folder, ["3"]],
          [`${folder}/?.csv`, ".", ["1"]],
          [bench.dir.join(folder, "a.*"), ".", ["1"]],
        ] as const
      ) {
        const scan = bench.scan("x", { path }, columns, { root });
        assert.deepEqual((await bench.read(scan)).flat(), expected, `${root} ${path}`);
      }
    }
    await bench.write(bench.copy("o", { format: "csv" }, { config: { root: folder } }), "(SELECT 5 AS v)");
    assert.deepEqual(await bench.read(bench.scan("o", { path: "o/o.csv" }, { v: "int" }, { root: folder })), [["5"]]);
  },
);

Deno.test("two nodes that write one file have temporary names of their own", async () => {
  await using bench = await Bench.open();
  const names = ["0123456789", "abcdef0123"].map((node) => {
    const attempt = { node, run: "r", ordinal: 1 };
    return bench.copy("o", {}, { attempt }).moves[0]?.from;
  });
  assert.equal(new Set(names).size, 2);
});
