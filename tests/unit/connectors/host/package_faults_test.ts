import assert from "node:assert/strict";
import { codeOf, openPackage, readAll, SPEC } from "./package_support.ts";
import { failureOf, NEVER } from "./served_support.ts";

const SIGNALS = { ignore: Deno.build.os === "windows" };

for (
  const [place, code, request] of [
    ["the module", codeOf({ top: "for (;;) {}" }), /has not answered the request Handshake for 1.5 s/],
    ["open", codeOf({ open: "for (;;) {}" }), /has not answered the request Configure for 1.5 s/],
  ] as const
) {
  Deno.test(`a connector that never comes back from ${place} is ended in time, by its name`, SIGNALS, async () => {
    await using session = openPackage(code, { patience: { handshakeMs: 1500, shutdownMs: 100 } });
    const error = await failureOf(session.planRead(SPEC, NEVER));
    assert.match(error.message, /^The process of connector "maildir" for connection "mail" has not/);
    assert.match(error.message, request);
    assert.equal(error.code, "PZ0356");
    assert.match(error.hint ?? "", /without a pause/);
  });
}

Deno.test("a read that never pauses is found out, and the process ended", SIGNALS, async () => {
  const code = codeOf({ read: "async *read() { for (;;) {} }," });
  await using session = openPackage(code, { patience: { pingMs: 100, spinMs: 800, shutdownMs: 100 } });
  const error = await failureOf(readAll(session));
  assert.match(error.message, /"maildir" for connection "mail" has been busy without a pause for 0.8 s/);
  assert.deepEqual([error.code, error.transient], ["PZ0358", false]);
  assert.match(error.hint ?? "", /await/);
});

Deno.test("a read that waits long for something is not taken for one that never pauses", async () => {
  const code = codeOf({ read: "async *read() { await new Promise((done) => setTimeout(done, 1500)); }," });
  await using session = openPackage(code, { patience: { pingMs: 50, spinMs: 700 } });
  assert.equal(await readAll(session), 0);
});

Deno.test("what a connector throws unexpectedly names it, its connection and the place in its code", async () => {
  const read = `async *read() {
    const builder = new BatchBuilder(SCHEMA);
    throw new Error("boom at 30");
  },`;
  await using session = openPackage(codeOf({ read }));
  const error = await failureOf(readAll(session));
  assert.match(
    error.message,
    /^Connector 'maildir' of connection 'mail' failed unexpectedly: Error: boom at 30 \(connector\.js:8:11\)$/,
  );
  assert.equal(error.hint, "a bug of connector 'maildir'; throw a ConnectorError for what a user can mend");
  assert.equal(error.transient, false);
});

Deno.test("a value of the wrong type names column, kind and place, and not itself", async () => {
  const read = `async *read() {
    const builder = new BatchBuilder(SCHEMA);
    builder.append(["hunter2"]);
  },`;
  await using session = openPackage(codeOf({ read }));
  assert.match(
    (await failureOf(readAll(session))).message,
    /failed unexpectedly: TypeError: Column "size_bytes": a text does not fit BIGINT \(Int64\) \(connector\.js:8:13\)$/,
  );
});

