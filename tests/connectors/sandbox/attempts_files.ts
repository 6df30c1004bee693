import { type Attempt, load, must, SECRET, tells } from "./attempt.ts";

/** Files outside of the grant, by every way that the runtime has. */
export const FILES: readonly Attempt[] = [
  {
    kind: "files",
    name: "Deno.readTextFile",
    permission: "read",
    run: async ({ secret }) => tells(await Deno.readTextFile(secret)),
  },
  {
    kind: "files",
    name: "a path that leads out of the granted folder",
    permission: "read",
    run: ({ granted, secret }) => tells(Deno.readTextFileSync(`${granted}/../../..${"/..".repeat(12)}${secret}`)),
  },
  {
    kind: "files",
    name: "Deno.open",
    permission: "read",
    run: async ({ secret }) => {
      using file = await Deno.open(secret);
      const buffer = new Uint8Array(100);
      tells(new TextDecoder().decode(buffer.subarray(0, await file.read(buffer) ?? 0)));
    },
  },
  {
    kind: "files",
    name: "fetch of a file URL",
    run: async ({ secret }) => tells(await (await fetch(`file://${secret}`)).text()),
  },
  {
    kind: "files",
    name: "Deno.readDir",
    permission: "read",
    run: async ({ outside }) => must((await Array.fromAsync(Deno.readDir(outside))).length > 0),
  },
  {
    kind: "files",
    name: "Deno.stat",
    permission: "read",
    run: async ({ secret }) => must((await Deno.stat(secret)).size > 0),
  },
  {
    kind: "files",
    name: "Deno.realPath",
    permission: "read",
    run: async ({ secret }) => must((await Deno.realPath(secret)).length > 0),
  },
  {
    kind: "files",
    name: "Deno.watchFs",
    permission: "read",
    run: ({ outside }) => {
      Deno.watchFs(outside).close();
    },
  },
  {
    kind: "files",
    name: "Deno.writeTextFile",
    permission: "write",
    run: ({ victims }) => Deno.writeTextFile(`${victims}/new`, "x"),
  },
  {
    kind: "files",
    name: "Deno.copyFile into the grant",
    permission: "read",
    run: ({ secret, granted }) => Deno.copyFile(secret, `${granted}/copy`),
  },
  {
    kind: "files",
    name: "Deno.rename into the grant",
    run: ({ victims, granted }) => Deno.rename(`${victims}/moved`, `${granted}/moved`),
  },
  { kind: "files", name: "Deno.remove", permission: "write", run: ({ victims }) => Deno.remove(`${victims}/removed`) },
  {
    kind: "files",
    name: "Deno.truncate",
    permission: "write",
    run: ({ victims }) => Deno.truncate(`${victims}/cut`, 0),
  },
  { kind: "files", name: "Deno.chmod", permission: "write", run: ({ victims }) => Deno.chmod(`${victims}/cut`, 0o777) },
  { kind: "files", name: "Deno.mkdir", permission: "write", run: ({ victims }) => Deno.mkdir(`${victims}/folder`) },
  { kind: "files", name: "Deno.makeTempFile", run: async () => must((await Deno.makeTempFile()).length > 0) },
  {
    kind: "files",
    name: "node:fs readFileSync",
    permission: "read",
    run: async ({ secret }) => tells((await import("node:fs")).readFileSync(secret, "utf8")),
  },
  {
    kind: "files",
    name: "node:fs/promises open",
    permission: "read",
    run: async ({ secret }) => {
      const file = await (await import("node:fs/promises")).open(secret);
      try {
        tells(await file.readFile("utf8"));
      } finally {
        await file.close();
      }
    },
  },
  {
    kind: "files",
    name: "node:fs openAsBlob",
    run: async ({ secret }) => tells(await (await (await import("node:fs")).openAsBlob(secret)).text()),
  },
  {
    kind: "files",
    name: "node:fs createReadStream",
    permission: "read",
    run: async ({ secret }) => {
      let text = "";
      for await (const part of (await import("node:fs")).createReadStream(secret, "utf8")) text += part;
      tells(text);
    },
  },
  {
    kind: "files",
    name: "node:fs cpSync",
    run: async ({ secret, granted }) => (await import("node:fs")).cpSync(secret, `${granted}/copy2`),
  },
  {
    kind: "files",
    name: "node:sqlite with another file",
    run: async ({ victims }) => {
      const { DatabaseSync } = await import("node:sqlite");
      new DatabaseSync(`${victims}/other.db`).close();
    },
  },
  {
    kind: "files",
    name: "node:sqlite ATTACH",
    run: async ({ victims }) => {
      const { DatabaseSync } = await import("node:sqlite");
      const database = new DatabaseSync(":memory:");
      try {
        database.exec(`ATTACH '${victims}/attached.db' AS x; CREATE TABLE x.t (a)`);
      } finally {
        database.close();
      }
    },
  },
];

