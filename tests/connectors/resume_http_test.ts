import assert from "node:assert/strict";
import { HAS_FAULTS, runWithFault } from "../crash/fault_run.ts";
import { TestHttp } from "../harness/http_server.ts";
import { readReceipt } from "../harness/run_files.ts";
import { TempDir, writeFiles } from "../harness/temp_dir.ts";

const ROWS = 2000;
const PER_REQUEST = 100;

/** A server that takes arrays of rows, and a project that appends to it. */
class Scene implements AsyncDisposable {
  readonly folder: TempDir;
  readonly server: TestHttp;
  readonly ids: number[] = [];
  /** Called with each request, once its rows are taken and before it is answered. */
  onTaken: (request: number) => Response | undefined = () => undefined;

  private constructor(folder: TempDir) {
    this.folder = folder;
    this.server = new TestHttp(({ body }) => {
      const rows: readonly { readonly id: number }[] = JSON.parse(body);
      this.ids.push(...rows.map(({ id }) => id));
      return this.onTaken(this.server.seen.length) ?? new Response("");
    });
  }

  static async create(): Promise<Scene> {
    const scene = new Scene(await TempDir.create());
    await writeFiles(scene.folder.path, {
      "project.yml": `name: shop\nversion: "1"\n`,
      "connections.yml": `api: { connector: http, base_url: '${scene.server.origin}', retry: { base_delay: 1ms } }\n`,
      "pipelines/post.sql": `INSERT INTO {{ sink('api', 'orders', strategy: 'append', path: '/orders', ` +
        `rows_per_request: ${PER_REQUEST}) }}\n` +
        `SELECT range AS id, 'row ' || range AS t FROM range(${ROWS}) ORDER BY hash(range)\n`,
    });
    return scene;
  }

  get doubles(): number {
    return this.ids.length - new Set(this.ids).size;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server[Symbol.asyncDispose]();
    await this.folder[Symbol.asyncDispose]();
  }
}

Deno.test({
  name: "a run that is killed after a confirmed request goes on behind it, and sends no row twice",
  ignore: !HAS_FAULTS,
  fn: async () => {
    await using scene = await Scene.create();
    const options = { cwd: scene.folder.path };
    const killed = await runWithFault(["run", "--all"], { ...options, fault: "rows_acknowledged:5:kill" });
    assert.equal(killed.signal, "SIGKILL", String(killed));
    const before = scene.ids.length;
    assert.equal(before, 5 * PER_REQUEST);
    const retried = await runWithFault(["retry"], options);
    assert.equal(retried.code, 0, String(retried));
    assert.deepEqual([scene.ids.length, scene.doubles], [ROWS, 0], String(retried));
    const sink = readReceipt(scene.folder.path).nodes.find(({ kind }) => kind === "SinkWrite");
    assert.deepEqual([sink?.rows, sink?.delivery?.resumed_rows], [ROWS, before]);
  },
});

for (const last of [1, 7]) {
  Deno.test({
    name: `a run that is killed while request ${last} is on its way sends that one twice at most, and says so`,
    ignore: !HAS_FAULTS,
    fn: async () => {
      await using scene = await Scene.create();
      const options = { cwd: scene.folder.path };
      let pid: number | undefined;
      scene.onTaken = (request) => {
        if (request === last && pid !== undefined) Deno.kill(pid, "SIGKILL");
        return undefined;
      };
      const killed = await runWithFault(["run", "--all"], { ...options, onStart: (child) => void (pid = child.pid) });
      assert.equal(killed.signal, "SIGKILL", String(killed));
      const retried = await runWithFault(["retry"], options);
      assert.equal(retried.code, 0, String(retried));
      assert.equal(new Set(scene.ids).size, ROWS);
      assert.ok(scene.doubles === PER_REQUEST || scene.doubles === 0, `${scene.doubles}`);
      const before = (last - 1) * PER_REQUEST;
      assert.match(
        String(retried),
        new RegExp(
          `goes on after ${before} delivered row\\(s\\); what was on its way when run \\S+ stopped is sent again`,
        ),
      );
    },
  });
}

