import assert from "node:assert/strict";
import { http } from "../../../../src/connectors/builtin/http/description.ts";
import { readConfig } from "../../../../src/connectors/builtin/http/config.ts";
import { readOptions } from "../../../../src/connectors/builtin/http/read_options.ts";
import { writeOptions } from "../../../../src/connectors/builtin/http/write_options.ts";
import type { ConfigMap } from "../../../../src/connectors/mod.ts";

const BASE = { base_url: "https://api.example.com/v1/" };
const PLACE = { projectRoot: "/nowhere" };

function config(map: ConfigMap): readonly string[] {
  return readConfig({ ...BASE, ...map }).problems.map(({ message }) => message);
}

function read(map: ConfigMap, isRaw = false): readonly string[] {
  return readOptions({ path: "/orders", ...map }, isRaw).problems.map(({ message }) => message);
}

function write(map: ConfigMap, mode: "append" | "merge" = "append", keys = mode === "merge" ? ["id"] : []): string[] {
  return writeOptions({ options: map, mode, keys }).problems.map(({ message }) => message);
}

Deno.test("a connection's settings get their defaults", () => {
  assert.deepEqual(readConfig(BASE).config, {
    baseUrl: "https://api.example.com/v1",
    origin: "https://api.example.com",
    auth: undefined,
    headers: [],
    checkPath: undefined,
    timeoutMs: 30_000,
    maxResponseBytes: 256 << 20,
    maxRecordBytes: 16 << 20,
    allowed: [],
    sslRootCert: undefined,
  });
});

Deno.test("each way to say who asks becomes a header or a parameter", () => {
  const auth = (map: ConfigMap) => readConfig({ ...BASE, auth: map }).config?.auth;
  const key = { type: "api_key", key: "s3cret" };
  assert.deepEqual(auth({ ...key, header: "X-Key" }), { kind: "header", name: "X-Key", value: "s3cret" });
  assert.deepEqual(auth({ ...key, param: "key" }), { kind: "param", name: "key", value: "s3cret" });
  assert.deepEqual(auth({ type: "bearer", token: "t" }), { kind: "header", name: "Authorization", value: "Bearer t" });
  assert.deepEqual(auth({ type: "basic", user: "ü", password: "p:w" }), {
    kind: "header",
    name: "Authorization",
    value: "Basic w7w6cDp3",
  });
});

Deno.test("wrong settings of a connection are told, all of them, and no secret with them", () => {
  assert.deepEqual(readConfig({}).problems.map(({ message }) => message), ['Option "base_url" is missing']);
  assert.deepEqual(config({ base_url: "ftp://x" }), ['Option "base_url" is no http or https address']);
  assert.deepEqual(config({ base_url: "https://me:hush@x" }), ['Option "base_url" holds a user or a password']);
  assert.deepEqual(config({ base_url: "https://x/?a=1" }), ['Option "base_url" holds parameters or a fragment']);
  assert.deepEqual(config({ timeout_seconds: 0n, max_response_mb: 5000n, check_path: "x", ssl_root_cert: "ca.pem" }), [
    'Option "check_path" is "x"',
    'Option "timeout_seconds" is "0"',
    'Option "max_response_mb" is "5000"',
    'Option "ssl_root_cert" is "ca.pem", a path that depends on where pz is started',
  ]);
  const problems = [
    config({ auth: "hush" }),
    config({ auth: { type: "oauth", token: "hush" } }),
    config({ auth: { token: "hush" } }),
    config({ auth: { type: "bearer", token: "hush", user: "hush" } }),
    config({ auth: { type: "bearer", token: "hush\nhush" } }),
    config({ auth: { type: "api_key", key: "hush" } }),
    config({ auth: { type: "api_key", key: "hush", header: "A", param: "b" } }),
    config({ auth: { type: "bearer", token: "hushⓤ" } }),
    config({ headers: { "X Y": "hush", Host: "hush", "X-Y": "hush\u0001" } }),
    config({ auth: { type: "bearer", token: "hush" }, headers: { authorization: "hush" } }),
    config({ allow_hosts: ["*.example.com", "https://x"] }),
  ];
  assert.deepEqual(problems, [
    ['Option "auth" is no map'],
    ['Option "auth.type" is "oauth"'],
    ['Option "auth.type" is missing'],
    ['Option "auth.user" is unknown here'],
    ['Option "auth.token" is no text of one line'],
    ['Option "auth.header" and auth.param: exactly one of them says where the key goes'],
    ['Option "auth.header" and auth.param: exactly one of them says where the key goes'],
    ['Option "auth.token" holds characters that no header can carry'],
    [
      'Option "headers" has "X Y", no name of a header',
      'Option "headers" has "Host", which pz sets itself',
      'Option "headers" has a value for "X-Y" that no header can carry',
    ],
    ['Option "headers" has "authorization", which auth sets'],
    [
      'Option "allow_hosts" has "*.example.com", which names no host',
      'Option "allow_hosts" has "https://x", which names no host',
    ],
  ]);
  assert.ok(!JSON.stringify(problems).includes("hush"));
});

