import assert from "node:assert/strict";
import { shownUrl } from "../../../../src/connectors/packages/registry.ts";

Deno.test("a registry's address is shown without its credentials, whether it is a URL or not", () => {
  for (
    const [url, shown] of [
      ["https://user:SECRET@reg.example/", "https://reg.example"],
      ["https://reg.example/npm/?token=SECRET#SECRET", "https://reg.example/npm/"],
      ["https://user:SECRET@127.0.0.1:99999/lodash", "127.0.0.1:99999/lodash"],
      ["http://user:SECRET@", ""],
      ["user:SECRET@reg.example/lodash", "reg.example/lodash"],
      ["ftp://user:SE@CRET@reg.example?SECRET", "reg.example"],
    ] as const
  ) {
    assert.equal(shownUrl(url), shown);
  }
});
