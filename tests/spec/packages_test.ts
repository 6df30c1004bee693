import assert from "node:assert/strict";
import { join } from "node:path";
import { type PzResult, runPz } from "../harness/cli.ts";
import { Shelf } from "../harness/shelf.ts";
import { listFiles, TempDir, writeFiles } from "../harness/temp_dir.ts";

const FIXTURE = join(import.meta.dirname ?? ".", "..", "..", "fixtures", "connectors", "shelf");

const PROJECT = {
  "project.yml": `name: packaged\nversion: "1"\nconnectors:\n  - package: ./shelf\n`,
  "connections.yml": `library:
  connector: shelf
  port: \${SHELF_PORT}
  password: \${SHELF_PASSWORD}
lake:
  connector: localfiles
  root: out
`,
  "pipelines/copied.sql": `INSERT INTO {{ sink('library', 'copied', strategy: 'merge', keys: ['id']) }}
SELECT id, upper(name) AS name FROM {{ source('library', 'books', parts: 3) }}
`,
  "pipelines/listed.sql": `INSERT INTO {{ sink('lake', 'listed', format: 'csv', strategy: 'replace') }}
SELECT count(*) AS books, min(name) AS first FROM {{ source('library', 'books', parts: 3) }}
`,
};

/** A project with the connector as its author wrote it, beside a server. */
class Authored implements AsyncDisposable {
  readonly #stack: AsyncDisposableStack;

  private constructor(readonly folder: TempDir, readonly shelf: Shelf, stack: AsyncDisposableStack) {
    this.#stack = stack;
  }

  static async create(): Promise<Authored> {
    const stack = new AsyncDisposableStack();
    const folder = stack.use(await TempDir.create());
    const shelf = stack.use(new Shelf());
    await writeFiles(folder.path, PROJECT);
    for (const path of await listFiles(FIXTURE)) {
      await writeFiles(folder.join("shelf"), { [path]: await Deno.readTextFile(join(FIXTURE, path)) });
    }
    const authored = new Authored(folder, shelf, stack);
    await authored.ok("connector", "sdk", "shelf");
    await authored.ok("connector", "build", "shelf");
    return authored;
  }

  pz(...args: readonly string[]): Promise<PzResult> {
    const env = { SHELF_PORT: String(this.shelf.port), SHELF_PASSWORD: this.shelf.password, HOME: this.folder.path };
    return runPz(args, { cwd: this.folder.path, env });
  }

  async ok(...args: readonly string[]): Promise<PzResult> {
    const result = await this.pz(...args);
    assert.equal(result.code, 0, result.toString());
    return result;
  }

  /** The code of the first error that pz ends with before it runs anything. */
  async refusal(...args: readonly string[]): Promise<string | undefined> {
    const result = await this.pz(...args);
    assert.equal(result.code, 2, result.toString());
    return /^error (PZ\d+)/m.exec(result.stderr)?.[1];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }
}

Deno.test("a connector for a system of its author's keeps every promise that it makes", async () => {
  await using authored = await Authored.create();
  const { stdout } = await authored.ok("connector", "test", "shelf");
  assert.match(stdout, /^PASS merge-is-idempotent$/m);
  assert.match(stdout, /^PASS partitions-make-up-the-whole: 3 at once$/m);
  assert.match(stdout, /^shelf 1\.0\.0: 21 passed, 0 failed, \d+ skipped$/m);
  assert.doesNotMatch(stdout, new RegExp(authored.shelf.password));
});

Deno.test("a package runs as it is locked, is shown with its grant, and one changed byte stops it", async () => {
  await using authored = await Authored.create();
  const { folder, shelf } = authored;
  assert.equal(await authored.refusal("run", "--all"), "PZ0322");
  assert.match(
    (await authored.ok("restore")).stdout,
    /^restored \.\/shelf 1\.0\.0 \(copied\)\nwrote pz\.lock\.json \(1 packages\)$/m,
  );
  assert.match((await authored.ok("connectors")).stdout, /^shelf +shelf +1\.0\.0 +src:universal snk:universal/m);
  const grant = `grant: library (shelf) net 127.0.0.1:${shelf.port}`;
  assert.ok((await authored.ok("plan")).stdout.includes(`${grant}\n`));

  await authored.ok("run", "--all");
  assert.equal(shelf.shelves.get("copied")?.get("500"), "BOOK 500");
  assert.equal(shelf.shelves.get("copied")?.size, 500);
  assert.equal(await Deno.readTextFile(folder.join("out/listed/listed.csv")), "books,first\n500,book 1\n");

  const entry = folder.join(".pz/packages/shelf/1.0.0/dist/connector.js");
  const code = await Deno.readTextFile(entry);
  shelf.shelves.delete("copied");
  await Deno.writeTextFile(entry, code.replace("HELLO", "HELL0"));
  for (const verb of [["run", "--all"], ["plan"], ["validate"], ["connectors"]]) {
    assert.equal(await authored.refusal(...verb), "PZ0326", verb.join(" "));
  }
  assert.equal(shelf.shelves.has("copied"), false);
  await authored.ok("restore");
  await authored.ok("run", "--all");
  assert.equal(shelf.shelves.get("copied")?.size, 500);
});

