import assert from "node:assert/strict";
import { join } from "node:path";
import { listFiles, TempDir } from "../../harness/temp_dir.ts";
import { checksumsOf, type Release, ReleaseServer } from "./release_server.ts";

const SCRIPT = new URL("../../../install.sh", import.meta.url);
const TOOLS = ["sh", "cat", "chmod", "cut", "grep", "mkdir", "mktemp", "mv", "rm", "sleep"];
const onUnix = { ignore: Deno.build.os === "windows" };
const withWget = { ignore: Deno.build.os === "windows" || toolPath("wget") === undefined };
const withShellcheck = { ignore: Deno.build.os === "windows" || toolPath("shellcheck") === undefined };

const PROGRAM = `#!/bin/sh\necho 1.2.3\n`;
const NAME = "pz-1.2.3-linux-x64";
const SUMS = checksumsOf({ "pz-1.2.3-darwin-arm64": "other", [NAME]: PROGRAM, "pz-1.2.3-win32-x64.exe": "other" });
const NEWEST: Release = { "/latest/download/SHA256SUMS": SUMS, [`/latest/download/${NAME}`]: PROGRAM };

type Machine = {
  readonly system?: string;
  readonly processor?: string;
  readonly libc?: string;
  readonly tools?: readonly string[];
  readonly args?: readonly string[];
  readonly script?: string;
  readonly env?: { readonly [name: string]: string };
};

type Outcome = { readonly code: number; readonly stdout: string; readonly stderr: string };

/** Installs from a release server into `bin` of a folder, on a machine that has only the tools named. */
async function install(temp: TempDir, release: Release, machine: Machine = {}): Promise<Outcome> {
  const tools = await Deno.makeTempDir({ dir: temp.path, prefix: "tools-" });
  for (const name of [...TOOLS, ...machine.tools ?? ["curl", "sha256sum"]]) {
    const path = toolPath(name) ?? (name === "sha256sum" ? toolPath("shasum") : undefined);
    assert.ok(path !== undefined, `this machine has no ${name}`);
    await Deno.symlink(path, join(tools, path.split("/").at(-1) ?? name));
  }
  const { system = "Linux", processor = "x86_64", libc = "ldd (GNU libc) 2.36" } = machine;
  await writeTool(join(tools, "uname"), `if [ "$1" = -m ]; then echo ${processor}; else echo ${system}; fi`);
  await writeTool(join(tools, "ldd"), `echo '${libc}' >&2; exit 1`);
  await using server = new ReleaseServer(release);
  const { code, stdout, stderr } = await new Deno.Command(toolPath("sh") ?? "sh", {
    args: [machine.script ?? SCRIPT.pathname, ...machine.args ?? []],
    cwd: temp.path,
    clearEnv: true,
    env: {
      PATH: tools,
      PZ_BASE_URL: server.address,
      PZ_INSTALL_DIR: temp.join("bin"),
      no_proxy: "127.0.0.1",
      ...machine.env,
    },
    stdin: "null",
  }).output();
  await Deno.remove(tools, { recursive: true });
  const decoder = new TextDecoder();
  return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
}

async function writeTool(path: string, body: string): Promise<void> {
  await Deno.writeTextFile(path, `#!/bin/sh\n${body}\n`, { mode: 0o755 });
}

function toolPath(name: string): string | undefined {
  return (Deno.env.get("PATH") ?? "").split(":").map((folder) => join(folder, name)).find((path) => {
    try {
      return Deno.statSync(path).isFile;
    } catch {
      return false;
    }
  });
}

/** An earlier pz, which a failed installation must leave as it is. */
async function withOlder(temp: TempDir): Promise<void> {
  await Deno.mkdir(temp.join("bin"));
  await Deno.writeTextFile(temp.join("bin/pz"), "older");
}

async function assertOlderAlone(temp: TempDir): Promise<void> {
  assert.deepEqual(await listFiles(temp.path), ["bin/pz"]);
  assert.equal(await Deno.readTextFile(temp.join("bin/pz")), "older");
}

