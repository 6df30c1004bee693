import assert from "node:assert/strict";
import { systemLayer } from "../../src/connectors/host/landlock.ts";
import { ConnectorError, ConnectorSession, type DatasetSpec } from "../../src/connectors/mod.ts";
import { encodeMessage, PROTOCOL_MAJOR } from "../../src/connectors/protocol/messages.ts";
import { TempDir } from "../harness/temp_dir.ts";
import { type Attempt, KINDS } from "./sandbox/attempt.ts";
import { ATTEMPTS, HOSTILE } from "./sandbox/hostile.ts";
import { HOSTILE_BINARY, hostileCommand, outcomesConfined, outcomesOutside, Surroundings } from "./sandbox_support.ts";

const NEVER = new AbortController().signal;
const LAYER = systemLayer();
const IS_CONFINED = "landlock" in LAYER;
/** Behind the title of what the system can't do here. */
const LEFT_OUT = IS_CONFINED ? "" : ` (left out: ${LAYER.missing})`;
const WHERE = HOSTILE_BINARY === undefined ? "" : " of the binary";

Deno.test("what a hostile connector tries works outside of the sandbox: five of each kind, sixty in all", async () => {
  await using surroundings = await Surroundings.create();
  const outcomes = await outcomesOutside(surroundings.targets);
  const working = ATTEMPTS.filter((attempt) => outcomes[nameOf(attempt)] === null);
  for (const kind of KINDS) {
    const count = working.filter((attempt) => attempt.kind === kind).length;
    assert.ok(count >= 5, `${count} of ${kind}: ${JSON.stringify(outcomes, null, 1)}`);
  }
  assert.ok(working.length >= 60);
});

Deno.test(`nothing that a hostile connector tries gets it out of the sandbox${WHERE}`, async () => {
  await using surroundings = await Surroundings.create();
  await using hostile = await Hostile.open(surroundings);
  const escaped: string[] = [];
  const wrong: string[] = [];
  for (const attempt of ATTEMPTS.filter(({ only }) => only === undefined)) {
    const error = await hostile.fails(attempt);
    if (error === undefined) escaped.push(nameOf(attempt));
    else if (attempt.permission !== undefined && error.denied?.permission !== attempt.permission) {
      wrong.push(`${nameOf(attempt)}: ${error.code} ${error.message}`);
    } else if ((error.denied === undefined) === (error.code === "PZ0740")) wrong.push(`${nameOf(attempt)}: no code`);
  }
  assert.deepEqual({ escaped, wrong }, { escaped: [], wrong: [] });
  assert.deepEqual(await hostile.session.planRead(dataset({}), NEVER), [{ id: "idle" }]);
});

Deno.test(`no link in a granted folder leads out of it${WHERE}${LEFT_OUT}`, { ignore: !IS_CONFINED }, async () => {
  await using surroundings = await Surroundings.create();
  await using hostile = await Hostile.open(surroundings);
  for (const attempt of ATTEMPTS.filter((attempt) => attempt.only === "landlock" && isKnown(attempt))) {
    const error = await hostile.fails(attempt);
    assert.ok(error !== undefined, nameOf(attempt));
    if (attempt.kind === "symlinks") assert.equal(error.denied?.permission, "file", nameOf(attempt));
  }
});

/** Whether this version of Landlock can refuse it: it learned some things late. */
function isKnown({ kind, name }: Attempt): boolean {
  const version = "landlock" in LAYER ? LAYER.landlock : 0;
  return version >= (kind === "signals" ? 6 : kind === "hosts" ? 4 : /truncat/.test(name) ? 3 : 1);
}

const HOSTS_OPEN = [
  "a granted port by another name of its host",
  "a unix socket",
  "a unix socket by node:net",
  "UDP by node:dgram",
  "UDP by Deno.listenDatagram",
];

/** What the runtime would allow and the operating system alone refuses. */
const BY_SYSTEM: readonly (readonly [kind: Attempt["kind"], except: readonly string[]])[] = [
  // The kernel has no rules for what a file is like, only for what is in it.
  ["files", ["Deno.stat", "Deno.realPath", "Deno.watchFs", "Deno.chmod"]],
  ["symlinks", []],
  ["import", ["a module by HTTP"]],
  ["spawn", ["this program again"]],
  ["signals", ["os.setPriority"]],
  // Nor for hosts, datagrams and sockets of files.
  ["hosts", HOSTS_OPEN],
];

