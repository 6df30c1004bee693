import assert from "node:assert/strict";
import { parseManifest } from "../../../../src/connectors/packages/manifest.ts";
import { grantOf } from "../../../../src/connectors/packages/permissions.ts";
import { manifestText, problemsOf } from "./package_support.ts";

const CONNECTION = { properties: { host: {}, port: {}, url: {}, urls: {}, path: {}, token_env: {} } };

function problems(permissions: unknown): readonly string[] {
  return problemsOf(parseManifest(manifestText({ connection: CONNECTION, permissions }), "m.json"));
}

const NONE = { net: [], read: [], write: [], env: [] };

function net(entry: string, config: Parameters<typeof grantOf>[1]): readonly string[] {
  return grantOf({ ...NONE, net: [entry] }, config, "/p").net;
}

Deno.test("a grant is made of the connection's options", () => {
  const permissions = {
    net: ["{host}:{port}", "{url}"],
    read: ["{path}"],
    write: ["{path}"],
    env: ["ACME", "{token_env}"],
  };
  const config = { host: "db", port: 5432, url: "https://api.acme.test/v1", path: "data", token_env: "TOKEN" };
  assert.deepEqual(grantOf(permissions, config, "/project"), {
    net: ["db:5432", "api.acme.test:443"],
    read: ["/project/data"],
    write: ["/project/data"],
    env: ["ACME", "TOKEN"],
  });
});

Deno.test("a missing or unusable option grants nothing", () => {
  assert.deepEqual(net("{host}:{port}", { host: "db" }), []);
  assert.deepEqual(net("{url}", {}), []);
  for (const url of ["", "acme", "file:///etc/passwd", "*", "db:0x10", "db:99999", "db", "a b:80"]) {
    assert.deepEqual(net("{url}", { url }), [], url);
  }
  assert.deepEqual(grantOf({ ...NONE, read: ["{path}"] }, { path: "" }, "/p").read, []);
  assert.deepEqual(grantOf({ ...NONE, env: ["{token_env}"] }, { token_env: "A=B" }, "/p").env, []);
});

Deno.test("lists, ports of URLs and addresses of IPv6 are understood", () => {
  assert.deepEqual(net("{urls}", { urls: ["http://a", "http://b:8080/x"] }), ["a:80", "b:8080"]);
  assert.deepEqual(net("{host}:{port}", { host: "::1", port: "80" }), ["[::1]:80"]);
  assert.deepEqual(net("{url}", { url: "http://[::1]:81/" }), ["[::1]:81"]);
  assert.deepEqual(net("api.acme.test:443", {}), ["api.acme.test:443"]);
});

Deno.test("a permission that can't be understood is refused with the manifest", () => {
  for (
    const permissions of [
      { net: ["{hst}:{port}"] },
      { net: ["{host}"], files: [] },
      { net: ["everything"] },
      { net: ["{host:{port}"] },
      { read: ["/etc"] },
      { read: ["{path}/x"] },
      { write: ["{nothing}"] },
      { env: ["A B"] },
      { run: ["sh"] },
      [],
    ]
  ) {
    assert.match(problems(permissions).join(), /^PZ0306/, JSON.stringify(permissions));
  }
  assert.match(problems({ net: ["{hst}:{port}"] }).join(), /the connection has no option "hst"/);
  assert.deepEqual(problems({ net: ["{host}:{port}", "{url}", "{host}:443"], env: ["ACME_{token_env}"] }), []);
});
