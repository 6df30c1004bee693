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

  static async create(): Promise<SmallDisk | undefined> {
    const folder = await TempDir.create();
    const path = folder.join("disk");
    await Deno.mkdir(path);
    if (await mount("-t", "tmpfs", "-o", "size=12m", "tmpfs", path)) return new SmallDisk(path, folder);
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

async function onDisk(work: (disk: SmallDisk) => Promise<void>): Promise<void> {
  await using disk = await SmallDisk.create();
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
