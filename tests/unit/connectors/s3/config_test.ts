import assert from "node:assert/strict";
import { readConfig } from "../../../../src/connectors/builtin/s3/config.ts";
import { nameOf, netTargets, urlOf } from "../../../../src/connectors/builtin/s3/endpoint.ts";
import { s3 } from "../../../../src/connectors/builtin/s3/description.ts";
import type { ConfigMap } from "../../../../src/connectors/mod.ts";

const KEYS = { access_key: "AK", secret_key: "very secret" };
const HERE = { projectRoot: "/" };

function url(config: ConfigMap, bucket: string, key?: string): string | undefined {
  const { config: checked, problems } = readConfig({ ...KEYS, ...config });
  assert.deepEqual(problems, []);
  assert.ok(checked !== undefined);
  return urlOf(checked.endpoint, bucket, key)?.href;
}

function problems(config: ConfigMap): string[] {
  return readConfig({ ...KEYS, ...config }).problems.map(({ code, setting, message }) =>
    `${code} ${setting} ${message}`
  );
}

Deno.test("a bucket stands where the endpoint can be asked for it", () => {
  assert.equal(url({}, "b-1", "k/x y.csv"), "https://b-1.s3.us-east-1.amazonaws.com/k/x%20y.csv");
  assert.equal(url({ region: "eu-west-3" }, "b", ""), "https://b.s3.eu-west-3.amazonaws.com/");
  assert.equal(url({ region: "cn-north-1" }, "b"), "https://b.s3.cn-north-1.amazonaws.com.cn/");
  assert.equal(url({ url_style: "path" }, "b", "k"), "https://s3.us-east-1.amazonaws.com/b/k");
  assert.equal(url({ endpoint: "store.example.com" }, "b", "k"), "https://b.store.example.com/k");
  // No certificate holds for a name with a dot below the endpoint's; upper-case letters are no host.
  assert.equal(url({ endpoint: "store.example.com" }, "b.c", "k"), "https://store.example.com/b.c/k");
  assert.equal(url({ endpoint: "http://store.example.com" }, "b.c", "k"), "http://b.c.store.example.com/k");
  assert.equal(url({ endpoint: "store.example.com" }, "Big", "k"), "https://store.example.com/Big/k");
  for (const endpoint of ["http://127.0.0.1:9000", "http://minio:9000", "http://[::1]:9000/"]) {
    assert.equal(url({ endpoint }, "b", "k"), `${endpoint.replace(/\/$/, "")}/b/k`);
  }
  assert.equal(url({ endpoint: "localhost:9000", use_ssl: "false" }, "b", "k"), "http://localhost:9000/b/k");
});

Deno.test("a key stands in a URL whatever its letters, but for parts that no URL keeps", () => {
  assert.equal(
    url({ url_style: "path" }, "b", "a//b/+?#%&é'()*!~/😀"),
    "https://s3.us-east-1.amazonaws.com/b/a//b/%2B%3F%23%25%26%C3%A9%27%28%29%2A%21~/%F0%9F%98%80",
  );
  for (const key of ["a/../b", "./a", "a/.", ".."]) assert.equal(url({}, "b", key), undefined);
  assert.notEqual(url({}, "b", "..a/.b/c."), undefined);
});

Deno.test("the grant names the hosts that are asked, and nothing else", () => {
  const grant = (config: ConfigMap) => s3.grant({ ...KEYS, ...config }, HERE);
  assert.deepEqual(grant({ root: "bkt/p" }), {
    net: ["s3.us-east-1.amazonaws.com:443", "bkt.s3.us-east-1.amazonaws.com:443"],
    read: [],
    write: [],
    env: [],
  });
  assert.deepEqual(grant({ root: "bkt", endpoint: "http://[::1]:9000" }).net, ["[::1]:9000"]);
  assert.deepEqual(grant({ endpoint: "http://minio" }).net, ["minio:80"]);
  assert.deepEqual(s3.grant({}, HERE).net, []);
  const { config } = readConfig(KEYS);
  assert.ok(config !== undefined);
  assert.deepEqual(netTargets(config.endpoint, ["x", "x"]).length, 2);
  assert.equal(nameOf(config.endpoint, "b", "k"), "s3://b/k");
});

Deno.test("a connection that can't be used is told with the setting, never with a secret", () => {
  assert.deepEqual(readConfig({}).problems.map(({ setting }) => setting), ["access_key", "secret_key"]);
  const cases: readonly (readonly [ConfigMap, RegExp])[] = [
    [{ endpoint: "http://h/path" }, /^PZ0301 endpoint .*no address of a server/],
    [{ endpoint: "h:99999" }, /^PZ0301 endpoint/],
    [{ endpoint: "user:pw@h" }, /^PZ0301 endpoint/],
    [{ endpoint: "http://h", use_ssl: true }, /^PZ0301 use_ssl .*begins with http/],
    [{ endpoint: "h", use_ssl: "yes" }, /^PZ0301 use_ssl/],
    [{ url_style: "virtual" }, /^PZ0301 url_style/],
    [{ url_style: "vhost", endpoint: "10.0.0.1" }, /^PZ0301 url_style .*is an address/],
    [{ region: "eu west" }, /^PZ0301 region/],
    [{ root: "b/../c" }, /^PZ0301 root/],
    [{ root: "a" }, /^PZ0301 root .*no name of a bucket/],
    [{ secret_key: "" }, /^PZ0301 secret_key .*is empty/],
    [{ secret_key: ["x"] }, /^PZ0301 secret_key/],
    [{ session_token: "a\nb" }, /^PZ0301 session_token/],
  ];
  for (const [config, expected] of cases) {
    const [first = "", ...more] = problems(config);
    assert.match(first, expected);
    assert.deepEqual(more, []);
    assert.ok(!first.includes("pw"));
  }
  assert.deepEqual(problems({ root: "s3://bucket/a/b/", region: "auto", session_token: "t" }), []);
});
