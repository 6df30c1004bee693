import assert from "node:assert/strict";
import { runPz } from "../harness/cli.ts";
import { readReceipt, runIds } from "../harness/run_files.ts";
import { type Files, listFiles, TempDir, writeFiles } from "../harness/temp_dir.ts";

const PROJECT: Files = {
  "project.yml": `name: small\nversion: "1"\nengine: { threads: 1, duckdb: { memory_limit: 200MiB } }\n`,
  "connections.yml": `lake:\n  connector: localfiles\n  root: out\n`,
  "pipelines/a_small.sql":
    `INSERT INTO {{ sink('lake', 'small', format: 'csv', strategy: 'replace') }}\nSELECT 1 AS one\n`,
  "pipelines/b_large.sql": `INSERT INTO {{ sink('lake', 'large', format: 'csv', strategy: 'replace') }}\n` +
    `SELECT range AS id, hash(range) AS h FROM range(3000000)\n`,
};

/** A file system of a few megabytes, unmounted at the end of its scope; only root can make one. */
class SmallDisk implements AsyncDisposable {
  private constructor(readonly path: string, readonly folder: TempDir) {}

  static async create(size = "12m"): Promise<SmallDisk | undefined> {
    const folder = await TempDir.create();
    const path = folder.join("disk");
    await Deno.mkdir(path);
    if (await mount("-t", "tmpfs", "-o", `size=${size}`, "tmpfs", path)) return new SmallDisk(path, folder);
    await folder[Symbol.asyncDispose]();
    return undefined;
  }

  async makeReadOnly(): Promise<void> {
    assert.ok(await mount("-o", "remount,ro", this.path));
  }