for (
  const [what, code, message] of [
    ["no read", codeOf({ read: "async *raed() {}," }), /Connector 'maildir': its source has no function 'read'$/],
    ["no plan", codeOf({ plan: "" }), /Connector 'maildir': its source has no function 'plan'$/],
    ["no begin", codeOf({ sink: "sink: { abortSemantics: 'none' }" }), /its sink has no function 'begin'$/],
    ["a check that is none", codeOf({ sink: "check: true" }), /'check' is no function$/],
    ["an open that gives nothing", codeOf({ open: "return;" }), /its open\(\) gave undefined: expected an object/],
    ["an open that promises", codeOf({ open: "return Promise.resolve({});" }), /its open\(\) gave a promise/],
    ["a read that gives nothing", codeOf({ read: "read() {}," }), /its source's read\(\) gave undefined: expected/],
    ["a plan that gives nothing", codeOf({ plan: "async plan() {}," }), /its source's plan\(\) gave undefined/],
    ["no connector", "export const conector = {};", /its code exports no "connector"$/],
    ["no function open", `export const connector = { name: "maildir", version: "1", capabilities: [] };`, /"open"/],
    ["no name", `export const connector = { version: "1", capabilities: [], open() {} };`, /has no text "name"/],
    [
      "a capability that is none",
      `export const connector = { name: "m", version: "1", capabilities: ["Fly"], open() {} };`,
      /"capabilities" .*"Fly"/,
    ],
    ["code that throws", `throw new Error("at once");`, /its code can't be loaded: Error: at once/],
  ] as const
) {
  Deno.test(`a connector with ${what} is refused for good, in words`, async () => {
    await using session = openPackage(code);
    const error = await failureOf(readAll(session));
    assert.match(error.message, message);
    assert.equal(error.transient, false);
  });
}

Deno.test("what a connector writes to its standard output is logged, and its answers stay whole", async () => {
  const lines: string[] = [];
  const read = `async *read() {
    process.stdout.write("by process\\n");
    await new Promise((done) => process.stdout.write("by callback", done));
    Deno.stdout.writeSync(new TextEncoder().encode("by Deno\\n"));
    await Deno.stdout.write(new TextEncoder().encode("awaited"));
    const writer = Deno.stdout.writable.getWriter();
    await writer.write(new TextEncoder().encode("as a stream"));
  },`;
  const code = `import process from "node:process";\n${codeOf({ read })}`;
  {
    await using session = openPackage(code, { onLog: (level, message) => lines.push(`${level} ${message}`) });
    assert.equal(await readAll(session), 0);
  }
  const expected = ["by process", "by callback", "by Deno", "awaited", "as a stream"];
  assert.deepEqual(lines, expected.map((line) => `info ${line}`));
});

Deno.test("a connector that reads its standard input finds it empty, and takes no request away", async () => {
  const lines: string[] = [];
  const read = `async *read() {
    for await (const bytes of process.stdin) console.log("bytes", bytes.length);
    for await (const bytes of Deno.stdin.readable) console.log("bytes", bytes.length);
    console.log(Deno.stdin.readSync(new Uint8Array(1)), await Deno.stdin.read(new Uint8Array(1)));
  },`;
  const code = `import process from "node:process";\n${codeOf({ read })}`;
  {
    await using session = openPackage(code, { onLog: (_level, message) => lines.push(message) });
    for (let count = 0; count < 3; count++) assert.equal(await readAll(session), 0);
  }
  assert.deepEqual(lines, ["null null", "null null", "null null"]);
});

Deno.test("what a file's descriptor puts into the answers is told with what to use", async () => {
  const code = `import { writeSync } from "node:fs";\n${
    codeOf({ read: `async *read() { writeSync(1, "rows: 8888888888\\n"); },` })
  }`;
  await using session = openPackage(code);
  const error = await failureOf(readAll(session));
  assert.match(error.message, /broke the protocol with bytes that are no frame .*; did its code write to stdout\?/);
  assert.equal(error.hint, "use host.log or console.log: stdout belongs to pz");
});

Deno.test("capabilities that manifest and code tell differently are told by both places", async () => {
  const code = codeOf().replace("capabilities: []", `capabilities: ["Merge"]`);
  await using session = openPackage(code, { capabilities: new Set(["Transactional"]) });
  const error = await failureOf(readAll(session));
  assert.equal(
    error.message,
    "Connector 'maildir' tells its capabilities differently in two places: pz.connector.json names Transactional and " +
      "its code (connector.ts) does not; its code (connector.ts) names Merge and pz.connector.json does not",
  );
  assert.equal(error.hint, 'make "capabilities" the same in both, then run pz connector build');
  assert.deepEqual([error.code, error.transient], ["PZ0356", false]);
});

Deno.test("what the sandbox refuses is told as that, however a connector wraps it", async () => {
  for (
    const [attempt, permission] of [
      [`await readFile("/etc/passwd")`, "read"],
      [`await Deno.connect({ hostname: "127.0.0.1", port: 65000 })`, "net"],
      [`Deno.env.get("HOME")`, "env"],
    ] as const
  ) {
    const read = `async *read() {
      try { ${attempt}; } catch (cause) {
        throw new ConnectorError("not there", { transient: true, hint: "see path", cause: new Error("inner", { cause }) });
      }
    },`;
    await using session = openPackage(`import { readFile } from "node:fs/promises";\n${codeOf({ read })}`);
    const error = await failureOf(readAll(session));
    assert.deepEqual([error.code, error.denied?.permission, error.transient], ["PZ0740", permission, false]);
  }
});
