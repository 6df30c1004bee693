import assert from "node:assert/strict";
import { RequestError, toTrouble } from "../../../../src/connectors/builtin/http/trouble.ts";

/** What becomes of what the runtime says about a request. */
function told(message: string): readonly [string, transient: boolean, mayHaveLanded: boolean] {
  const url = "https://tls.example.com/certificate/gzip?parse=HTTP%20version";
  const error = toTrouble(new TypeError("fetch failed", { cause: new Error(message.replace("<url>", url)) }), "GET /x");
  if (!(error instanceof RequestError)) throw error;
  assert.ok(!error.message.includes("example"), error.message);
  return [error.message.replace("GET /x failed: ", ""), error.transient, error.mayHaveLanded];
}

Deno.test("what the runtime says is told by what happened, whatever the address says", () => {
  const lost = ["the connection was lost", true, true];
  for (
    const message of [
      "error sending request for url (<url>): client error (SendRequest): connection closed before message completed",
      "error sending request from 127.0.0.1:1 for <url> (127.0.0.1:2): client error (SendRequest): connection error: reset",
      "error reading a body from connection",
    ]
  ) assert.deepEqual(told(message), lost, message);
  const unreached = (text: string) => told(`error sending request for url (<url>): client error (Connect): ${text}`);
  assert.deepEqual(unreached("tcp connect error: Connection refused (os error 111)"), [
    "the server refused the connection",
    true,
    false,
  ]);
  assert.deepEqual(unreached("tcp connect error: No route to host (os error 113)"), [
    "the server could not be reached",
    true,
    false,
  ]);
  assert.deepEqual(unreached("tls handshake eof"), ["the server could not be reached", true, false]);
  for (
    const reason of ["invalid peer certificate: UnknownIssuer", "received corrupt message of type InvalidContentType"]
  ) {
    assert.deepEqual(unreached(reason), ["no secure connection could be made", false, false], reason);
  }
  const dns = "dns error: failed to lookup address information";
  assert.deepEqual(unreached(`${dns}: Name or service not known`), ["there is no host of that name", false, false]);
  assert.deepEqual(unreached(`${dns}: Temporary failure in name resolution`), [
    "the name of its host can't be looked up now",
    true,
    false,
  ]);
});

Deno.test("the runtime's refusal of a permission passes as it is", () => {
  const refusal = new TypeError("fetch failed", { cause: new Deno.errors.NotCapable("Requires net access") });
  assert.equal(toTrouble(refusal, "GET /x"), refusal);
});
