import assert from "node:assert/strict";
import { loadState, type StateConfig } from "../../../src/project/mod.ts";
import { errorsOf, load, loaded, marked, MINIMAL, place, places, warningsOf, withFiles } from "./helpers.ts";

const CONNECTIONS = "mart: { connector: sqlserver }\npg: { connector: postgres }\n";

function files(state: string): { readonly [path: string]: string } {
  return { "project.yml": `${MINIMAL}state: ${state}\n`, "connections.yml": CONNECTIONS };
}

async function stateOf(state: string, env: { readonly [name: string]: string } = {}): Promise<StateConfig> {
  return (await loaded(files(state), { env })).state;
}

Deno.test("each backend is read with its defaults", async () => {
  assert.deepEqual(await stateOf("{ backend: local }"), { backend: "local" });
  assert.deepEqual(await stateOf("{ backend: sqlserver, connection: mart }"), {
    backend: "sqlserver",
    connection: "mart",
    schema: "pz",
    artifacts: true,
    events: false,
  });
  assert.deepEqual(await stateOf("{ backend: postgres, connection: pg, schema: s, artifacts: true, events: true }"), {
    backend: "postgres",
    connection: "pg",
    schema: "s",
    artifacts: true,
    events: true,
  });
  assert.deepEqual(await stateOf("{ backend: http, url: 'https://s/x', timeout_seconds: 5, artifacts: false }"), {
    backend: "http",
    url: "https://s/x",
    timeoutSeconds: 5,
  });
});

Deno.test("a variable fills a key that is not there, and never replaces one that is", async () => {
  const env = {
    PZ_STATE_BACKEND: "sqlserver",
    PZ_STATE_CONNECTION_STRING: "Server=x",
    PZ_STATE_SCHEMA: "s",
    PZ_STATE_ARTIFACTS: "TRUE",
    PZ_STATE_EVENTS: "true",
    PZ_STATE_URL: "https://s",
    PZ_STATE_TIMEOUT_SECONDS: "7",
  };
  const common = { backend: "sqlserver", artifacts: true } as const;
  assert.deepEqual(await stateOf("", env), { ...common, schema: "s", events: true });
  assert.deepEqual(await stateOf("{ schema: t, events: false }", env), { ...common, schema: "t", events: false });
  assert.deepEqual(await stateOf("{ backend: local }", env), { backend: "local" });
  const http = { PZ_STATE_URL: env.PZ_STATE_URL, PZ_STATE_TIMEOUT_SECONDS: "7" };
  assert.deepEqual(await stateOf("{ backend: http }", http), { backend: "http", url: "https://s", timeoutSeconds: 7 });
});

Deno.test("what chose the backend is kept", async () => {
  const origin = async (state: string, env = {}): Promise<string | undefined> =>
    (await loaded(files(state), { env })).stateOrigin;
  assert.equal(await origin(""), "default");
  assert.equal(await origin("{ backend: local }"), "project.yml");
  assert.equal(await origin("", { PZ_STATE_BACKEND: "local" }), "PZ_STATE_BACKEND");
  assert.equal(await origin("", { PZ_STATE_BACKEND: "" }), "default");
});

/** Each state with `§` where its one problem stands. */
async function assertProblems(code: string, states: readonly string[]): Promise<void> {
  for (const state of states) {
    const { text, at } = marked(`${MINIMAL}${state.startsWith("§state") ? state : `state: ${state}`}\n`);
    const errors = await errorsOf({ "project.yml": text, "connections.yml": CONNECTIONS });
    assert.deepEqual(places(errors), [`${code} project.yml:${at}`], `${state}: ${errors}`);
    assert.ok(!errors.join().includes("hunter2"), errors.join());
  }
}

Deno.test("a wrong state block has PZ0124 at its place, and no value in it", async () => {
  await assertProblems("PZ0124", [
    "§redis://u:hunter2@h",
    "{ backend: §redis }",
    "{ backend: local, §schema: x }",
    "{ §schema: x }",
    "{ backend: http, url: 'https://s', §connection: pg }",
    "{ backend: sqlserver, connection: mart, §url: x }",
    "{ backend: sqlserver, connection: mart, §token: hunter2 }",
    "{ backend: sqlserver, connection: mart, §shcema: x }",
    "{ backend: sqlserver, connection: mart, artifacts: §hunter2 }",
    "{ backend: sqlserver, connection: mart, artifacts: false, events: §true }",
    "{ backend: http, url: 'https://s', artifacts: §true }",
    "{ backend: http, url: 'https://s', timeout_seconds: §0 }",
    "{ §backend: }",
  ]);
});

Deno.test("a state without a usable place has PZ0125", async () => {
  await assertProblems("PZ0125", [
    "§state: { backend: sqlserver }",
    "{ backend: sqlserver, connection: §mrat }",
    "{ backend: sqlserver, connection: §pg }",
    "{ backend: postgres, connection: §mart }",
    "§state: { backend: http }",
    "{ backend: http, url: §/relative }",
    "{ backend: http, url: §'ftp://u:hunter2@h' }",
  ]);
});

Deno.test("a wrong variable is named, its value is not", async () => {
  const cases: { readonly [name: string]: string }[] = [
    { PZ_STATE_BACKEND: "hunter2" },
    { PZ_STATE_BACKEND: "sqlserver", PZ_STATE_CONNECTION_STRING: "x", PZ_STATE_EVENTS: "hunter2" },
    { PZ_STATE_BACKEND: "http", PZ_STATE_URL: "https://s", PZ_STATE_ARTIFACTS: "true" },
    { PZ_STATE_BACKEND: "http", PZ_STATE_URL: "https://s", PZ_STATE_TIMEOUT_SECONDS: "hunter2" },
  ];
  for (const env of cases) {
    const outcome = await load(files(""), { env });
    assert.ok(!outcome.ok);
    assert.deepEqual(outcome.errors.map(({ code }) => code), ["PZ0124"]);
    assert.ok(!outcome.errors.map(place).join().includes("hunter2"));
  }
});

Deno.test("a token over http is warned of, except on the machine itself", async () => {
  const env = { PZ_STATE_TOKEN: "hunter2" };
  const warned = await warningsOf(files("{ backend: http, url: 'http://s/x' }"), { env });
  assert.deepEqual(places(warned), ["PZ0530 project.yml:3:30"]);
  for (const host of ["http://localhost:1", "http://127.0.0.1", "http://[::1]:80", "https://s"]) {
    assert.deepEqual(await warningsOf(files(`{ backend: http, url: '${host}' }`), { env }), []);
  }
});

Deno.test("loadState() reads the state of a project that is wrong elsewhere", async () => {
  const project = "nmae: x\nengine: 5\nstate: { backend: sqlserver, connection: mart }\n";
  await withFiles(
    { "project.yml": project, "connections.yml": "mart:\n  connector: sqlserver\n  password: ${NOPE}\n" },
    async (root) => {
      const outcome = await loadState(root, { env: {} });
      assert.ok(outcome.ok);
      assert.equal(outcome.value.state.backend, "sqlserver");
      assert.equal(outcome.value.stateOrigin, "project.yml");
    },
  );
});
