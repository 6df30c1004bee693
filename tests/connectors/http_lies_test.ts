import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { type ConfigMap, ConnectorError } from "../../src/connectors/mod.ts";
import { RawHttp, TestHttp } from "../harness/http_server.ts";
import { dataset, ID, NEVER, Opened } from "./http_support.ts";

const SECRET = "hush-hush-hush";
const BEARER = { auth: { type: "bearer", token: SECRET } };

/** What a read fails with; the whole message must fit, and hold no secret. */
async function failure(
  origin: string,
  options: ConfigMap = {},
  config: ConfigMap = {},
): Promise<readonly [message: string, transient: boolean, hint: string | undefined]> {
  await using api = new Opened(origin, { ...BEARER, ...config });
  try {
    const rows = await api.rows(dataset({ query: { q: SECRET }, ...options }, ID));
    throw new Error(`${rows.length} rows`);
  } catch (error) {
    if (!(error instanceof ConnectorError)) throw error;
    const { message, transient, hint } = error;
    assert.ok(!`${message}${hint}`.includes(SECRET), message);
    return [message.replaceAll(origin, "<origin>"), transient, hint];
  }
}

/** Each body as it goes over the wire, and what becomes of it. */
const RAW: readonly (readonly [name: string, answer: string, message: RegExp, transient: boolean])[] = [
  [
    "a content-length that promises more",
    'HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n[{"id":"1"},{"id":"2"}]',
    /^GET <origin>\/orders \(page 1\) failed: the connection was lost$/,
    true,
  ],
  [
    "a content-length that promises less",
    'HTTP/1.1 200 OK\r\ncontent-length: 12\r\n\r\n[{"id":"1"},{"id":"2"}]',
    /^GET <origin>\/orders \(page 1\) answered with JSON that can't be used \(behind 1 records\): it ends in the middle$/,
    true,
  ],
  [
    "a body in pieces that stops",
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n17\r\n[{"id":"1"},{"id":"2"}]\r\n',
    /the connection was lost$/,
    true,
  ],
  [
    "a body without a length that stops in its middle",
    'HTTP/1.1 200 OK\r\n\r\n[{"id":"1"},{"id":"2"',
    /it ends in the middle$/,
    true,
  ],
  ["an empty body", "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n", /can't be used: it is empty$/, true],
  ["what is no HTTP", "+OK hello\r\n\r\n", /failed: what the server answered is no HTTP$/, false],
  ["nothing", "", /failed: the connection was lost$/, true],
  [
    "a page of HTML with status 200",
    "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 13\r\n\r\n<html></html>",
    /^GET <origin>\/orders \(page 1\) answered with a page of HTML, not with JSON$/,
    false,
  ],
  [
    "HTML that calls itself JSON",
    `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 31\r\n\r\n<html>\x1b[1m${SECRET}</html>`,
    /: '<' stands where a value should, at byte 1: <html> \[1m\*\*\*/,
    false,
  ],
  [
    "an error with status 200",
    'HTTP/1.1 200 OK\r\ncontent-length: 21\r\n\r\n{"error": "no orders"}'.replace("21", "22"),
    /: it is an object, not an array of records: \{"error": "no orders"\}$/,
    false,
  ],
  [
    "bytes that are no text",
    'HTTP/1.1 200 OK\r\n\r\n[{"id":"\xff"}]',
    /answered with bytes that are no text in UTF-8$/,
    false,
  ],
  [
    "a redirect without a place",
    "HTTP/1.1 302 Found\r\ncontent-length: 0\r\n\r\n",
    /answered 302 without saying where to go$/,
    false,
  ],
];

for (const [name, answer, message, transient] of RAW) {
  Deno.test(`a server that sends ${name} fails the read by one request`, async () => {
    await using server = new RawHttp((write) => write(Uint8Array.from(answer, (letter) => letter.charCodeAt(0))));
    const [told, isTransient] = await failure(server.origin);
    assert.match(told, message);
    assert.equal(isTransient, transient);
    assert.equal(server.requests, 1);
  });
}

Deno.test("statuses are transient or final, say what the server said, and are asked for once", async () => {
  let status = 0;
  let headers: { [name: string]: string } = {};
  await using server = new TestHttp(() => new Response(`{"why":"${SECRET}\n${"x".repeat(500)}"}`, { status, headers }));
  for (
    const [each, isTransient] of [
      [400, false],
      [401, false],
      [403, false],
      [404, false],
      [408, true],
      [410, false],
      [425, true],
      [429, true],
      [500, true],
      [502, true],
      [503, true],
      [504, true],
    ] as const
  ) {
    status = each;
    const [message, transient] = await failure(server.origin);
    assert.equal(transient, isTransient, message);
    assert.match(message, new RegExp(`^GET <origin>/orders \\(page 1\\) answered ${each}: \\{"why":"\\*\\*\\* x+…$`));
    assert.ok(message.length < 300);
  }
  status = 403;
  headers = { "retry-after": "7" };
  assert.equal((await failure(server.origin))[1], true);
  headers = { "x-ratelimit-remaining": "0", "x-ratelimit-reset": String(Math.floor(Date.now() / 1000) + 100) };
  assert.equal((await failure(server.origin))[1], true);
  assert.equal(server.seen.length, 14);
});

Deno.test("how long to wait reaches the engine, and so does what is left of a limit", async () => {
  let headers: { [name: string]: string } = { "retry-after": "2" };
  await using server = new TestHttp(() =>
    new Response("[]", { status: headers["retry-after"] === undefined ? 200 : 429, headers })
  );
  await using api = new Opened(server.origin);
  await assert.rejects(api.rows(dataset({}, ID)), { transient: true, retryAfterMs: 2000 });
  headers = { "ratelimit-remaining": "3", "ratelimit-reset": "10" };
  const before = Date.now();
  await api.rows(dataset({}, ID));
  const [[remaining = 0, at = 0] = []] = api.budgets;
  assert.equal(remaining, 3);
  assert.ok(at >= before + 10_000 && at <= Date.now() + 10_000);
});

Deno.test("redirects are followed at home; secrets go nowhere else, and nothing does unless it is allowed", async () => {
  const auths: (string | null)[] = [];
  await using away = new TestHttp((request) => {
    auths.push(request.headers.get("authorization"), request.headers.get("x-tenant"), request.path);
    return Response.json([{ id: "away" }]);
  });
  await using home = new TestHttp((request, url) => {
    auths.push(request.headers.get("authorization"));
    if (url.pathname === "/orders") return Response.redirect(`${url.origin}/moved`, 307);
    if (url.pathname === "/away") return Response.redirect(`${away.origin}/there?api_key=${SECRET}`, 302);
    if (url.pathname === "/loop") return Response.redirect(`${url.origin}/loop`, 302);
    if (url.pathname === "/file") {
      return new Response(null, { status: 302, headers: { location: "file:///etc/passwd" } });
    }
    if (url.pathname === "/user") {
      return new Response(null, { status: 302, headers: { location: `http://me:${SECRET}@${url.host}/` } });
    }
    return Response.json([{ id: "home" }]);
  });
  await using api = new Opened(home.origin, { ...BEARER, headers: { "X-Tenant": "acme" } });
  assert.deepEqual(await api.rows(dataset({}, ID)), [["home"]]);
  assert.deepEqual(auths.splice(0), [`Bearer ${SECRET}`, `Bearer ${SECRET}`]);
  assert.deepEqual(api.operations, ["page", "page"]);
  const [message, transient, hint] = await failure(home.origin, { path: "/away" });
  assert.equal(message, `A redirect of GET <origin>/away (page 1) leads away from <origin>, to ${away.origin}`);
  assert.equal(transient, false);
  assert.equal(
    hint,
    `if that is meant, add allow_hosts: [127.0.0.1:${away.port}] to the connection; its secrets are not sent there`,
  );
  assert.equal(away.seen.length, 0);
  assert.match(
    (await failure(home.origin, { path: "/loop" }))[0],
    /^GET <origin>\/loop \(page 1\) is redirected more than 5 times$/,
  );
  assert.match((await failure(home.origin, { path: "/file" }))[0], /leads to no http or https address$/);
  assert.match((await failure(home.origin, { path: "/user" }))[0], /leads to an address with a user in it$/);
  auths.length = 0;
  await using open = new Opened(home.origin, {
    auth: { type: "api_key", param: "api_key", key: SECRET },
    headers: { "X-Tenant": "acme" },
    allow_hosts: [`127.0.0.1:${away.port}`],
  });
  assert.deepEqual(await open.rows(dataset({ path: "/away" }, ID)), [["away"]]);
  assert.deepEqual(auths.slice(1), [null, null, "/there"]);
});

Deno.test("links lead on at home alone, with the secret parameter set once and kept out of tokens", async () => {
  let link = "";
  await using server = new TestHttp((_request, url) =>
    Response.json(
      [{ id: url.search }],
      url.searchParams.has("last") ? {} : { headers: { link: `<${link}>; rel="next"` } },
    )
  );
  await using api = new Opened(server.origin, { auth: { type: "api_key", param: "key", key: SECRET } });
  link = `?x=a%2Fb+c&key=${SECRET}&last=1`;
  const spec = dataset({ pagination: "link_header" }, ID);
  const reading = api.source.read(spec, { id: "pages" }, { batchBytes: 1 << 20, signal: NEVER });
  const tokens: (string | undefined)[] = [];
  for await (const _batch of reading) tokens.push(reading.checkpoint?.());
  assert.deepEqual(server.seen.map(({ path }) => path), [
    `/orders?key=${SECRET}`,
    `/orders?x=a%2Fb+c&last=1&key=${SECRET}`,
  ]);
  assert.equal(tokens.length, 2);
  assert.ok(!tokens.join("").includes(SECRET));
  link = "http://127.0.0.2:1/?last=1";
  assert.match(
    (await failure(server.origin, { pagination: "link_header" }))[0],
    /^The link to page 2 of \/orders leads away from <origin>, to http:\/\/127\.0\.0\.2:1$/,
  );
  link = "http://[nonsense";
  assert.match(
    (await failure(server.origin, { pagination: "link_header" }))[0],
    /names a next page that is no address$/,
  );
});

Deno.test("a crawl that comes back to a page it has read is stopped", async () => {
  await using server = new TestHttp((_request, url) => {
    const next = { a: "b", b: "c", c: "a" }[url.searchParams.get("after") ?? "c"];
    const link = url.searchParams.has("after") ? `/orders?after=${next}` : "/orders?after=a";
    return Response.json({ data: [{ id: "x" }], next }, { headers: { link: `<${link}>; rel="next"` } });
  });
  const cursor = { items: "/data", pagination: { type: "cursor", pointer: "/next", param: "after" } };
  assert.deepEqual((await failure(server.origin, cursor)).slice(0, 2), [
    "Page 5 of /orders is one that was read already: its cursor leads back",
    false,
  ]);
  assert.deepEqual(
    (await failure(server.origin, { items: "/data", pagination: "link_header" }))[0],
    "Page 5 of /orders is one that was read already: its link leads back",
  );
});

Deno.test("a server whose pages never end is stopped at the ceiling", async () => {
  await using api = new Opened("http://127.0.0.1:9", {}, {});
  // The pages before are said to be read, so that the ceiling is near.
  await using server = new TestHttp(() => Response.json([{ id: "x" }]));
  await using real = new Opened(server.origin);
  const spec = dataset({ pagination: "page" }, ID);
  const reading = real.source.read(spec, { id: "pages" }, { batchBytes: 1 << 20, signal: NEVER });
  for await (const _batch of reading) break;
  const token = (reading.checkpoint?.() ?? "").replace('"pages":1', '"pages":49998');
  const seen = server.seen.length;
  await assert.rejects(async () => {
    for await (const _ of real.source.read(spec, { id: "pages" }, { batchBytes: 1, signal: NEVER, resumeFrom: token }));
  }, { message: "/orders has more than 50000 pages", transient: false });
  assert.equal(server.seen.length - seen, 2);
  assert.ok(api);
});

/** How much memory this process holds outside and inside of V8. */
function memory(): number {
  return Deno.memoryUsage().rss;
}

Deno.test("an object of a gigabyte in one line is refused early, with memory flat", async () => {
  const piece = new Uint8Array(1 << 20).fill(0x78);
  let sent = 0;
  await using server = new RawHttp(async (write) => {
    await write('HTTP/1.1 200 OK\r\ncontent-length: 1073741900\r\n\r\n[{"id":"');
    for (; sent < 1024; sent++) await write(piece);
  });
  const before = memory();
  const [message, transient] = await failure(server.origin);
  assert.match(message, /can't be used: one object or value has more than 16777216 bytes/);
  assert.equal(transient, false);
  assert.ok(sent < 100, `${sent} MiB were taken`);
  assert.ok(memory() - before < 150 << 20, `${(memory() - before) >> 20} MiB more`);
});

Deno.test("an answer larger than its limit is refused, and so is a bomb, counted as it unfolds", async () => {
  const line = `{"id":"${"x".repeat(1000)}"},`;
  const bomb = gzipSync(`[${line.repeat(50_000)}${line.slice(0, -1)}]`);
  assert.ok(bomb.length < 400_000);
  await using server = new TestHttp(() =>
    new Response(new Uint8Array(bomb), { headers: { "content-encoding": "gzip", "content-type": "application/json" } })
  );
  const [message, transient, hint] = await failure(server.origin, {}, { max_response_mb: 10n });
  assert.equal(message, "GET <origin>/orders (page 1) answered with more than 10 MiB");
  assert.equal(transient, false);
  assert.match(hint ?? "", /max_response_mb/);
});

Deno.test("a server that falls silent, or trickles, is given up in time", async () => {
  const { promise: over, resolve: end } = Promise.withResolvers<void>();
  const modes: { [path: string]: (write: (text: string) => Promise<void>) => Promise<void> } = {
    "/silent": () => over,
    "/half": async (write) => {
      await write("HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n[");
      await over;
    },
    "/drip": async (write) => {
      await write("HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n[");
      const timer = setInterval(() => void write(" ").catch(() => clearInterval(timer)), 20);
      await over;
      clearInterval(timer);
    },
  };
  await using server = new RawHttp(async (write, head) => await modes[/^GET (\S+)\?/.exec(head)?.[1] ?? ""]?.(write));
  const limit = { timeout_seconds: 1n };
  assert.deepEqual((await failure(server.origin, { path: "/silent" }, limit)).slice(0, 2), [
    "GET <origin>/silent (page 1) failed: no answer came within 1 s",
    true,
  ]);
  assert.match(
    (await failure(server.origin, { path: "/half" }, limit))[0],
    /failed: no more of the answer came within 1 s$/,
  );
  assert.match(
    (await failure(server.origin, { path: "/drip" }, limit))[0],
    /failed: hardly anything of the answer came within 1 s$/,
  );
  end();
});

Deno.test("a read that nobody wants any more lets go of its connection at once", async () => {
  const started = Promise.withResolvers<void>();
  const { promise: over, resolve: end } = Promise.withResolvers<void>();
  await using server = new RawHttp(async (write) => {
    await write("HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n[");
    started.resolve();
    await over;
  });
  await using api = new Opened(server.origin);
  const stop = new AbortController();
  const reason = new Error("enough");
  const reading = api.source.read(dataset({}, ID), { id: "pages" }, { batchBytes: 1, signal: stop.signal });
  const ending = assert.rejects(async () => {
    for await (const _batch of reading);
  }, reason);
  await started.promise;
  stop.abort(reason);
  await ending;
  end();
});

Deno.test("a server that is not there is told as such", async () => {
  const listener = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  const origin = `http://127.0.0.1:${listener.addr.port}`;
  listener.close();
  assert.deepEqual((await failure(origin)).slice(0, 2), [
    "GET <origin>/orders (page 1) failed: the server refused the connection",
    true,
  ]);
});

Deno.test("a connection is checked by its path, or by any answer that lets it in", async () => {
  let status = 404;
  await using server = new TestHttp(() => new Response("x", { status }));
  await using plain = new Opened(`${server.origin}/v1`);
  await plain.instance.check?.(NEVER);
  await using path = new Opened(`${server.origin}/v1`, { check_path: "/ping" });
  await assert.rejects(
    async () => await path.instance.check?.(NEVER),
    /^ConnectorError: GET http:\S+\/v1\/ping answered 404: x$/,
  );
  for (status of [401, 403, 503]) await assert.rejects(async () => await plain.instance.check?.(NEVER), ConnectorError);
  assert.deepEqual(server.seen.map((request) => request.path), ["/v1", "/v1/ping", "/v1", "/v1", "/v1"]);
});