  /** Leaves room for nothing at all. */
  async fill(): Promise<void> {
    const chunk = new Uint8Array(65_536);
    using file = await Deno.open(`${this.path}/filler`, { write: true, create: true });
    for (let size = chunk.length; size >= 1;) {
      try {
        await file.write(chunk.subarray(0, size));
      } catch {
        size = Math.floor(size / 2);
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await new Deno.Command("umount", { args: [this.path] }).output();
    await this.folder[Symbol.asyncDispose]();
  }
}

async function mount(...args: readonly string[]): Promise<boolean> {
  try {
    return (await new Deno.Command("mount", { args: [...args], stdout: "null", stderr: "null" }).output()).success;
  } catch {
    return false;
  }
}

const ignore = await cannotMount();

async function cannotMount(): Promise<boolean> {
  if (Deno.build.os !== "linux" || Deno.uid() !== 0) return true;
  await using disk = await SmallDisk.create();
  return disk === undefined;
}

async function onDisk(work: (disk: SmallDisk) => Promise<void>, size?: string): Promise<void> {
  await using disk = await SmallDisk.create(size);
  if (disk === undefined) throw new Error("no file system could be mounted");
  await work(disk);
}

Deno.test({
  name: "as root: in a project that can't be written, what only reads works and the rest is PZ0531, exit code 3",
  ignore,
  fn: () =>
    onDisk(async (disk) => {
      const cwd = `${disk.path}/project`;
      await writeFiles(cwd, PROJECT);
      await disk.makeReadOnly();
      for (const args of [["validate"], ["ls"], ["runs"], ["clean"], ["connectors"]]) {
        const result = await runPz(args, { cwd });
        assert.equal(result.code, 0, result.toString());
      }
      for (const args of [["run", "--all"], ["plan"], ["compile"], ["init", "../other"]]) {
        const result = await runPz(args, { cwd });
        assert.equal(result.code, 3, result.toString());
        assert.match(result.stderr, /^error PZ0531: Read-only file system.*\/disk\/.* — hint: .*can be written$/m);
      }
    }),
});

Deno.test({
  name: "as root: a disk that is full before a run begins is PZ0532, exit code 3, and nothing looks like a run",
  ignore,
  fn: () =>
    onDisk(async (disk) => {
      const cwd = `${disk.path}/project`;
      await writeFiles(cwd, PROJECT);
      await disk.fill();
      for (const args of [["run", "--all"], ["plan"], ["compile"], ["init", "../other"]]) {
        const result = await runPz(args, { cwd });
        assert.equal(result.code, 3, result.toString());
        assert.match(result.stderr, /^error PZ0532: No space left.*\/disk\/.* — hint: .*`pz clean`/m);
      }
      assert.deepEqual(runIds(cwd), []);
      await assert.rejects(Deno.lstat(`${disk.path}/other`), Deno.errors.NotFound);
    }),
});

Deno.test({
  name: "as root: a disk that fills up during a run fails the node that needs it, and `pz clean` makes room",
  ignore,
  fn: () =>
    onDisk(async (disk) => {
      const cwd = `${disk.path}/project`;
      await writeFiles(cwd, PROJECT);

      const full = await runPz(["run", "--all"], { cwd });

      assert.equal(full.code, 1, full.toString());
      assert.match(
        full.stdout,
        /^FAIL b_large .*\n {2}PZ0501: .*No space left.*\n {2}hint: free some space; `pz clean`/m,
      );
      assert.match(full.stdout, /^skip lake\.large /m);
      const { nodes } = readReceipt(cwd);
      assert.equal(nodes.length, 4);
      const written = (await listFiles(cwd)).filter((path) => path.startsWith("out/"));
      assert.deepEqual(written.filter((path) => path !== "out/small/small.csv"), []);

      const cleaned = await runPz(["clean", "--keep-last", "0"], { cwd });
      assert.equal(cleaned.code, 0, cleaned.toString());
      const again = await runPz(["run", "a_small"], { cwd });
      assert.equal(again.code, 0, again.toString());
    }),
});

Deno.test({
  name: "as root: a disk that is nearly full when the staging database is opened is PZ0532 with its hint, exit code 3",
  ignore,
  fn: () =>
    onDisk(async (disk) => {
      const cwd = `${disk.folder.path}/project`;
      await writeFiles(cwd, PROJECT);
      await Deno.symlink(disk.path, `${cwd}/.pz`);

      const result = await runPz(["run", "a_small"], { cwd });

      assert.equal(result.code, 3, result.toString());
      assert.match(
        result.stderr,
        /^error PZ0532: the staging database of the run can't be opened: .*No space left.* — hint: .*`pz clean`/m,
      );
    }, "24k"),
});

Deno.test({
  name: "as root: outputs of duckdb and sqlite on a full disk tell what to do",
  ignore,
  fn: () =>
    onDisk(async (disk) => {
      const cwd = `${disk.folder.path}/project`;
      const rows = "SELECT range AS id, hash(range)::VARCHAR AS h FROM range(100000)\n";
      await writeFiles(cwd, {
        "project.yml": PROJECT["project.yml"] ?? "",
        "connections.yml": `duck: { connector: duckdb, path: "${disk.path}/d.duckdb" }\n` +
          `lite: { connector: sqlite, path: "${disk.path}/s.sqlite" }\n`,
        "pipelines/a.sql": `INSERT INTO {{ sink('duck', 't', strategy: 'replace') }}\n${rows}`,
        "pipelines/b.sql": `INSERT INTO {{ sink('lite', 't', strategy: 'replace') }}\n${rows}`,
      });
      const told = [
        /^FAIL duck\.t .*\n {2}PZ0501: .*No space left.*\n {2}hint: free some space/m,
        /^FAIL lite\.t .*\n {2}PZ0501: .*disk is full.*\n {2}hint: free some space/m,
      ];
      const some = await runPz(["run", "--all"], { cwd });
      assert.equal(some.code, 1, some.toString());
      for (const pattern of told) assert.match(some.stdout, pattern);

      for (const name of ["d.duckdb", "s.sqlite"]) await Deno.remove(`${disk.path}/${name}`);
      await disk.fill();
      const none = await runPz(["run", "--all"], { cwd });
      assert.equal(none.code, 1, none.toString());
      assert.match(none.stdout, /^FAIL duck\.t .*\n {2}PZ0311: .*no space is left.*\n {2}hint: free some space/m);
      assert.match(none.stdout, told[1] ?? /$^/);
    }, "512k"),
});

Deno.test({
  name: "as root: a retry of a run whose lock can't be written tells that, and not that another retries it",
  ignore,
  fn: () =>
    onDisk(async (disk) => {
      const cwd = `${disk.folder.path}/project`;
      await writeFiles(cwd, { ...PROJECT, "pipelines/b_large.sql": "SELECT error('no')" });
      const failed = await runPz(["run", "--all"], { cwd });
      assert.equal(failed.code, 1, failed.toString());
      const [id = ""] = runIds(cwd);
      const folder = `${cwd}/.pz/runs/${id}`;
      for (const name of ["intent.json", "journal.ndjson", "run_results.json", ".lock"]) {
        await Deno.mkdir(`${disk.path}/${id}`, { recursive: true });
        await Deno.copyFile(`${folder}/${name}`, `${disk.path}/${id}/${name}`);
      }
      await Deno.remove(folder, { recursive: true });
      await Deno.symlink(`${disk.path}/${id}`, folder);
      await disk.makeReadOnly();

      const retry = await runPz(["retry", id], { cwd });

      assert.equal(retry.code, 3, retry.toString());
      assert.match(
        retry.stderr,
        /^error PZ0531: the lock '.*\.lock' of a run can't be taken: (Read-only|it can only be read)/m,
      );
      const runs = await runPz(["runs"], { cwd });
      assert.doesNotMatch(runs.stdout, /running/);
    }),
});