Deno.test(`the system's layer alone holds files, links, imports, programs, ports and signals${LEFT_OUT}`, {
  ignore: !IS_CONFINED,
}, async () => {
  await using surroundings = await Surroundings.create();
  const outcomes = await outcomesConfined(surroundings.targets);
  const escaped = BY_SYSTEM.flatMap(([kind, except]) =>
    ATTEMPTS.filter((attempt) => attempt.kind === kind && isKnown(attempt) && !except.includes(attempt.name)).map(
      nameOf,
    )
  ).filter((name) => outcomes[name] === null);
  assert.deepEqual(escaped, []);
  assert.equal(outcomes["files: Deno.stat"], null, "it did try");
});

for (
  const [abuse, pattern] of [
    ["memory", /ended unexpectedly/],
    ["exit", /ended unexpectedly.*the connector ended itself with exit code 7/],
    ["exit by node:process", /ended unexpectedly.*the connector ended itself with exit code 8/],
    ["close", /ended unexpectedly.*the connector ended itself/],
    ["flood stdout by its number", /broke the protocol/],
    ["a promise that nobody waits for", /ended unexpectedly.*left alone/],
  ] as const
) {
  Deno.test(`a connector that does this to its process fails alone: ${abuse}${WHERE}`, async () => {
    await using surroundings = await Surroundings.create();
    await using hostile = await Hostile.open(surroundings);
    const error = await failureOf(hostile.session.planRead(dataset({ abuse, then: "wait" }), NEVER));
    assert.match(error.message, pattern);
    assert.deepEqual(await hostile.session.planRead(dataset({}), NEVER), [{ id: "idle" }]);
  });
}

Deno.test(`a connector that never comes back is ended when nobody waits for it${WHERE}`, async () => {
  await using surroundings = await Surroundings.create();
  await using hostile = await Hostile.open(surroundings, { cancelMs: 300 });
  assert.deepEqual(await hostile.session.planRead(dataset({}), NEVER), [{ id: "idle" }]);
  const reason = new Error("too late");
  const stop = new AbortController();
  const planning = hostile.session.planRead(dataset({ abuse: "spin" }), stop.signal);
  stop.abort(reason);
  await assert.rejects(planning, reason);
  let answer: readonly unknown[] | undefined;
  while (answer === undefined) {
    answer = await hostile.session.planRead(dataset({}), NEVER).catch((error: unknown) => {
      assert.ok(error instanceof ConnectorError && error.transient, String(error));
      return undefined;
    });
  }
  assert.deepEqual(answer, [{ id: "idle" }]);
});

Deno.test(`a flood of error output is drained and only its end is kept${WHERE}`, async () => {
  await using surroundings = await Surroundings.create();
  await using hostile = await Hostile.open(surroundings);
  assert.deepEqual(await hostile.session.planRead(dataset({ abuse: "flood stderr" }), NEVER), [{ id: "idle" }]);
});

Deno.test(`a flood of output is logged in part, and the process answers on${WHERE}`, async () => {
  await using surroundings = await Surroundings.create();
  await using hostile = await Hostile.open(surroundings);
  assert.deepEqual(await hostile.session.planRead(dataset({ abuse: "flood stdout" }), NEVER), [{ id: "idle" }]);
});

Deno.test(`what is granted works: files, a port and a variable${WHERE}`, async () => {
  await using surroundings = await Surroundings.create();
  await using hostile = await Hostile.open(surroundings);
  const { targets } = surroundings;
  const spec = dataset({ abuse: "use", targets: JSON.stringify(targets) });
  assert.deepEqual(await hostile.session.planRead(spec, NEVER), [{ id: "idle" }]);
  assert.deepEqual(
    [...Deno.readDirSync(targets.granted)].filter(({ isSymlink }) => !isSymlink).map(({ name }) => name),
    [
      "data.txt",
    ],
  );
});

Deno.test(`a host is reached by a granted name${WHERE}`, async () => {
  await using surroundings = await Surroundings.create();
  const { targets } = surroundings;
  await using hostile = await Hostile.open(surroundings, { net: [`localhost:${targets.grantedPort}`] });
  const spec = dataset({ abuse: "use a name", targets: JSON.stringify(targets) });
  assert.deepEqual(await hostile.session.planRead(spec, NEVER), [{ id: "idle" }]);
});