Deno.test("the newest release is installed for this machine, and the PATH is spoken of", onUnix, async () => {
  await using temp = await TempDir.create();
  const outcome = await install(temp, NEWEST);
  assert.equal(outcome.code, 0, outcome.stderr);
  assert.equal(outcome.stderr, "");
  const [first, second] = outcome.stdout.split("\n");
  assert.equal(first, `pz 1.2.3 is installed as ${temp.join("bin/pz")}`);
  assert.match(second ?? "", /is not on your PATH; add this to your shell's profile: export PATH=/);
  assert.deepEqual(await listFiles(temp.path), ["bin/pz"]);
  assert.equal(await Deno.readTextFile(temp.join("bin/pz")), PROGRAM);
  assert.equal(((await Deno.stat(temp.join("bin/pz"))).mode ?? 0) & 0o777, 0o755);
});

Deno.test("a named version is installed in place of an older one, with wget", withWget, async () => {
  for (const machine of [{ args: ["v1.2.3"] }, { env: { PZ_VERSION: "1.2.3" } }]) {
    await using temp = await TempDir.create();
    await withOlder(temp);
    const release = { "/download/v1.2.3/SHA256SUMS": SUMS, [`/download/v1.2.3/${NAME}`]: PROGRAM };
    const outcome = await install(temp, release, { tools: ["wget", "sha256sum"], ...machine });
    assert.equal(outcome.code, 0, outcome.stderr);
    assert.equal(await Deno.readTextFile(temp.join("bin/pz")), PROGRAM);
    assert.deepEqual(await listFiles(temp.path), ["bin/pz"]);
  }
});

Deno.test("without PZ_INSTALL_DIR it goes to .local/bin of the home; without a home it says so", onUnix, async () => {
  await using temp = await TempDir.create();
  const outcome = await install(temp, NEWEST, { env: { PZ_INSTALL_DIR: "", HOME: temp.path } });
  assert.equal(outcome.code, 0, outcome.stderr);
  assert.deepEqual(await listFiles(temp.path), [".local/bin/pz"]);
  const homeless = await install(temp, NEWEST, { env: { PZ_INSTALL_DIR: "" } });
  assert.equal(homeless.code, 1);
  assert.match(homeless.stderr, /^pz was not installed: there is no HOME to install it in\nhint: set PZ_INSTALL_DIR/);
});

for (
  const [title, answer] of [
    ["another content", "#!/bin/sh\necho evil\n"],
    ["a part of the content", PROGRAM.slice(0, 12)],
    ["nothing at all", ""],
  ] as const
) {
  Deno.test(`a file that arrives with ${title} is not installed`, onUnix, async () => {
    await using temp = await TempDir.create();
    await withOlder(temp);
    const outcome = await install(temp, { ...NEWEST, [`/latest/download/${NAME}`]: answer });
    assert.equal(outcome.code, 1);
    assert.match(outcome.stderr, /^pz was not installed: pz-1\.2\.3-linux-x64 arrived damaged: its SHA-256 is /);
    assert.match(outcome.stderr, /\nhint: run this again/);
    assert.equal(outcome.stdout, "");
    await assertOlderAlone(temp);
  });
}

Deno.test("a download that breaks off is not installed", onUnix, async () => {
  await using temp = await TempDir.create();
  await withOlder(temp);
  const broken = () => {
    const body = new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode(PROGRAM.slice(0, 12))),
      pull: (controller) => controller.error(new Error("the test breaks this download off")),
    });
    return new Response(body, { headers: { "content-length": String(PROGRAM.length) } });
  };
  const outcome = await install(temp, { ...NEWEST, [`/latest/download/${NAME}`]: broken });
  assert.equal(outcome.code, 1);
  assert.match(outcome.stderr, /pz was not installed: can't download http:\/\/127\.0\.0\.1:\d+\/latest\/download\/pz-/);
  await assertOlderAlone(temp);
});

