import assert from "node:assert/strict";
import type { Grant } from "../../../../src/connectors/mod.ts";
import { landlockRules, type ProgramPlaces } from "../../../../src/connectors/host/landlock_rules.ts";
import { whyMissing } from "../../../../src/connectors/host/landlock.ts";
import { SystemCallError } from "../../../../src/connectors/host/landlock_calls.ts";

const NOTHING: Grant = { net: [], read: [], write: [], env: [] };
const EXECUTE = 1n;
const READ_FILE = 4n;
const WRITE_FILE = 2n;
const READ = 12n;

const FOLDERS = ["/data", "/out", "/lib/x64", "/proc/self", "/etc/ssl/certs", "/sys/fs/cgroup", "/src"];
const FILES = ["/bin/pz", "/lib/x64/ld-linux.so.2", "/lib/x64/libc.so.6", "/dev/null", "/etc/hosts", "/data/a.db"];

const PROGRAM: ProgramPlaces = {
  executable: "/bin/pz",
  mapped: ["/bin/pz", "/lib/x64/libc.so.6", "/lib/x64/ld-linux.so.2", "/usr/share/locale/x"],
  sources: [],
  kindOf: (path) => FOLDERS.includes(path) ? "folder" : FILES.includes(path) ? "file" : undefined,
};

function rightsOf(grant: Partial<Grant>, path: string, abi = 7, program = PROGRAM): bigint | undefined {
  const found = landlockRules({ ...NOTHING, ...grant }, abi, program).paths.filter((rule) => rule.path === path);
  return found.length === 0 ? undefined : found.reduce((sum, { rights }) => sum | rights, 0n);
}

Deno.test("each version of Landlock is asked for the rights that it knows, and no more", () => {
  const handled = (abi: number) => landlockRules(NOTHING, abi, PROGRAM).handled;
  const bits = (abi: number) => handled(abi).files.toString(2).length;
  assert.deepEqual([1, 2, 3, 4, 5, 6, 7].map(bits), [13, 14, 15, 15, 16, 16, 16]);
  assert.deepEqual([1, 2, 3, 4, 5, 6, 7].map((abi) => handled(abi).tcp), [0n, 0n, 0n, 3n, 3n, 3n, 3n]);
  assert.deepEqual([1, 5, 6, 7].map((abi) => handled(abi).scopes), [0n, 0n, 3n, 3n]);
});

Deno.test("no rule has a right that the version does not handle, or that a file does not have", () => {
  const grant = { net: ["db:5432"], read: ["/data", "/data/a.db"], write: ["/out", "/data/a.db"], env: [] };
  for (let abi = 1; abi <= 7; abi++) {
    const { handled, paths } = landlockRules(grant, abi, PROGRAM);
    for (const { path, rights } of paths) {
      assert.equal(rights & ~handled.files, 0n, path);
      assert.notEqual(rights, 0n, path);
      if (FILES.includes(path)) assert.equal(rights & ~0b1100000000000111n, 0n, path);
    }
  }
});

Deno.test("only the program and its loader may be executed", () => {
  const { paths } = landlockRules({ ...NOTHING, read: ["/data"], write: ["/out"] }, 7, PROGRAM);
  const executable = paths.filter(({ rights }) => (rights & EXECUTE) !== 0n).map(({ path }) => path);
  assert.deepEqual(executable, ["/bin/pz", "/lib/x64/ld-linux.so.2"]);
});

Deno.test("a granted path is read or written, never both for one grant", () => {
  assert.equal(rightsOf({ read: ["/data"] }, "/data"), READ);
  assert.equal(rightsOf({ read: ["/data/a.db"] }, "/data/a.db"), READ_FILE);
  const write = rightsOf({ write: ["/out"] }, "/out") ?? 0n;
  assert.equal(write & READ, 0n);
  assert.equal(write & WRITE_FILE, WRITE_FILE);
  for (const bit of [6n, 9n, 10n, 11n, 12n]) {
    assert.equal(write & (1n << bit), 0n, "no devices, sockets, pipes or links");
  }
  assert.equal(rightsOf({}, "/data"), undefined);
});

Deno.test("a path to write that is not there yet opens the nearest folder above it, a path to read none", () => {
  assert.equal((rightsOf({ write: ["/out/a/b.csv"] }, "/out") ?? 0n) & WRITE_FILE, WRITE_FILE);
  assert.equal(rightsOf({ read: ["/out/a/b.csv"] }, "/out"), undefined);
  const both = { read: ["/out/new.db"], write: ["/out/new.db"] };
  assert.equal((rightsOf(both, "/out") ?? 0n) & READ, READ);
  assert.deepEqual(rightsOf({ write: ["/elsewhere/x"] }, "/"), undefined, "never all of the file system");
});

Deno.test("the ports of a grant are allowed, and that of name service where a host is a name", () => {
  const ports = (...net: string[]) => landlockRules({ ...NOTHING, net }, 7, PROGRAM).ports;
  assert.deepEqual(ports("10.0.0.1:5432", "[::1]:3306"), [3306, 5432]);
  assert.deepEqual(ports("db.example:5432"), [53, 5432]);
  assert.deepEqual(ports(), []);
});

Deno.test("a host with all of its ports leaves connections to the runtime, and still nothing listens", () => {
  for (const host of ["db.example", "[::1]"]) {
    const { handled, ports } = landlockRules({ ...NOTHING, net: [host, "other:1"] }, 7, PROGRAM);
    assert.equal(handled.tcp, 1n);
    assert.deepEqual(ports, []);
  }
});

Deno.test("certificates and names are readable only with a grant for the network", () => {
  assert.equal(rightsOf({}, "/etc/hosts"), undefined);
  assert.equal(rightsOf({ net: ["db:1"] }, "/etc/hosts"), READ_FILE);
  assert.equal(rightsOf({ net: ["db:1"] }, "/etc/ssl/certs"), READ);
});

Deno.test("sources are readable where there are any", () => {
  assert.equal(rightsOf({}, "/src"), undefined);
  assert.equal(rightsOf({}, "/src", 7, { ...PROGRAM, sources: ["/src"] }), READ);
});

Deno.test("why there is no Landlock is told by the error's number", () => {
  assert.match(whyMissing(new SystemCallError("x", 38)), /this kernel has no Landlock/);
  assert.match(whyMissing(new SystemCallError("x", 95)), /switched off/);
  assert.match(whyMissing(new SystemCallError("landlock_restrict_self", 1)), /does not allow .*landlock_restrict_self/);
  assert.match(whyMissing(new Error("no libc")), /no libc/);
});
