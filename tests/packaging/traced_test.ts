import assert from "node:assert/strict";
import { BINARY } from "../harness/cli.ts";
import { TempDir, writeFiles } from "../harness/temp_dir.ts";
import { hasProgram, programPath, runProgram } from "./machine.ts";

const traced = { ignore: BINARY === undefined || Deno.build.os !== "linux" || !hasProgram("strace") };

/** What the loader, the C library, the runtime and DuckDB look at on any Linux, and may only read. */
const SYSTEM_FILES = [
  "/dev/null",
  "/dev/urandom",
  "/etc/duckdb_je_malloc.conf",
  "/etc/ld.so.cache",
  "/etc/ld.so.preload",
  "/etc/localtime",
  "/proc/cpuinfo",
  "/proc/meminfo",
  "/proc/stat",
  "/proc/sys/vm/overcommit_memory",
];
const SYSTEM_FOLDERS = ["/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/", "/usr/share/zoneinfo/"].concat([
  "/proc/self/",
  "/sys/devices/system/cpu/",
  "/sys/fs/cgroup/",
]);

/** How a connector's process is tied to its parent: no name, no way out of the machine. */
const PIPES = /^(?:socketpair|getsockname|getsockopt|setsockopt|send\w*|recv\w*|shutdown)$/;

const PROJECT = {
  "project.yml": `name: traced\nversion: "1"\n`,
  "connections.yml": `lake: { connector: localfiles, root: out }\ngen: { connector: generate }\n`,
  "pipelines/p.sql": `INSERT INTO {{ sink('lake', 'p', format: 'parquet', strategy: 'replace') }}\n` +
    `SELECT * FROM {{ source('gen', 'things', rows: 10) }}\n`,
};

type Call = { readonly name: string; readonly text: string };

function callsIn(log: string): Call[] {
  return log.split("\n").flatMap((line) => {
    const match = /^\d+ +(\w+)\((.*)$/.exec(line);
    return match === null ? [] : [{ name: match[1] ?? "", text: match[2] ?? "" }];
  });
}

Deno.test(
  "a local run touches the project, the cache and a list of system files, and no network (needs strace)",
  traced,
  async () => {
    await using temp = await TempDir.create();
    const project = temp.join("project");
    await writeFiles(project, PROJECT);
    const log = temp.join("log");
    const strace = [programPath("strace"), "-f", "-qq", "-e", "trace=file,network", "-e", "signal=none", "-s", "4096"];
    const command = [...strace, "-o", log, BINARY ?? "", "run", "--all"];
    const result = await runProgram(command, project, { PZ_CACHE_DIR: temp.join("cache"), HOME: temp.join("home") });
    assert.equal(result.code, 0, result.toString());

    const calls = callsIn(await Deno.readTextFile(log));
    const own = [project, temp.join("cache")];
    const isIn = (path: string, folder: string) => path === folder || path.startsWith(`${folder}/`);
    const strange = new Set<string>();
    const network = new Set<string>();
    for (const { name, text } of calls) {
      const path = /"((?:[^"\\]|\\.)*)"/.exec(text)?.[1];
      if (/^(?:socket|connect|bind|listen|accept)/.test(name) && !PIPES.test(name)) network.add(`${name}(${text}`);
      if (path === undefined || !path.startsWith("/") || PIPES.test(name)) continue;
      const writes = /O_WRONLY|O_RDWR|O_CREAT/.test(text) ||
        /^(?:mkdir|rename|unlink|link|symlink|chmod|chown|truncate|rmdir)/.test(name);
      const isOwn = own.some((folder) => isIn(path, folder));
      const isAbove = [...own, BINARY ?? ""].some((folder) => isIn(folder, path)) && !name.startsWith("open");
      const isSystem = path === BINARY || SYSTEM_FILES.includes(path) ||
        SYSTEM_FOLDERS.some((folder) => `${path}/`.startsWith(folder));
      if (!isOwn && (writes || !(isAbove || isSystem))) strange.add(`${name}(${text}`);
    }
    assert.deepEqual([...strange], []);
    assert.deepEqual([...network], []);
    for (const expected of ["project.yml", "libduckdb.so", "libstdc++.so"]) {
      assert.ok(calls.some(({ text }) => text.includes(expected)), `the trace lacks ${expected}`);
    }
  },
);