for (
  const [title, machine, message] of [
    ["with musl", { libc: "musl libc (x86_64)" }, /this system has musl .* pz needs glibc\nhint: .*bookworm-slim/],
    ["of another processor", { processor: "riscv64" }, /there is no pz for Linux on riscv64\nhint: pz is built for/],
    ["of another system", { system: "FreeBSD", processor: "amd64" }, /there is no pz for FreeBSD on amd64\nhint: /],
    ["without curl and wget", { tools: ["sha256sum"] }, /there is neither curl nor wget .*\nhint: install one of them/],
    ["without a program for checksums", { tools: ["curl"] }, /there is no sha256sum, shasum or openssl/],
  ] as const
) {
  Deno.test(`a machine ${title} is told what it lacks`, onUnix, async () => {
    await using temp = await TempDir.create();
    await withOlder(temp);
    const outcome = await install(temp, NEWEST, machine);
    assert.equal(outcome.code, 1, outcome.stdout);
    assert.match(outcome.stderr, message);
    assert.match(outcome.stderr, /^pz was not installed: /);
    await assertOlderAlone(temp);
  });
}

Deno.test("what is missing in the release is named", onUnix, async () => {
  await using temp = await TempDir.create();
  await withOlder(temp);
  const unknown = await install(temp, NEWEST, { args: ["9.9.9"] });
  assert.match(unknown.stderr, /can't download http:\/\/127\.0\.0\.1:\d+\/download\/v9\.9\.9\/SHA256SUMS\nhint: /);
  const unnamed = await install(temp, NEWEST, { processor: "aarch64" });
  assert.match(unnamed.stderr, /SHA256SUMS doesn't name one file for linux-arm64\nhint: /);
  for (const { code } of [unknown, unnamed]) assert.equal(code, 1);
  await assertOlderAlone(temp);
});

Deno.test("a file in place of the folder, or a folder in place of the file, is left alone", onUnix, async () => {
  await using temp = await TempDir.create();
  await Deno.writeTextFile(temp.join("bin"), "a file");
  const noFolder = await install(temp, NEWEST);
  assert.equal(noFolder.code, 1);
  assert.match(noFolder.stderr, /bin' can't be made\nhint: set PZ_INSTALL_DIR/);
  assert.equal(await Deno.readTextFile(temp.join("bin")), "a file");
  await Deno.remove(temp.join("bin"));
  await Deno.mkdir(temp.join("bin/pz"), { recursive: true });
  const noFile = await install(temp, NEWEST);
  assert.equal(noFile.code, 1);
  assert.match(noFile.stderr, /bin\/pz' is a folder\nhint: /);
});

Deno.test("a program that doesn't start here is not installed", onUnix, async () => {
  await using temp = await TempDir.create();
  await withOlder(temp);
  const program = `#!/bin/sh\necho "version GLIBC_2.28 not found" >&2\nexit 1\n`;
  const outcome = await install(temp, {
    "/latest/download/SHA256SUMS": checksumsOf({ [NAME]: program }),
    [`/latest/download/${NAME}`]: program,
  });
  assert.equal(outcome.code, 1);
  assert.match(
    outcome.stderr,
    /pz-1\.2\.3-linux-x64 doesn't start here: version GLIBC_2\.28 not found\nhint: it needs/,
  );
  await assertOlderAlone(temp);
});

Deno.test("a script of which only a part arrived does nothing", onUnix, async () => {
  await using temp = await TempDir.create();
  const lines = (await Deno.readTextFile(SCRIPT)).split("\n");
  for (const part of [0.5, 0.8, 0.97]) {
    const script = temp.join("part.sh");
    await Deno.writeTextFile(script, lines.slice(0, Math.floor(lines.length * part)).join("\n"));
    const { stdout } = await install(temp, NEWEST, { script });
    assert.equal(stdout, "");
    assert.deepEqual(await listFiles(temp.path), ["part.sh"]);
  }
});

Deno.test("the script is plain POSIX without a finding of shellcheck (needs shellcheck)", withShellcheck, async () => {
  const { code, stdout } = await new Deno.Command("shellcheck", { args: ["-s", "sh", SCRIPT.pathname] }).output();
  assert.equal(code, 0, new TextDecoder().decode(stdout));
});
