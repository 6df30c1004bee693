import assert from "node:assert/strict";
import { ConnectorError } from "../../src/connectors/mod.ts";
import { openStores } from "../harness/s3_store.ts";
import { StoreProxy } from "../harness/s3_proxy.ts";
import { digestOf, fetchAll, manyBytes, openMover } from "./s3_opened.ts";

const stores = await openStores();
/** More than one request brings. */
const BIG = 21 * 1024 * 1024 + 7;

async function failure(work: () => Promise<unknown>): Promise<ConnectorError> {
  try {
    await work();
  } catch (error) {
    if (error instanceof ConnectorError) return error;
    throw error;
  }
  throw new assert.AssertionError({ message: "it did not fail" });
}

for (const store of stores) {
  const test = (title: string, work: () => Promise<void>) => Deno.test(`${title} (${store.name})`, work);
  const name = `s3://${String(store.config["endpoint"]).replace("http://", "")}/${store.bucket}`;

  test("a path is one object, a pattern all that match it part by part, in the order of their keys", async () => {
    const keys = [
      "g/a.csv",
      "g/b.csv",
      "g/sub/c.csv",
      "g/sub/deep/d.csv",
      "g/.hidden.csv",
      "g/x.json",
      "g/year=2024/month=01/e.csv",
      "g/year=2023/month=12/f.csv.gz",
    ];
    for (const key of keys) await store.put(key, key);
    await store.put("g/folder/", "");
    const mover = openMover(store);
    const found = async (path: string) =>
      (await fetchAll(mover, store, "g/", path)).map(({ text, name: shown }) => {
        assert.equal(shown, `${name}/${text}`);
        return text;
      });
    assert.deepEqual(await found("a.csv"), ["g/a.csv"]);
    assert.deepEqual(await found("*.csv"), ["g/a.csv", "g/b.csv"]);
    assert.deepEqual(await found("[ab].???"), ["g/a.csv", "g/b.csv"]);
    assert.deepEqual(await found("**/c.csv"), ["g/sub/c.csv"]);
    assert.deepEqual(await found("sub/**"), ["g/sub/c.csv", "g/sub/deep/d.csv"]);
    assert.deepEqual(await found(".*"), ["g/.hidden.csv"]);
    assert.deepEqual(await found("year=*/*/*"), ["g/year=2023/month=12/f.csv.gz", "g/year=2024/month=01/e.csv"]);
    const [first, second] = await fetchAll(mover, store, "g/", "year=*/*/*");
    assert.equal(first?.path, "0000000/year=2023/month=12/object.csv.gz");
    assert.equal(second?.path, "0000001/year=2024/month=01/object.csv");
    const none = await failure(() => fetchAll(mover, store, "g/", "*.parquet"));
    assert.equal(none.message, `No object matches ${name}/g/*.parquet`);
    assert.deepEqual([none.code, none.transient], ["PZ0353", false]);
    const missing = await failure(() => fetchAll(mover, store, "g/", "A.csv"));
    assert.match(missing.message, /^Reading .*\/g\/A\.csv failed: there is no such object or bucket \(.*404\)$/);
    assert.equal(missing.transient, false);
    assert.match(missing.hint ?? "", /case-sensitive/);
  });

  test("keys may hold any characters, and a key that is written like a pattern is found as it is", async () => {
    const odd = [
      "o/with space+plus%20.csv",
      "o/äöü€😀.csv",
      "o/a&b<c>'d'\"e\".csv",
      "o/q?x=1#frag;y.csv",
      "o/back\\slash.csv",
      "o/two//slashes.csv",
      "o/[set].csv",
      "o/!'()*~^`{|}.csv",
      "o/k=v?*[/object.csv",
    ];
    for (const key of odd) await store.put(key, key);
    await using proxy = new StoreProxy(store, () => undefined);
    const mover = openMover(proxy.store);
    const all = await fetchAll(mover, store, "o/", "**");
    assert.deepEqual(all.map(({ text }) => text).sort(), odd.filter((key) => !key.includes("//")).sort());
    for (const key of odd) {
      const [only, ...more] = await fetchAll(mover, store, "", key);
      assert.deepEqual([only?.text, more], [key, []], key);
    }
    assert.equal(all.find(({ text }) => text.startsWith("o/k="))?.path.slice(8), "k=v%3F%2A%5B/object.csv");
    assert.ok(proxy.seen.length > odd.length);
    assert.deepEqual(proxy.unsigned, []);
    assert.deepEqual((await fetchAll(mover, store, "o/", "two//*.csv")).map(({ text }) => text), [
      "o/two//slashes.csv",
    ]);
  });

  test("a large object comes by several requests at a time, every byte in its place", async () => {
    const bytes = manyBytes(BIG);
    await store.put("big/one.bin", bytes);
    await store.put("big/empty.bin", "");
    await using proxy = new StoreProxy(store, () => undefined);
    const labels: string[] = [];
    let told = 0;
    const mover = openMover(proxy.store, labels);
    const found = await fetchAll(mover, proxy.store, "big/", "*.bin", { onBytes: (more) => void (told += more) });
    assert.deepEqual(found.map((file) => [file.bytes, file.text]), [[0, ""], [BIG, digestOf(bytes)]]);
    assert.equal(told, BIG);
    assert.deepEqual(labels.sort(), ["get", "get", "get", "list"]);
    assert.equal(proxy.seen.length, labels.length);
  });

  test("an object that is changed while it is read is a failure that may pass", async () => {
    await store.put("change/x.csv", manyBytes(BIG));
    let changed = false;
    await using proxy = new StoreProxy(store, async ({ method }) => {
      if (method !== "GET" || changed) return undefined;
      changed = true;
      await store.put("change/x.csv", manyBytes(BIG - 1));
      return undefined;
    });
    const error = await failure(() => fetchAll(openMover(proxy.store), proxy.store, "change/", "x.csv"));
    assert.match(error.message, /change\/x\.csv was changed while it was read$/);
    assert.equal(error.transient, true);
  });

  test("an answer that is cut, longer, another part, or encoded on its way gives no file", async () => {
    await store.put("lies/x.csv", "0123456789");
    await store.put("lies/big.csv", manyBytes(BIG));
    const said = async (path: string, lie: (answer: Response) => Response | Promise<Response>) => {
      await using proxy = new StoreProxy(store, ({ method }) => method === "GET" ? lie : undefined);
      return await failure(() => fetchAll(openMover(proxy.store), proxy.store, "lies/", path));
    };
    const withBody = (answer: Response, body: BodyInit, headers: { [name: string]: string } = {}) => {
      void answer.body?.cancel();
      return new Response(body, {
        status: answer.status,
        headers: { etag: answer.headers.get("etag") ?? "", ...headers },
      });
    };
    const short = await said("x.csv", (answer) => withBody(answer, "01234"));
    assert.match(short.message, /the answer ended after 5 of 10 bytes$/);
    assert.equal(short.transient, true);
    assert.match(
      (await said("x.csv", (answer) => withBody(answer, "0123456789a"))).message,
      /more came than there should be$/,
    );
    const part = await said("big.csv", (answer) => withBody(answer, "x", { "content-range": "bytes 5-9/20" }));
    assert.match(part.message, /does not give the part that was asked for$/);
    const other = await said("x.csv", (answer) => withBody(answer, "0123456789", { etag: '"0"' }));
    assert.match(other.message, /was changed while it was read$/);
    const html = await said("x.csv", (answer) => {
      void answer.body?.cancel();
      return new Response("<html><body>Sign in", { status: 200, headers: { "content-type": "text/html" } });
    });
    assert.match(html.message, /more came than there should be|ended after/);
  });

  test("an object with a Content-Encoding is refused, since its bytes change on their way", async () => {
    const gzip = new Blob(["a,b\n1,2\n"]).stream().pipeThrough(new CompressionStream("gzip"));
    const bytes = new Uint8Array(await new Response(gzip).arrayBuffer());
    await store.put("enc/x.csv", bytes, { "content-encoding": "gzip" });
    const error = await failure(() => fetchAll(openMover(store), store, "enc/", "*.csv"));
    assert.match(error.message, /is stored with a Content-Encoding/);
    assert.equal(error.transient, false);
  });

  test("what a store says against a request is told with its code, a next step, and whether it may pass", async () => {
    const said = async (
      status: number,
      code: string,
      message = "Said so.",
      headers: { [name: string]: string } = {},
    ) => {
      const body = `<?xml version="1.0"?><Error><Code>${code}</Code><Message>${message}</Message></Error>`;
      await using proxy = new StoreProxy(store, () => new Response(body, { status, headers }));
      return await failure(() => fetchAll(openMover(proxy.store), proxy.store, "x/", "*"));
    };
    const slow = await said(503, "SlowDown", "Reduce your &lt;rate&gt;.", { "retry-after": "7" });
    assert.match(slow.message, /failed: Reduce your <rate>\. \(SlowDown, status 503\)$/);
    assert.deepEqual([slow.transient, slow.retryAfterMs], [true, 7000]);
    for (
      const [status, code] of [[500, "InternalError"], [400, "RequestTimeout"], [429, "TooMany"], [
        409,
        "OperationAborted",
      ]]
    ) {
      assert.equal((await said(Number(status), String(code))).transient, true, String(code));
    }
    for (
      const [status, code, hint] of [
        [403, "SignatureDoesNotMatch", /secret_key/],
        [403, "InvalidAccessKeyId", /access_key/],
        [403, "AccessDenied", /s3:GetObject/],
        [403, "RequestTimeTooSkewed", /clock/],
        [404, "NoSuchBucket", /bucket/],
        [400, "ExpiredToken", /credentials/],
        [501, "NotImplemented", undefined],
      ] as const
    ) {
      const error = await said(status, code);
      assert.equal(error.transient, false, code);
      if (hint !== undefined) assert.match(error.hint ?? "", hint);
    }
    const elsewhere = await said(301, "PermanentRedirect", "", {
      "x-amz-bucket-region": "eu-west-3",
      location: "http://127.0.0.1:1/",
    });
    assert.equal(elsewhere.hint, `the bucket is in the region "eu-west-3": set region: eu-west-3`);
    assert.match((await said(502, "", "").catch((error) => error)).message, /status 502/);
  });

  test("a listing comes page by page, and one without an end is refused", async () => {
    for (let index = 0; index < 3; index++) await store.put(`pages/${index}.csv`, String(index));
    await using proxy = new StoreProxy(store, ({ query }) => {
      if (query.has("list-type")) query.set("max-keys", "1");
      return undefined;
    });
    assert.equal((await fetchAll(openMover(proxy.store), proxy.store, "pages/", "*")).length, 3);
    const endless =
      `<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>a</NextContinuationToken></ListBucketResult>`;
    await using liar = new StoreProxy(store, () => new Response(endless));
    const error = await failure(() => fetchAll(openMover(liar.store), liar.store, "pages/", "*"));
    assert.match(error.message, /again and again/);
    await using vague = new StoreProxy(store, () => new Response("<ListBucketResult><Contents>"));
    assert.match((await failure(() => fetchAll(openMover(vague.store), vague.store, "p", "*"))).message, /no document/);
  });

  test("a server that is not there, and one that hangs up, are failures that may pass", async () => {
    const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const { port } = listener.addr;
    const silent = store.at(`http://127.0.0.1:${port}`);
    const hangUp = listener.accept().then((connection) => connection.close());
    const lost = await failure(() => fetchAll(openMover(silent), silent, "x/", "*"));
    await hangUp;
    assert.match(lost.message, /the connection was lost/);
    assert.equal(lost.transient, true);
    listener.close();
    const refused = await failure(() => fetchAll(openMover(silent), silent, "x/", "*"));
    assert.match(refused.message, /refused the connection/);
    assert.equal(refused.transient, true);
    const blocked = store.at("http://127.0.0.1:1");
    await failure(() => fetchAll(openMover(blocked), blocked, "x/", "*"));
  });

  test("a read that is stopped ends at once and leaves no request behind", async () => {
    await store.put("stop/x.bin", manyBytes(BIG));
    const stop = new AbortController();
    const reason = new Error("enough");
    await using proxy = new StoreProxy(store, ({ method }) => {
      if (method === "GET") stop.abort(reason);
      return undefined;
    });
    await assert.rejects(
      fetchAll(openMover(proxy.store), proxy.store, "stop/", "x.bin", { signal: stop.signal }),
      reason,
    );
  });
}
