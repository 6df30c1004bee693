import assert from "node:assert/strict";
import { type Connection, type LoadOptions, loadSettings } from "../../../src/project/mod.ts";
import { errorsOf, load, loaded, marked, place, places, plain, warningsOf, withFiles } from "./helpers.ts";

async function connection(text: string, options: Partial<LoadOptions> = {}): Promise<Connection> {
  const project = await loaded({ "connections.yml": text }, options);
  const [first] = Object.values(project.connections);
  assert.ok(first !== undefined);
  return first;
}

/** Each file with `§` where its one problem stands. */
async function assertProblem(code: string, text: string, options: Partial<LoadOptions> = {}): Promise<void> {
  const { text: content, at } = marked(text);
  const errors = await errorsOf({ "connections.yml": content }, options);
  assert.deepEqual(places(errors), [`${code} connections.yml:${at}`], `${text}: ${errors}`);
}

Deno.test("a connection has pz's own keys apart, and all others as its settings", async () => {
  const { places, ...read } = await connection(`
crm:
  connector: postgres
  host: db
  port: 5432
  ssl: true
  nested: { list: [1, "2", 1.5] }
  empty:
  max_concurrency: 2
  rate_limit: { requests_per_minute: 600 }
  retry: { max_attempts: 5, base_delay: 2s, max_delay: 1m }
  allow_unsigned_extensions: true
`);
  assert.deepEqual(places?.["nested"], { file: "connections.yml", line: 7, column: 3 });
  assert.deepEqual(
    plain(read),
    {
      name: "crm",
      connector: "postgres",
      config: { host: "db", port: 5432n, ssl: true, nested: { list: [1n, "2", 1.5] }, empty: "" },
      entities: {},
      maxConcurrency: 2,
      rateLimit: { requestsPerMinute: 600, burst: 10 },
      retry: { maxAttempts: 5, baseDelayMs: 2000, maxDelayMs: 60000 },
      allowUnsignedExtensions: true,
      position: { file: "connections.yml", line: 2, column: 1 },
    },
  );
});

Deno.test("burst is a second's worth unless set, and at least 1", async () => {
  const burst = async (limit: string): Promise<number | undefined> =>
    (await connection(`a: { connector: x, rate_limit: ${limit} }\n`)).rateLimit?.burst;
  assert.equal(await burst("{ requests_per_minute: 59 }"), 1);
  assert.equal(await burst("{ requests_per_minute: 179 }"), 2);
  assert.equal(await burst("{ requests_per_minute: 10, burst: 7 }"), 7);
});

Deno.test("names that Object has are found only where a user wrote them", async () => {
  const { connections } = await loaded({ "connections.yml": "constructor: { connector: x }\n" });
  assert.equal(connections["toString"], undefined);
  assert.equal(connections["constructor"]?.connector, "x");
});

Deno.test("a connection's name must be an identifier without '__'", async () => {
  for (const name of ["c-r", "1a", "a b", "a.b", "a__b", "ä"]) {
    await assertProblem("PZ0136", `§${name}: { connector: x }\n`);
  }
  const outcome = await load({ "connections.yml": "01_my-crm: { connector: x }\n" });
  assert.ok(!outcome.ok);
  assert.equal(outcome.errors[0]?.hint, "Rename it to 'my_crm_01'.");
});

Deno.test("wrong values of pz's own keys have their own codes", async () => {
  const cases: [string, string][] = [
    ["PZ0101", "§a: {}"],
    ["PZ0101", "§a:"],
    ["PZ0101", "a: §postgres://u:hunter2@h"],
    ["PZ0101", "a: { §connector: }"],
    ["PZ0101", "a: { connector: §'' }"],
    ["PZ0101", "a: { connector: §[x] }"],
    ["PZ0101", "a: { §conector: x }"],
    ["PZ0101", "a: { connector: x, §entites: {} }"],
    ["PZ0101", "a: { connector: x, entities: §[orders] }"],
    ["PZ0101", "a: { connector: x, allow_unsigned_extensions: §yes }"],
    ["PZ0122", "a: { connector: x, max_concurrency: §0 }"],
    ["PZ0122", "a: { connector: x, max_concurrency: §'2' }"],
    ["PZ0318", "a: { connector: x, rate_limit: §5 }"],
    ["PZ0318", "a: { connector: x, §rate_limit: }"],
    ["PZ0318", "a: { connector: x, §rate_limit: { burst: 1 } }"],
    ["PZ0318", "a: { connector: x, rate_limit: { requests_per_minute: §1000001 } }"],
    ["PZ0318", "a: { connector: x, rate_limit: { requests_per_minute: 1, §per_hour: 1 } }"],
    ["PZ0121", "a: { connector: x, retry: §5 }"],
    ["PZ0121", "a: { connector: x, retry: { max_attempts: §0 } }"],
    ["PZ0121", "a: { connector: x, retry: { base_delay: §0s } }"],
    ["PZ0121", "a: { connector: x, retry: { §max_attempt: 1 } }"],
    ["PZ0121", "a: { connector: x, §retry: { base_delay: 2s, max_delay: 1s } }"],
    ["PZ0347", "§outputs: {}"],
    ["PZ0101", "§connections: { a: { connector: x } }"],
  ];
  for (const [code, text] of cases) await assertProblem(code, `${text}\n`);
});