Deno.test("a connection is granted its own host and those that it allows, and nothing else", () => {
  assert.deepEqual(
    http.grant({ base_url: "http://localhost/x", allow_hosts: ["cdn.example.com", "[::1]:81"] }, PLACE),
    {
      net: ["localhost:80", "cdn.example.com:80", "[::1]:81"],
      read: [],
      write: [],
      env: [],
    },
  );
  assert.deepEqual(http.grant({ ...BASE, ssl_root_cert: "/etc/ca.pem" }, PLACE).read, ["/etc/ca.pem"]);
  assert.deepEqual(http.grant({}, PLACE).net, []);
});

Deno.test("wrong options of a read are told before anything runs", () => {
  assert.deepEqual(read({}), []);
  assert.deepEqual(readOptions({}, false).problems.map(({ message }) => message), ['Option "path" is missing']);
  assert.deepEqual(read({ path: "orders" }), ['Option "path" is "orders"']);
  assert.deepEqual(read({ path: "/orders?x=1" }), ['Option "path" is "/orders?x=1"']);
  assert.deepEqual(read({ path: "/{{ watermark }}" }), ['Option "path" is "/{{ watermark }}"']);
  assert.deepEqual(read({ items: "data", max_pages: 0n, query: "x" }), [
    'Option "query" is no map',
    'Option "items" is "data"',
    'Option "max_pages" is "0"',
  ]);
  assert.deepEqual(read({ delta_pointer: "/delta" }), ['Option "delta_pointer" does not run yet']);
  assert.deepEqual(read({ cursor: "id" }), ['Option "cursor" is for reads without columns']);
  assert.deepEqual(read({ cursor: "id" }, true), ['Option "cursor_type" is missing']);
  assert.deepEqual(read({ cursor_type: "int" }, true), ['Option "cursor" is missing']);
  assert.deepEqual(read({ cursor: "payload", cursor_type: "text" }, true), [
    'Option "cursor_type" is "text"',
    'Option "cursor" is "payload", a column that every such read has',
  ]);
  assert.deepEqual(read({ query: { "{{ x }}": "1", since: "{{ last }}" } }), [
    'Option "query" calls "last" in "since"',
  ]);
});

Deno.test("wrong ways to page are told before anything runs", () => {
  const paged = (pagination: ConfigMap | string, more: ConfigMap = {}) => read({ pagination, ...more });
  assert.deepEqual(paged("pages"), ['Option "pagination" is "pages"']);
  assert.deepEqual(paged("cursor"), ['Option "pagination" is "cursor" without a pointer']);
  assert.deepEqual(paged("offset"), ['Option "pagination" is "offset" without a size']);
  assert.deepEqual(paged({ param: "p" }), [
    'Option "pagination.type" is missing',
    'Option "pagination.param" is unknown here',
  ]);
  assert.deepEqual(paged({ type: "link_header", param: "p" }), ['Option "pagination.param" is unknown here']);
  assert.deepEqual(paged({ type: "page", size_param: "n" }), ['Option "pagination.size" is missing']);
  assert.deepEqual(paged({ type: "page", stop_on_short_page: true }), ['Option "pagination.size" is missing']);
  assert.deepEqual(paged({ type: "offset" }), ['Option "pagination.size" is missing']);
  assert.deepEqual(paged({ type: "cursor", pointer: "next" }, { items: "/data" }), [
    'Option "pagination.pointer" is "next"',
  ]);
  assert.deepEqual(paged({ type: "cursor", pointer: "/data/0/id" }, { items: "/data" }), [
    'Option "pagination" has a pointer into the records',
  ]);
});

Deno.test("wrong options of a write are told before anything runs", () => {
  assert.deepEqual(write({ path: "/orders" }), []);
  assert.deepEqual(write({ path: "/orders/{key}" }, "merge"), []);
  assert.deepEqual(write({}), ['Option "path" is missing']);
  assert.deepEqual(write({ path: "/orders/{key}" }), ['Option "path" is "/orders/{key}"']);
  assert.deepEqual(write({ path: "/orders" }, "merge"), ['Option "path" is "/orders"']);
  assert.deepEqual(write({ path: "/o/{key}" }, "merge", ["a", "b"]), [
    'Option "path" has a place for one key, and the merge has 2',
  ]);
  assert.deepEqual(write({ path: "/o/{key}", body_format: "ndjson", rows_per_request: 5n }, "merge"), [
    'Option "body_format" has no meaning for a merge',
    'Option "rows_per_request" has no meaning for a merge',
  ]);
  assert.deepEqual(
    write({ path: "/o", method: "delete", body_format: "xml", rows_per_request: 0n, expected_status: [99n] }),
    [
      'Option "method" is "delete"',
      'Option "body_format" is "xml"',
      'Option "rows_per_request" is "0"',
      'Option "expected_status" is "99"',
    ],
  );
  assert.deepEqual(write({ path: "/o", parallel_requests: 2n }), ['Option "parallel_requests" is for a merge alone']);
  assert.deepEqual(write({ path: "/o", body_format: "json", rows_per_request: 2n }), [
    'Option "rows_per_request" is 2, where body_format "json" sends one row',
  ]);
});
