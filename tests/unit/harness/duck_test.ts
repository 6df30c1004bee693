import assert from "node:assert/strict";
import { Duck } from "../../harness/duck.ts";

Deno.test("relations are the same only with the same types and the same rows, each as often", async () => {
  using duck = await Duck.open();
  await duck.assertSame(
    "SELECT * FROM (VALUES (1, 'a'), (2, NULL)) t(i, s)",
    "SELECT * FROM (VALUES (2, NULL), (1, 'a')) t(i, s)",
  );
  await assert.rejects(duck.assertSame("SELECT 1 AS i", "SELECT 1::BIGINT AS i"));
  await assert.rejects(duck.assertSame("SELECT 1 AS i", "SELECT 2 AS i"));
  await assert.rejects(duck.assertSame("SELECT unnest([1, 1]) AS i", "SELECT unnest([1]) AS i"));
  await assert.rejects(duck.assertSame("SELECT unnest([1]) AS i", "SELECT unnest([1, 1]) AS i"));
});
