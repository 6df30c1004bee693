import assert from "node:assert/strict";
import { openStores } from "../harness/s3_store.ts";
import { startPz } from "../harness/cli.ts";
import { StoreProxy } from "../harness/s3_proxy.ts";
import { killAll, killStores, killWithinUpload, SCENES } from "./s3_kill_support.ts";
import { pzIn, storeProject } from "./s3_support.ts";

const stores = await openStores();
const KILLS = 3;

for (const store of stores) {
  for (const scene of SCENES) {
    Deno.test(`a write that is killed (${scene}) within an upload leaves no upload (${store.name})`, async () => {
      await killWithinUpload(store, scene);
    });
  }

  Deno.test(`writers that are killed leave the former object or the new one, and no upload (${store.name})`, async () => {
    const counts = await killStores(store, KILLS, Math.random);
    assert.equal(counts.landed + counts.notLanded, KILLS);
  });

  Deno.test(`an append that became visible unseen is not there twice after a retry (${store.name})`, async () => {
    const moment = Promise.withResolvers<void>();
    const over = Promise.withResolvers<void>();
    await using proxy = new StoreProxy(
      store,
      ({ method, key }) =>
        method === "PUT" && key.startsWith("unseen/")
          ? async (answer) => {
            moment.resolve();
            await over.promise;
            return answer;
          }
          : undefined,
    );
    const files = {
      "pipelines/p.sql": `INSERT INTO {{ sink('store', 'x', format: 'csv') }}\nSELECT 1 AS id\n`,
    };
    await using folder = await storeProject(proxy.store, "unseen", files);
    await using running = startPz(["run", "--all"], { cwd: folder.path, env: { S3_SECRET: store.secret } });
    await moment.promise;
    killAll(running.pid);
    await running.finish();
    over.resolve();
    const landed = await store.keys("unseen/");
    assert.equal(landed.length, 1);
    const retried = await pzIn(folder, store, "retry");
    assert.equal(retried.code, 0, String(retried));
    assert.deepEqual(await store.keys("unseen/"), landed);
  });
}