/** Links that lie in the granted folder and lead out of it: only the system follows them to their end. */
export const SYMLINKS: readonly Attempt[] = [
  {
    kind: "symlinks",
    name: "a read through a link to a file",
    only: "landlock",
    run: async ({ granted }) => tells(await Deno.readTextFile(`${granted}/file_link`)),
  },
  {
    kind: "symlinks",
    name: "a read through a link to a folder",
    only: "landlock",
    run: async ({ granted }) => must((await Deno.readTextFile(`${granted}/folder_link/cut`)).length >= 0),
  },
  {
    kind: "symlinks",
    name: "node:fs through a link",
    only: "landlock",
    run: async ({ granted }) => tells((await import("node:fs")).readFileSync(`${granted}/file_link`, "utf8")),
  },
  {
    kind: "symlinks",
    name: "a listing through a link",
    only: "landlock",
    run: async ({ granted }) => must((await Array.fromAsync(Deno.readDir(`${granted}/folder_link`))).length > 0),
  },
  {
    kind: "symlinks",
    name: "a write through a link",
    only: "landlock",
    run: ({ granted }) => Deno.writeTextFile(`${granted}/folder_link/through`, "x"),
  },
  {
    kind: "symlinks",
    name: "a removal through a link",
    only: "landlock",
    run: ({ granted }) => Deno.remove(`${granted}/folder_link/removed2`),
  },
  {
    kind: "symlinks",
    name: "a copy through a link",
    only: "landlock",
    run: ({ granted }) => Deno.copyFile(`${granted}/file_link`, `${granted}/copy3`),
  },
  {
    kind: "symlinks",
    name: "a move through a link",
    only: "landlock",
    run: ({ granted }) => Deno.rename(`${granted}/folder_link/moved2`, `${granted}/moved2`),
  },
  {
    kind: "symlinks",
    name: "a truncation through a link",
    only: "landlock",
    run: ({ granted }) => Deno.truncate(`${granted}/folder_link/cut2`, 0),
  },
  { kind: "symlinks", name: "a new link", run: ({ secret, granted }) => Deno.symlink(secret, `${granted}/new_link`) },
  {
    kind: "symlinks",
    name: "a new link by node:fs",
    run: async ({ secret, granted }) => (await import("node:fs")).symlinkSync(secret, `${granted}/new_link2`),
  },
  { kind: "symlinks", name: "a hard link", run: ({ secret, granted }) => Deno.link(secret, `${granted}/hard`) },
];

