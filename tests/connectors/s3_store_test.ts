import assert from "node:assert/strict";
import { ConnectorError } from "../../src/connectors/mod.ts";
import { PART_BYTES } from "../../src/connectors/builtin/s3/object_upload.ts";
import { openStores } from "../harness/s3_store.ts";
import { StoreProxy } from "../harness/s3_proxy.ts";
import { digestOf, manyBytes, NEVER, openMover, Storing } from "./s3_opened.ts";

const stores = await openStores();
const BIG = 2 * PART_BYTES + 5;

async function failure(work: Promise<unknown>): Promise<ConnectorError> {
  const error = await work.then(() => undefined, (error) => error);
  assert.ok(error instanceof ConnectorError, String(error));
  return error;
}

for (const store of stores) {
  const test = (title: string, work: () => Promise<void>) => Deno.test(`${title} (${store.name})`, work);

  test("nothing is visible before the commit, small or large, and all is after it", async () => {
    const mover = openMover(store);
    await using storing = await Storing.begin(mover, store, { prefix: "v/", format: "csv" });
    await storing.file("a/small.csv", "a\n1\n");
    await storing.file("empty.csv", "");
    await storing.file("large.csv", manyBytes(BIG));
    assert.deepEqual(await store.keys("v/"), []);
    assert.deepEqual(await storing.commit(), { files: 3, bytes: BIG + 4 });
    assert.deepEqual(await store.keys("v/"), ["v/a/small.csv", "v/empty.csv", "v/large.csv"]);
    assert.equal(await store.text("v/a/small.csv"), "a\n1\n");
    assert.equal(digestOf(await store.get("v/large.csv")), digestOf(manyBytes(BIG)));
    assert.equal((await store.headers("v/large.csv")).get("content-type"), "text/csv");
    assert.deepEqual([await store.uploads(), storing.failures, await storing.hasJournal()], [[], [], false]);
  });

  test("the parts of a file that grows are sent while it does, and the journal names the upload", async () => {
    const bytes = manyBytes(BIG);
    const sent = Promise.withResolvers<void>();
    await using proxy = new StoreProxy(store, ({ query }) => {
      if (query.get("partNumber") === "2") sent.resolve();
      return undefined;
    });
    const labels: string[] = [];
    const mover = openMover(proxy.store, labels);
    await using storing = await Storing.begin(mover, store, { key: "grow/x.csv", format: "csv" });
    await storing.file("x.csv", bytes, { bytes: 100, isWhole: false });
    assert.deepEqual(labels, []);
    await storing.file("x.csv", bytes, { bytes: BIG - 1, isWhole: false });
    await sent.promise;
    assert.deepEqual(await store.uploads(), ["grow/x.csv"]);
    assert.ok(await storing.hasJournal());
    await storing.file("x.csv", bytes);
    await storing.commit();
    assert.deepEqual(labels, [
      "list_uploads",
      "create_upload once",
      "put_part",
      "put_part",
      "put_part",
      "complete_upload",
    ]);
    assert.equal(proxy.seen.length, labels.length);
    assert.deepEqual(proxy.unsigned, []);
    assert.equal(digestOf(await store.get("grow/x.csv")), digestOf(bytes));
  });

  test("an abort leaves neither object nor upload nor journal, whatever is on its way", async () => {
    await store.put("abort/x.csv", "before");
    const mover = openMover(store);
    await using storing = await Storing.begin(mover, store, { key: "abort/x.csv", format: "csv" });
    await storing.file("x.csv", manyBytes(BIG));
    await storing.session.abort();
    assert.deepEqual([await store.uploads(), await storing.hasJournal()], [[], false]);
    await using early = await Storing.begin(mover, store, { key: "abort/x.csv", format: "csv" });
    await early.session.abort();
    assert.equal(await store.text("abort/x.csv"), "before");
  });

  test("a replace of a folder deletes what else stands below it, after the new objects stand", async () => {
    for (const key of ["r/out/old.csv", "r/out/k=1/a.csv", "r/out2/other.csv", "r/out.csv"]) {
      await store.put(key, "old");
    }
    await using proxy = new StoreProxy(store, () => undefined);
    const mover = openMover(proxy.store);
    await using storing = await Storing.begin(mover, store, { prefix: "r/out/", clear: true, format: "csv" });
    await storing.file("k=1/a.csv", "new");
    await storing.file("k=2/a.csv", "new");
    await storing.commit();
    assert.deepEqual(await store.keys("r/"), ["r/out.csv", "r/out/k=1/a.csv", "r/out/k=2/a.csv", "r/out2/other.csv"]);
    assert.equal(await store.text("r/out/k=1/a.csv"), "new");
    assert.deepEqual(proxy.seen.at(-1), "DELETE r/out/old.csv");
    assert.deepEqual(proxy.unsigned, []);
    await using empty = await Storing.begin(mover, store, { prefix: "r/out/", clear: true, format: "csv" });
    await empty.commit();
    assert.deepEqual(await store.keys("r/out/"), []);
  });

  test("a part that fails is told while nobody waits, and what arrives otherwise is noticed", async () => {
    for (
      const lie of [
        new Response("<Error><Code>AccessDenied</Code></Error>", { status: 403 }),
        new Response("", { headers: { etag: `"${"0".repeat(32)}"` } }),
      ]
    ) {
      await using proxy = new StoreProxy(store, ({ query }) => query.get("partNumber") === "2" ? lie : undefined);
      await using storing = await Storing.begin(openMover(proxy.store), store, { key: "bad/x.csv", format: "csv" });
      await storing.file("x.csv", manyBytes(BIG));
      const error = await failure(storing.commit());
      assert.match(error.message, lie.status === 403 ? /AccessDenied/ : /got other bytes than were sent/);
      assert.equal(error.transient, lie.status !== 403);
      assert.equal(storing.failures[0] instanceof ConnectorError && storing.failures[0].message, error.message);
      assert.deepEqual([await store.keys("bad/"), await store.uploads(), await storing.hasJournal()], [[], [], false]);
    }
  });

  test("a completion whose answer is lost is asked for again, and the object proves that it was done", async () => {
    let completions = 0;
    await using proxy = new StoreProxy(store, ({ method, query }) => {
      if (method !== "POST" || !query.has("uploadId")) return undefined;
      return async (answer) => {
        completions++;
        const body = await answer.text();
        return completions === 1
          ? new Response("<Error><Code>InternalError</Code></Error>", { status: 500 })
          : new Response(body, { status: answer.status });
      };
    });
    const retrying = openMover(proxy.store, [], 1);
    await using storing = await Storing.begin(retrying, store, { key: "lost/x.csv", format: "csv" });
    await storing.file("x.csv", manyBytes(BIG));
    assert.deepEqual(await storing.commit(), { files: 1, bytes: BIG });
    assert.equal(completions, 2);
    assert.equal(digestOf(await store.get("lost/x.csv")), digestOf(manyBytes(BIG)));
    assert.deepEqual(await store.uploads(), []);
  });

  test("a completion that fails behind a good status is a failure, of which nobody knows the outcome", async () => {
    await using proxy = new StoreProxy(
      store,
      ({ method, query }) =>
        method === "POST" && query.has("uploadId")
          ? new Response(
            `<?xml version="1.0"?>\n<Error><Code>InternalError</Code><Message>We failed.</Message></Error>`,
          )
          : undefined,
    );
    await using storing = await Storing.begin(openMover(proxy.store), store, { key: "late/x.csv", format: "csv" });
    await storing.file("x.csv", manyBytes(BIG));
    const error = await failure(storing.commit());
    assert.match(error.message, /We failed\. \(InternalError, status 200\)/);
    assert.deepEqual([error.transient, error.outcomeUnknown], [true, undefined]);
    assert.deepEqual([await store.keys("late/"), await store.uploads()], [[], []]);
  });

  test("a sweep ends the uploads that journals name, and none of others", async () => {
    const other = await store.beginUpload("sweep/x.csv");
    const mover = openMover(store);
    await using storing = await Storing.begin(mover, store, { key: "sweep/x.csv", format: "csv" });
    const own = await store.beginUpload("sweep/x.csv");
    const unknown = await store.beginUpload("sweep/y.csv");
    const lines = [
      { bucket: store.bucket, key: "sweep/x.csv", before: [other] },
      { bucket: store.bucket, key: "sweep/x.csv", id: own },
      { bucket: store.bucket, key: "sweep/y.csv", before: [] },
    ];
    await Deno.writeTextFile(storing.journal, `${lines.map((line) => JSON.stringify(line)).join("\n")}\n{"bucket":"x`);
    await mover.sweep([storing.journal, `${storing.journal}-that-is-not-there`], NEVER);
    assert.deepEqual(await store.uploads(), ["sweep/x.csv"]);
    assert.equal(await storing.hasJournal(), false);
    assert.notEqual(unknown, "");
    await mover.sweep([storing.journal], NEVER);
    await Deno.writeTextFile(storing.journal, JSON.stringify({ bucket: store.bucket, key: "sweep/x.csv", id: other }));
    await mover.sweep([storing.journal], NEVER);
    assert.deepEqual(await store.uploads(), []);
  });

  test("an access key that may not list uploads can write all the same", async () => {
    await using proxy = new StoreProxy(
      store,
      ({ method, query }) =>
        method === "GET" && query.has("uploads")
          ? new Response("<Error><Code>AccessDenied</Code></Error>", { status: 403 })
          : undefined,
    );
    await using storing = await Storing.begin(openMover(proxy.store), store, { key: "few/x.csv", format: "csv" });
    await storing.file("x.csv", manyBytes(BIG));
    await storing.commit();
    assert.deepEqual(await store.keys("few/"), ["few/x.csv"]);
  });
}