Deno.test("an entity has a read side, a write side or both, and nothing else", async () => {
  const entities = (text: string): string => `a: { connector: x, entities: { ${text} } }\n`;
  await assertProblem("PZ0101", entities("§orders:"));
  await assertProblem("PZ0101", entities("§orders: {}"));
  await assertProblem("PZ0101", entities("orders: §x"));
  await assertProblem("PZ0101", entities("§orders: { columns: { id: int } }"));
  await assertProblem("PZ0101", entities("orders: { §raed: { path: x } }"));
  await assertProblem("PZ0101", entities("orders: { read: , §path: x }"));
  for (const name of ["''", "'a b'", ".a", "a.", "a..b"]) {
    await assertProblem("PZ0344", entities(`§${name}: { read: }`));
  }
  for (const name of ["dbo.orders", "a/b", "x-y", "2024"]) {
    assert.deepEqual(await errorsOf({ "connections.yml": entities(`${name}: { write: }`) }), []);
  }
});

Deno.test("a side with no body is declared with defaults", async () => {
  const { entities } = await connection("a: { connector: x, entities: { o: { read: , write: {} } } }\n");
  assert.deepEqual(entities["o"]?.read, { options: {} });
  assert.deepEqual(entities["o"]?.write, {
    strategy: "append",
    keys: [],
    acceptDuplicates: false,
    schemaPolicy: "fail_on_change",
    options: {},
  });
});

Deno.test("variables are filled in at any depth of a connection's own settings, typed where unquoted", async () => {
  const text = `
a:
  connector: x
  port: \${PORT}
  text: "\${PORT}"
  url: http://\${HOST}:\${PORT}/$\${x}
  nested: [ { deep: "\${HOST}" } ]
  leading: \${ZEROS}
  empty: \${EMPTY}
`;
  const env = { PORT: "5432", HOST: "db", ZEROS: "0123", EMPTY: "" };
  const project = await loaded({ "connections.yml": text }, { env });
  assert.deepEqual(plain(project.connections["a"]?.config), {
    port: 5432n,
    text: "5432",
    url: "http://db:5432/${x}",
    nested: [{ deep: "db" }],
    leading: "0123",
    empty: "",
  });
  assert.deepEqual(project.secrets, ["0123", "5432", "db"]);
});

Deno.test("what a variable holds is not filled in again", async () => {
  const { config } = await connection("a:\n  connector: x\n  p: ${A}\n", { env: { A: "${B} $${C} $& $1", B: "no" } });
  assert.equal(config["p"], "${B} $${C} $& $1");
});

Deno.test("an unset variable is PZ0103 at the value, by name only", async () => {
  await assertProblem("PZ0103", "a:\n  connector: x\n  p: §hunter2${NOPE}\n", { env: { NOPE2: "hunter2" } });
  await assertProblem("PZ0103", "a:\n  connector: x\n  p: §${toString}\n");
  const errors = await errorsOf({ "connections.yml": "a:\n  connector: x\n  p: hunter2${NOPE}\n" });
  assert.deepEqual(errors, ["PZ0103 connections.yml:3:6 The environment variable 'NOPE' is not set"]);
});

Deno.test("something like a reference that is none is warned of without its text", async () => {
  for (const text of ["${A:-hunter2}", "${1A}", "${}", "${A"]) {
    const found = await warningsOf({ "connections.yml": `a:\n  connector: x\n  p: "${text}"\n` }, { env: { A: "x" } });
    assert.deepEqual(places(found), ["PZ0103 connections.yml:3:6"], text);
    assert.ok(!found.join().includes("hunter2"));
  }
});

