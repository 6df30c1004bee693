import assert from "node:assert/strict";
import { ConnectorError } from "../../../../src/connectors/mod.ts";
import { PackageError, toConnectorError } from "../../../../src/connectors/sdk/mod.ts";

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

Deno.test("a refusal that a connector wraps into its own errors is still told as one", () => {
  const denied = new Deno.errors.NotCapable(
    'Requires read access to "/etc/passwd", run again with the --allow-read flag',
  );
  const inner = new ConnectorError("not there", { transient: true, hint: "see the option path", cause: denied });
  const commit = new ConnectorError("not published", { transient: false, outcomeUnknown: false, cause: inner });
  const told = toConnectorError(commit);
  assert.deepEqual(told.denied, { permission: "read", target: "/etc/passwd" });
  assert.deepEqual([told.code, told.transient, told.hint, told.outcomeUnknown], ["PZ0740", false, undefined, false]);
  const several = new AggregateError([new Error("refused"), denied], "no way");
  assert.equal(toConnectorError(new ConnectorError("x", { transient: true, cause: several })).code, "PZ0740");
});

Deno.test("causes that lead in a circle end, and what the user may not do is told as pz's own connectors tell it", () => {
  const circle = new Error("round");
  circle.cause = circle;
  const told = new ConnectorError("mine", { transient: true, cause: circle });
  assert.equal(toConnectorError(told), told);
  const byUser = systemError("EACCES: permission denied, open '/a'", { code: "EACCES", syscall: "open" });
  const wrapped = new ConnectorError("The file can't be opened", { transient: false, cause: byUser });
  assert.equal(toConnectorError(wrapped), wrapped);
  const ofPackage = new PackageError("The file can't be opened", { transient: false, cause: byUser });
  assert.deepEqual(toConnectorError(ofPackage).denied, { permission: "file", target: "/a" });
});