Deno.test("a process that must be confined and can't be does not start; one that may run without does", async () => {
  await using folder = await TempDir.create();
  const { path, args, env } = await hostileCommand(folder, { fromSource: true });
  // It has no way to ask the system then.
  const without = args.filter((arg) => arg !== "--allow-ffi");
  const session = (more: readonly string[]) =>
    new ConnectorSession({
      connector: HOSTILE,
      connection: "h",
      config: {},
      grant: { net: [], read: [], write: [], env: [] },
      runId: "r1",
      onLog: () => {},
      command: { path, args: [...without, ...more], env },
    });
  await using free = session([]);
  assert.deepEqual(await free.planRead(dataset({}), NEVER), [{ id: "idle" }]);
  await using strict = session(["require"]);
  const error = await failureOf(strict.planRead(dataset({}), NEVER));
  assert.match(error.message, /the process can't be confined, since the system can't be asked for Landlock/);
});

Deno.test(`a connector's process is confined for good${WHERE}${LEFT_OUT}`, { ignore: !IS_CONFINED }, async () => {
  await using folder = await TempDir.create();
  const { path, args, env } = await hostileCommand(folder);
  const child = new Deno.Command(path, {
    args: [...args],
    env: { ...env },
    clearEnv: true,
    stdin: "piped",
    stdout: "piped",
  })
    .spawn();
  const input = child.stdin.getWriter();
  const grant = { net: [], read: [], write: [], env: [] };
  await input.write(encodeMessage(0, { m: "Start", connector: HOSTILE, grant }));
  await input.write(encodeMessage(1, { m: "Handshake", protocolMajor: PROTOCOL_MAJOR, runId: "r1" }));
  const output = child.stdout.getReader();
  assert.equal((await output.read()).done, false);
  const { stdout } = await new Deno.Command("grep", { args: ["-h", "NoNewPrivs", ...await threads(child.pid)] })
    .output();
  const lines = new TextDecoder().decode(stdout).trim().split("\n");
  assert.ok(lines.length > 1);
  assert.deepEqual([...new Set(lines)], ["NoNewPrivs:\t1"]);
  await output.cancel();
  await input.close();
  await child.status;
});

/** The files that tell of each thread of a process. */
async function threads(pid: number): Promise<readonly string[]> {
  const { stdout } = await new Deno.Command("ls", { args: [`/proc/${pid}/task`] }).output();
  return new TextDecoder().decode(stdout).trim().split("\n").map((id) => `/proc/${pid}/task/${id}/status`);
}

function nameOf({ kind, name }: Attempt): string {
  return `${kind}: ${name}`;
}

function dataset(options: DatasetSpec["options"]): DatasetSpec {
  return { connection: "h", entity: "any", config: {}, options };
}

async function failureOf(work: Promise<unknown>): Promise<ConnectorError> {
  try {
    await work;
  } catch (error) {
    assert.ok(error instanceof ConnectorError, String(error));
    return error;
  }
  throw new Error("it did not fail");
}

type HostileSettings = { readonly cancelMs?: number; readonly net?: readonly string[] };

/** A session with the hostile connector. */
class Hostile implements AsyncDisposable {
  private constructor(
    readonly session: ConnectorSession,
    private readonly targets: string,
    private readonly folder: TempDir,
  ) {}

  static async open({ targets }: Surroundings, settings: HostileSettings = {}): Promise<Hostile> {
    const folder = await TempDir.create();
    const { granted, grantedPort } = targets;
    const { net = [`127.0.0.1:${grantedPort}`], ...patience } = settings;
    const command = await hostileCommand(folder);
    const session = new ConnectorSession({
      connector: HOSTILE,
      connection: "h",
      config: {},
      grant: { net, read: [granted], write: [granted], env: ["PZ_GRANTED"] },
      runId: "r1",
      onLog: () => {},
      command: { ...command, env: { ...command.env, PZ_GRANTED: "yes" } },
      patience,
    });
    return new Hostile(session, JSON.stringify(targets), folder);
  }

  /** The error by which an attempt ends; undefined: it gets out. */
  async fails(attempt: Attempt): Promise<ConnectorError | undefined> {
    try {
      await this.session.planRead(dataset({ attempt: nameOf(attempt), targets: this.targets }), NEVER);
      return undefined;
    } catch (error) {
      assert.ok(error instanceof ConnectorError, String(error));
      return error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.session[Symbol.asyncDispose]();
    await this.folder[Symbol.asyncDispose]();
  }
}