Deno.test("a reference under entities stays literal and is warned of", async () => {
  const text = 'a: { connector: x, entities: { o: { read: { path: "${P}/x", q: ["$${P}"] } } } }\n';
  const project = await loaded({ "connections.yml": text }, { env: { P: "p" } });
  assert.deepEqual(project.connections["a"]?.entities["o"]?.read?.options, { path: "${P}/x", q: ["$${P}"] });
  assert.deepEqual(places(await warningsOf({ "connections.yml": text }, { env: { P: "p" } })), [
    "PZ0133 connections.yml:1:51",
  ]);
});

Deno.test("a reference at a key of pz's own is no number", async () => {
  const outcome = await load({ "connections.yml": "a:\n  connector: x\n  max_concurrency: ${N}\n" }, {
    env: { N: "2" },
  });
  assert.ok(!outcome.ok);
  assert.deepEqual(outcome.errors.map(place), [
    "PZ0122 connections.yml:3:20 'a.max_concurrency' must be a whole number of at least 1, not the text '${N}'",
  ]);
  assert.equal(outcome.errors[0]?.hint, "Environment variables are not filled in at this key.");
});

Deno.test("variables of the project are filled in too, but are no secrets", async () => {
  const project = await loaded(
    { "project.yml": 'name: a\nversion: 1\nvars:\n  day: ${DAY}\n  list: ["${DAY}"]\n' },
    { env: { DAY: "2026-01-01" } },
  );
  assert.deepEqual(plain(project.vars), { day: "2026-01-01", list: ["2026-01-01"] });
  assert.deepEqual(project.secrets, []);
});

Deno.test("no message holds anything of a connection's settings", async () => {
  const outcome = await load({
    "connections.yml": `
a: "hunter2"
b: [hunter2]
c: { password: hunter2, entities: hunter2, retry: {base_delay: 1s, x: hunter2} }
d: { connector: x, password: hunter2, password: hunter2 }
`,
  });
  assert.ok(!outcome.ok);
  assert.ok(outcome.errors.length >= 6);
  for (const error of outcome.errors) assert.ok(!`${error.message} ${error.hint}`.includes("hunter2"), error.message);
});

Deno.test("loadSettings() reads one file of settings with variables filled in", async () => {
  await withFiles({ "s.yml": "host: ${HOST}\nport: 5\n", "bad.yml": "a: ${NOPE}\n" }, async (root) => {
    const outcome = await loadSettings(`${root}/s.yml`, { env: { HOST: "db" } });
    assert.deepEqual(outcome.ok && outcome.value, { host: "db", port: 5n });
    const bad = await loadSettings(`${root}/bad.yml`, { env: {} });
    assert.deepEqual(bad.ok || bad.errors.map(({ code, file }) => [code, file]), [["PZ0103", "bad.yml"]]);
    const none = await loadSettings(`${root}/none.yml`, { env: {} });
    assert.deepEqual(none.ok || none.errors.map(place), ["PZ0101 none.yml Can't read 'none.yml'"]);
  });
});

Deno.test("a variable in the form of a shell or of a call is warned of, whether it is set or not", async () => {
  const outcome = await load({ "connections.yml": "a:\n  connector: x\n  database: $MART\n  user: env(ME)\n" });
  assert.ok(outcome.ok);
  assert.deepEqual(outcome.warnings.map(({ code, line, column, hint }) => [code, line, column, hint]), [
    ["PZ0133", 3, 13, "Write ${MART} for the environment variable."],
    ["PZ0133", 4, 9, "Write ${ME} for the environment variable."],
  ]);
});

Deno.test("a password may begin with a dollar sign", async () => {
  const text = "a:\n  connector: x\n  password: $HUNTER2\n  price: $12.50\n";
  assert.deepEqual(await warningsOf({ "connections.yml": text }), []);
});

Deno.test("which variables fill which setting is known", async () => {
  const { filled } = await connection("a:\n  connector: x\n  host: ${H}:${P}\n  port: ${P}\n  user: me\n", {
    env: { H: "db", P: "5432" },
  });
  assert.deepEqual(plain(filled), { host: ["db", "5432"], port: ["5432"] });
});
