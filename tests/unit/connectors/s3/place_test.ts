import assert from "node:assert/strict";
import fc from "fast-check";
import { localPath } from "../../../../src/connectors/builtin/s3/fetch_files.ts";
import { baseOf, decodeKey, keyMatcher } from "../../../../src/connectors/builtin/s3/listing.ts";
import { readStaged } from "../../../../src/connectors/builtin/s3/staged_read.ts";
import { writeStaged } from "../../../../src/connectors/builtin/s3/staged_write.ts";
import type { ConfigMap, OutputSpec } from "../../../../src/connectors/mod.ts";

const CONFIG = { access_key: "AK", secret_key: "sk", root: "bucket/base" };

function read(options: ConfigMap, config: ConfigMap = CONFIG) {
  return readStaged({ connection: "c", entity: "orders", config, options });
}

function write(options: ConfigMap, mode: OutputSpec["mode"] = "replace", entity = "orders") {
  return writeStaged({
    connection: "c",
    entity,
    config: CONFIG,
    options: { format: "csv", ...options },
    mode,
    schemaPolicy: "fail_on_change",
    keys: [],
    attempt: { node: "0123456789", run: "r1", ordinal: 2 },
  });
}

function value<T>(outcome: { readonly ok: true; readonly value: T } | { readonly ok: false }): T {
  assert.ok(outcome.ok, JSON.stringify(outcome));
  return outcome.value;
}

Deno.test("a read means keys below the root, of the bucket that is named", () => {
  assert.deepEqual(value(read({})).options, { bucket: "bucket", prefix: "base/", path: "orders.parquet" });
  assert.equal(value(read({})).mechanism, "read_parquet");
  assert.equal(value(read({ format: "tsv" })).mechanism, "read_csv");
  assert.deepEqual(value(read({ format: "csv", path: "a/*.csv" })).options["path"], "a/*.csv");
  const bare = { access_key: "AK", secret_key: "sk" };
  const named = value(read({ bucket: "other" }, bare));
  assert.deepEqual(named.options, { bucket: "other", prefix: "", path: "orders.parquet" });
  assert.deepEqual(named.net, ["s3.us-east-1.amazonaws.com:443", "other.s3.us-east-1.amazonaws.com:443"]);
  assert.deepEqual(value(read({ bucket: "bucket" })).options["prefix"], "base/");
  for (
    const [options, code] of [
      [{ bucket: "other" }, "PZ0365"],
      [{ bucket: "x y" }, "PZ0301"],
      [{ path: "../x" }, "PZ0365"],
      [{ path: "/x" }, "PZ0301"],
      [{ path: "" }, "PZ0301"],
      [{ path: "x".repeat(1025) }, "PZ0301"],
      [{ format: "xlsx" }, "PZ0361"],
      [{ lossy: "allow" }, "PZ0301"],
    ] as const
  ) {
    const outcome = read(options);
    assert.deepEqual(
      outcome.ok ? [] : outcome.problems.map((problem) => problem.code),
      [code],
      JSON.stringify(options),
    );
  }
  assert.ok(!read({}, bare).ok);
});

Deno.test("a write names one object, or what stands below a prefix; a repeated append names its own again", () => {
  const key = (...args: Parameters<typeof write>) => value(write(...args)).options["key"];
  assert.equal(key({}), "base/orders/orders.csv");
  assert.equal(key({ path: "a/b" }), "base/a/b/orders.csv");
  assert.equal(key({ path: "a/b.csv" }), "base/a/b.csv");
  assert.equal(key({ path: "a/b.CSV" }), "base/a/b.csv");
  assert.equal(key({ path: "" }), "base/orders.csv");
  assert.equal(key({ path: ".csv" }), "base/.csv/orders.csv");
  assert.equal(key({}, "replace", "deep/orders"), "base/deep/orders/orders.csv");
  assert.equal(key({}, "append"), "base/orders/orders-01234567-r1.csv");
  assert.equal(value(write({})).target?.path, "s3://bucket/base/orders/orders.csv");
  const folder = value(write({ partition_by: ["k"] }));
  assert.deepEqual([folder.options["prefix"], folder.options["clear"]], ["base/orders/", true]);
  assert.deepEqual(folder.target, { path: "s3://bucket/base/orders", wholeFolder: true });
  const added = value(write({ partition_by: "k" }, "append")).options;
  assert.deepEqual([added["prefix"], added["clear"]], ["base/orders/orders-01234567-r1/", false]);
  const whole = write({ partition_by: "k", path: "" });
  assert.ok(!whole.ok && whole.problems[0]?.code === "PZ0353");
});

Deno.test("a pattern's parts stay within the parts of a key", () => {
  const matches = (pattern: string, key: string) => keyMatcher(pattern)(key);
  const yes = [
    ["*.csv", "a.csv"],
    ["a/*/c", "a/b/c"],
    ["**", "a/b/c"],
    ["a/**/z", "a/z"],
    ["a/**/z", "a/b/c/z"],
    [
      "[a-c]?",
      "bx",
    ],
    ["[!a]", "b"],
    [".*", ".x"],
    ["a.b", "a.b"],
  ];
  const no = [["*.csv", "a/b.csv"], ["*", ".x"], ["**", ".x/a"], ["a/*", "a/"], ["a/**", "a/b/"], ["a.b", "axb"], [
    "*",
    "a/b",
  ], ["a/**", "a"]];
  for (const [pattern = "", key = ""] of yes) assert.ok(matches(pattern, key), `${pattern} ${key}`);
  for (const [pattern = "", key = ""] of no) assert.ok(!matches(pattern, key), `${pattern} ${key}`);
  assert.equal(baseOf({ bucket: "b", prefix: "p/", path: "a/b=1*/c" }), "p/a/");
  assert.equal(baseOf({ bucket: "b", prefix: "p/", path: "a/b" }), "p/a/");
  assert.equal(baseOf({ bucket: "b", prefix: "", path: "*" }), "");
});

Deno.test("a fetched file lies inside of its folder, whatever its key, and unlike any other", () => {
  assert.equal(localPath(7, "x/a=1/b=a b/part.csv.gz"), "0000007/a=1/b=a b/object.csv.gz");
  assert.equal(localPath(0, "../../..=x/.."), "0000000/..=x/object");
  fc.assert(fc.property(fc.string({ unit: "grapheme" }), fc.nat(), (key, index) => {
    const path = localPath(index, key);
    assert.match(path, /^\d{7,}\/([^/]+\/)*object[.A-Za-z0-9]*$/);
    assert.ok(!path.split("/").some((part) => part === "." || part === ".." || /[\0\\*?[\]]/.test(part)), path);
  }));
});

Deno.test("a key is read as a listing writes it", () => {
  assert.equal(decodeKey("a+b%2Bc%20%C3%A9", true), "a b+c é");
  assert.equal(decodeKey("a+b%2B", false), "a+b%2B");
  assert.equal(decodeKey("%E0%A4", true), "%E0%A4");
});