Deno.test("a server that fails for a while gets each row once, in a retry of the run", async () => {
  await using scene = await Scene.create();
  const options = { cwd: scene.folder.path };
  let isDown = true;
  scene.onTaken = (request) => {
    if (request < 9 || !isDown) return undefined;
    scene.ids.length -= PER_REQUEST;
    return new Response("no", { status: 400 });
  };
  const failed = await runWithFault(["run", "--all"], options);
  assert.equal(failed.code, 1, String(failed));
  const sink = readReceipt(scene.folder.path).nodes.find(({ kind }) => kind === "SinkWrite");
  assert.deepEqual(sink?.delivery, { abort_semantics: "none", rows_visible: 800, resumed_rows: 0 });
  isDown = false;
  const retried = await runWithFault(["retry"], options);
  assert.equal(retried.code, 0, String(retried));
  assert.deepEqual([scene.ids.length, scene.doubles], [ROWS, 0]);
});

Deno.test({
  name: "a read of pages that is killed goes on behind the pages that are staged",
  ignore: !HAS_FAULTS,
  fn: async () => {
    const [pages, size] = [40, 2500];
    await using folder = await TempDir.create();
    await using server = new TestHttp((_request, url) => {
      const page = Number(url.searchParams.get("page"));
      const rows = page > pages
        ? []
        : Array.from({ length: size }, (_, index) => ({ id: page * size + index, t: "x" }));
      return Response.json(rows);
    });
    await writeFiles(folder.path, {
      "project.yml": `name: shop\nversion: "1"\n`,
      "connections.yml": `api:
  connector: http
  base_url: ${server.origin}
  entities:
    rows:
      read: { path: /rows, pagination: page, columns: { id: bigint, t: varchar } }
here: { connector: localfiles }
`,
      "pipelines/load.sql": "INSERT INTO {{ sink('here', 'out', format: 'csv', strategy: 'replace') }}\n" +
        "SELECT count(*) AS n, count(DISTINCT id) AS ids FROM {{ source('api', 'rows') }}\n",
    });
    const options = { cwd: folder.path };
    const killed = await runWithFault(["run", "--all"], { ...options, fault: "partition_done:1:kill" });
    assert.equal(killed.signal, "SIGKILL", String(killed));
    const first = server.seen.length;
    const retried = await runWithFault(["retry"], options);
    assert.equal(retried.code, 0, String(retried));
    const load = readReceipt(folder.path).nodes.find(({ kind }) => kind === "SourceLoad");
    assert.deepEqual([load?.rows, load?.partitions], [pages * size, { total: 1, completed: 1, reused: 0, resumed: 1 }]);
    const again = server.seen.slice(first).map(({ path }) => path);
    assert.ok(again.length <= pages + 1 - 50_000 / size, again.join());
    const [file] = await Array.fromAsync(Deno.readDir(folder.join("out")));
    assert.equal(await Deno.readTextFile(folder.join("out", file?.name ?? "")), "n,ids\n100000,100000\n");
  },
});

Deno.test({
  name: "a read of slow pages that is killed goes on behind the last page that came before the wait",
  ignore: !HAS_FAULTS,
  fn: async () => {
    await using folder = await TempDir.create();
    const { promise: killed, resolve: letGo } = Promise.withResolvers<void>();
    await using server = new TestHttp(async (_request, url) => {
      const page = Number(url.searchParams.get("page"));
      if (page === 3) await killed;
      return Response.json(page > 4 ? [] : [{ id: page }]);
    });
    await writeFiles(folder.path, {
      "project.yml": `name: shop\nversion: "1"\n`,
      "connections.yml": `api:
  connector: http
  base_url: ${server.origin}
  entities: { rows: { read: { path: /rows, pagination: page, columns: { id: bigint } } } }
here: { connector: localfiles }
`,
      "pipelines/load.sql": "INSERT INTO {{ sink('here', 'out') }} SELECT * FROM {{ source('api', 'rows') }}\n",
    });
    const options = { cwd: folder.path };
    const run = await runWithFault(["run", "--all"], { ...options, fault: "partition_done:1:kill" });
    assert.equal(run.signal, "SIGKILL", String(run));
    letGo();
    const pages = () => server.seen.splice(0).map(({ path }) => path.replace(/^.*page=/, ""));
    assert.deepEqual(pages(), ["1", "2", "3"]);
    const retried = await runWithFault(["retry"], options);
    assert.equal(retried.code, 0, String(retried));
    assert.deepEqual(pages(), ["3", "4", "5"]);
  },
});