/** The file system of processes and devices. */
export const PROC: readonly Attempt[] = [
  {
    kind: "proc",
    name: "/proc/self/environ",
    run: async () => must((await Deno.readTextFile("/proc/self/environ")).length > 0),
  },
  {
    kind: "proc",
    name: "/proc/self/maps",
    run: async () => must((await Deno.readTextFile("/proc/self/maps")).length > 0),
  },
  {
    kind: "proc",
    name: "/proc/self/mem",
    run: async () => (await Deno.open("/proc/self/mem", { read: true, write: true })).close(),
  },
  {
    kind: "proc",
    name: "/proc/self/root",
    run: async ({ secret }) => tells(await Deno.readTextFile(`/proc/self/root${secret}`)),
  },
  {
    kind: "proc",
    name: "/proc/self/fd",
    run: async () => must((await Array.fromAsync(Deno.readDir("/proc/self/fd"))).length > 0),
  },
  { kind: "proc", name: "/proc/self/oom_score_adj", run: () => Deno.writeTextFile("/proc/self/oom_score_adj", "10") },
  {
    kind: "proc",
    name: "another process's environment",
    run: async ({ pid }) => must((await Deno.readTextFile(`/proc/${pid}/environ`)).length > 0),
  },
  {
    kind: "proc",
    name: "another process's command line",
    run: async ({ pid }) => must((await Deno.readTextFile(`/proc/${pid}/cmdline`)).length > 0),
  },
  {
    kind: "proc",
    name: "another process's root",
    run: async ({ pid, secret }) => tells(await Deno.readTextFile(`/proc/${pid}/root${secret}`)),
  },
  { kind: "proc", name: "/dev/tty or /dev/zero", run: async () => (await Deno.open("/dev/zero")).close() },
  { kind: "proc", name: "/sys", run: async () => must((await Array.fromAsync(Deno.readDir("/sys"))).length > 0) },
];

/** Modules by whose loading a file is read. */
export const IMPORTS: readonly Attempt[] = [
  {
    kind: "import",
    name: "a module",
    run: async ({ secretModule }) => tells((await load(`file://${secretModule}`))["secret"]),
  },
  {
    kind: "import",
    name: "JSON",
    run: async ({ secretJson }) =>
      tells(JSON.stringify((await load(`file://${secretJson}`, { type: "json" }))["default"])),
  },
  {
    kind: "import",
    name: "an absolute path",
    run: async ({ secretModule }) => tells((await load(secretModule))["secret"]),
  },
  {
    kind: "import",
    name: "a scheme in capitals",
    run: async ({ secretJson }) =>
      tells(JSON.stringify((await load(`FILE://${secretJson}`, { type: "json" }))["default"])),
  },
  {
    kind: "import",
    name: "a scheme with one slash",
    run: async ({ secretJson }) =>
      tells(JSON.stringify((await load(`file:${secretJson}?x`, { type: "json" }))["default"])),
  },
  {
    kind: "import",
    name: "a file URL with a host",
    run: async ({ secretModule }) => tells((await load(`file://localhost${secretModule}`))["secret"]),
  },
  {
    kind: "import",
    name: "a path of escapes",
    run: async ({ secretModule }) => tells((await load(`file://${secretModule.replaceAll("s", "%73")}`))["secret"]),
  },
  {
    kind: "import",
    name: "/proc/self/root",
    run: async ({ secretModule }) => tells((await load(`file:///proc/self/root${secretModule}`))["secret"]),
  },
  {
    kind: "import",
    name: "a module in a data URL",
    run: async ({ secretModule }) => {
      const code = `export { secret } from "file://${secretModule}";`;
      tells((await load(`data:text/javascript,${encodeURIComponent(code)}`))["secret"]);
    },
  },
  {
    kind: "import",
    name: "a link in the granted folder",
    only: "landlock",
    run: async ({ granted }) => tells((await load(`file://${granted}/module_link.js`))["secret"]),
  },
  {
    kind: "import",
    name: "text",
    run: async ({ secret }) => tells((await load(`file://${secret}`, { type: "text" }))["default"]),
  },
  {
    kind: "import",
    name: "bytes",
    run: async ({ secret }) =>
      must(
        Number((await load(`file://${secret}`, { type: "bytes" }))["default"]?.["length"]) === SECRET.length,
      ),
  },
  {
    kind: "import",
    name: "a module by HTTP",
    run: async ({ otherPort }) => tells((await load(`http://127.0.0.1:${otherPort}/module.js`))["secret"]),
  },
  {
    kind: "import",
    name: "createRequire of JSON",
    run: async ({ secretJson }) => {
      const { createRequire } = await import("node:module");
      tells(JSON.stringify(createRequire(`file://${secretJson}`)(secretJson)));
    },
  },
  {
    kind: "import",
    name: "createRequire of a module",
    run: async ({ secretCommonJs }) => {
      const { createRequire } = await import("node:module");
      tells(createRequire(`file://${secretCommonJs}`)(secretCommonJs).secret);
    },
  },
];
