import assert from "node:assert/strict";
import { toConnectorError } from "../../../../src/connectors/sdk/mod.ts";

function systemError(message: string, members: object): Error {
  return Object.assign(new Error(message), members);
}

const CASES: readonly (readonly [error: Error, permission: string, target: string])[] = [
  [
    new Deno.errors.NotCapable('Requires read access to "/etc/x", run again with the --allow-read flag'),
    "read",
    "/etc/x",
  ],
  [new Deno.errors.NotCapable("Requires run access, run again with the --allow-run flag"), "run", ""],
  [new Deno.errors.NotCapable("Deno.symlinkSync() requires unscoped --allow-read and --allow-write"), "read", ""],
  [new TypeError('Requires import access to "h:1", run again with the --allow-import flag'), "import", "h:1"],
  [new Deno.errors.PermissionDenied("Permission denied (os error 13): readfile '/a/b'"), "file", "/a/b"],
  [new Deno.errors.PermissionDenied("Permission denied (os error 13)"), "system", ""],
  [systemError("EACCES: permission denied, open '/a b'", { code: "EACCES", syscall: "open" }), "file", "/a b"],
  [systemError("getaddrinfo EPERM db", { code: "EPERM", syscall: "getaddrinfo", hostname: "db" }), "net", "db"],
  [systemError("connect EACCES", { code: "EACCES", syscall: "connect", address: "10.0.0.1" }), "net", "10.0.0.1"],
  [
    new Error("wrapped", { cause: new Deno.errors.NotCapable('Requires env access to "A", run again with') }),
    "env",
    "A",
  ],
];

for (const [error, permission, target] of CASES) {
  Deno.test(`a refusal is told as permission and target: ${error.message.slice(0, 60)}`, () => {
    const told = toConnectorError(error);
    assert.equal(told.code, "PZ0740");
    assert.equal(told.transient, false);
    assert.deepEqual(told.denied, { permission, target });
  });
}

Deno.test("an error that only looks like a refusal is none", () => {
  for (const error of [new TypeError("x is not a function"), new Error("Requires read access to nothing")]) {
    assert.equal(toConnectorError(error).denied, undefined);
  }
});