Deno.test("a package reaches what its manifest asks for and nothing else", async () => {
  await using authored = await Authored.create();
  const manifest = JSON.parse(await Deno.readTextFile(authored.folder.join("shelf/pz.connector.json")));
  manifest.permissions = { net: ["{host}:1"] };
  await Deno.writeTextFile(authored.folder.join("shelf/pz.connector.json"), JSON.stringify(manifest));
  await authored.ok("restore");
  const { code, stdout, stderr } = await authored.pz("run", "--all");
  assert.equal(code, 1);
  assert.match(stdout + stderr, /PZ0740/);
  assert.match(stdout + stderr, /'shelf' of connection 'library' was denied net access to '127\.0\.0\.1:/);
});

Deno.test("options are checked by the package's schemas, at their places", async () => {
  await using authored = await Authored.create();
  await authored.ok("restore");
  await writeFiles(authored.folder.path, {
    "connections.yml": PROJECT["connections.yml"].replace("password:", "pasword:"),
    "pipelines/copied.sql": PROJECT["pipelines/copied.sql"].replace("parts: 3", "parts: 99"),
    "pipelines/listed.sql": PROJECT["pipelines/listed.sql"].replace("parts: 3", "parts: 99"),
  });
  const unknown = await authored.pz("plan");
  assert.equal(unknown.code, 2);
  assert.match(unknown.stderr, /PZ0301: unknown option 'pasword' .*\(connections\.yml:4:3\).*did you mean 'password'/);
  await writeFiles(authored.folder.path, {
    "connections.yml": PROJECT["connections.yml"].replace("${SHELF_PORT}", "99999"),
  });
  const { stderr } = await authored.pz("plan");
  assert.match(stderr, /PZ0301: connection 'library': Option "port" does not fit: .*\(connections\.yml:3:3\)/);
  assert.match(stderr, /PZ0301: library\.books: Option "parts" does not fit/);
});

Deno.test("what a package's connector does wrong fails its node, and what it can't be loaded as says so", async () => {
  await using authored = await Authored.create();
  const entry = authored.folder.join("shelf/dist/connector.js");
  const good = await Deno.readTextFile(entry);
  const runWith = async (code: string) => {
    await Deno.writeTextFile(entry, code);
    await authored.ok("restore", "--update");
    const { code: exit, stdout, stderr } = await authored.pz("run", "--all");
    assert.equal(exit, 1, stdout + stderr);
    return stdout + stderr;
  };
  assert.match(await runWith("export const x = 1;"), /exports no "connector"/);
  const broken = await runWith("export const = 1;");
  assert.match(broken, /its code can't be loaded/);
  assert.doesNotMatch(broken, /base64/);
  assert.match(await runWith(`import "file:///etc/passwd";\n${good}`), /its code can't be loaded/);
  assert.match(await runWith(good.replace('"PartitionedRead"', '"ColumnPruning"')), /ColumnPruning/);
  assert.match(await runWith(good.replace('name: "shelf"', 'name: "other"')), /answers as 'other'/);
});

Deno.test("restores at once, in processes of their own, all end well", async () => {
  await using authored = await Authored.create();
  const results = await Promise.all([1, 2, 3].map(() => authored.pz("restore", "--update")));
  for (const result of results) assert.equal(result.code, 0, result.toString());
  await authored.ok("run", "--all");
});

Deno.test("restore says so where there is nothing to restore, and what has become part of pz", async () => {
  await using folder = await TempDir.create();
  await writeFiles(folder.path, {
    "project.yml": `name: p\nversion: "1"\nconnectors:\n  - package: postgres\n    version: 1.0.0\n`,
  });
  const { code, stdout } = await runPz(["restore"], { cwd: folder.path });
  assert.equal(code, 0);
  assert.equal(
    stdout,
    "note: 'postgres' is builtin in this pz version; declared version ignored\n" +
      "nothing to restore (all declared connectors are builtin)\n",
  );
  assert.deepEqual(await listFiles(folder.path), ["project.yml"]);
});

Deno.test("a new connector works as it is made", async () => {
  await using folder = await TempDir.create();
  const pz = async (...args: readonly string[]) => {
    const result = await runPz(args, { cwd: folder.path });
    assert.equal(result.code, 0, result.toString());
    return result;
  };
  await pz("connector", "new", "Field-Notes");
  await pz("connector", "build", "Field-Notes");
  assert.match(
    (await pz("connector", "test", "Field-Notes")).stdout,
    /^field_notes 0\.1\.0: 15 passed, 0 failed, 15 skipped$/m,
  );
  const { code, stderr } = await runPz(["connector", "new", "Field-Notes"], { cwd: folder.path });
  assert.deepEqual([code, /PZ0130/.test(stderr)], [2, true]);
});
