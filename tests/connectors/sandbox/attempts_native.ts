import { type Attempt, builtin, type Loaded, must, SECRET_VARIABLE, tells, unknownMember } from "./attempt.ts";

/** Native code and plain memory. */
export const FFI: readonly Attempt[] = [
  {
    kind: "ffi",
    name: "Deno.dlopen",
    permission: "ffi",
    run: () => Deno.dlopen("libc.so.6", { getpid: { parameters: [], result: "i32" } }).close(),
  },
  { kind: "ffi", name: "Deno.UnsafePointer.of", run: () => must(Deno.UnsafePointer.of(new Uint8Array(8)) !== null) },
  { kind: "ffi", name: "Deno.UnsafePointer.create", run: () => must(Deno.UnsafePointer.create(4096n) !== null) },
  {
    kind: "ffi",
    name: "Deno.UnsafePointerView",
    run: () => {
      const place = Deno.UnsafePointer.of(new Uint8Array([7]));
      if (place === null) throw new Error("no pointer");
      must(new Deno.UnsafePointerView(place).getUint8() === 7);
    },
  },
  {
    kind: "ffi",
    name: "Deno.UnsafeCallback",
    run: () => new Deno.UnsafeCallback({ parameters: [], result: "void" }, () => {}).close(),
  },
  {
    kind: "ffi",
    name: "process.dlopen",
    run: ({ addon }) =>
      unknownMember(unknownMember(globalThis, "process"), "dlopen").call(unknownMember(globalThis, "process"), {
        exports: {},
      }, addon),
  },
  {
    kind: "ffi",
    name: "createRequire of an addon",
    run: async ({ addon }) => (await import("node:module")).createRequire(`file://${addon}`)(addon),
  },
  {
    kind: "ffi",
    name: "an addon by node:process",
    run: async ({ addon }) => unknownMember((await import("node:process")).default, "dlopen")({ exports: {} }, addon),
  },
];

const READ_IN_WORKER = (path: string) =>
  `try { postMessage(Deno.readTextFileSync(${JSON.stringify(path)})) } catch (error) { postMessage("no: " + error) }`;

/** Threads with rights of their own. */
export const WORKERS: readonly Attempt[] = [
  {
    kind: "workers",
    name: "a worker of a data URL",
    run: ({ secret }) =>
      told(new Worker(`data:text/javascript,${encodeURIComponent(READ_IN_WORKER(secret))}`, { type: "module" })),
  },
  {
    kind: "workers",
    name: "a worker with more rights",
    run: ({ secret }) => {
      const options = { type: "module", deno: { permissions: { read: true } } } as const;
      return told(new Worker(`data:text/javascript,${encodeURIComponent(READ_IN_WORKER(secret))}`, options));
    },
  },
  {
    kind: "workers",
    name: "a worker with inherited rights",
    run: ({ secret }) => {
      const options = { type: "module", deno: { permissions: "inherit" } } as const;
      return told(new Worker(`data:text/javascript,${encodeURIComponent(READ_IN_WORKER(secret))}`, options));
    },
  },
  {
    kind: "workers",
    name: "a worker of a blob",
    run: ({ secret }) => {
      const url = URL.createObjectURL(new Blob([READ_IN_WORKER(secret)], { type: "text/javascript" }));
      return told(new Worker(url, { type: "module" }));
    },
  },
  {
    kind: "workers",
    name: "a worker of a file",
    run: ({ outside }) => told(new Worker(`file://${outside}/worker.js`, { type: "module" })),
  },
  {
    kind: "workers",
    name: "node:worker_threads",
    run: async ({ secret }) => {
      const code = `const { parentPort } = require("node:worker_threads");
      try { parentPort.postMessage(require("node:fs").readFileSync(${JSON.stringify(secret)}, "utf8")) }
      catch (error) { parentPort.postMessage("no: " + error) }`;
      await toldByNode(await builtin("worker_threads"), code, { eval: true });
    },
  },
  {
    kind: "workers",
    name: "node:worker_threads of a file",
    run: async ({ outside }) => toldByNode(await builtin("worker_threads"), `${outside}/thread.cjs`, {}),
  },
  {
    kind: "workers",
    name: "a worker by getBuiltinModule",
    run: async ({ secret }) => {
      const get = unknownMember(unknownMember(globalThis, "process"), "getBuiltinModule");
      const code = `require("node:worker_threads").parentPort.postMessage(require("node:fs").readFileSync(${
        JSON.stringify(secret)
      }, "utf8"))`;
      await toldByNode(get("worker_threads"), code, { eval: true });
    },
  },
];

export async function told(worker: Worker): Promise<void> {
  try {
    tells(
      await new Promise((resolve, reject) => {
        worker.onmessage = (event) => resolve(event.data);
        worker.onerror = (event) => {
          event.preventDefault();
          reject(new Error(event.message));
        };
      }),
    );
  } finally {
    worker.terminate();
  }
}

async function toldByNode(threads: Loaded, code: string, options: { readonly eval?: boolean }): Promise<void> {
  const Thread = threads["Worker"];
  if (Thread === undefined) throw new Error("no worker_threads");
  const worker = new Thread(code, options);
  try {
    tells(
      await new Promise((resolve, reject) => {
        worker["on"]?.("message", resolve);
        worker["on"]?.("error", (error: unknown) => reject(error instanceof Error ? error : new Error(String(error))));
      }),
    );
  } finally {
    await (worker["terminate"]?.() as unknown as Promise<unknown> | undefined);
  }
}

/** The environment of the process and of its user. */
export const ENVIRONMENT: readonly Attempt[] = [
  { kind: "environment", name: "Deno.env.get", permission: "env", run: () => tells(Deno.env.get(SECRET_VARIABLE)) },
  {
    kind: "environment",
    name: "Deno.env.toObject",
    permission: "env",
    run: () => tells(JSON.stringify(Deno.env.toObject())),
  },
  { kind: "environment", name: "Deno.env.has", permission: "env", run: () => must(Deno.env.has(SECRET_VARIABLE)) },
  { kind: "environment", name: "Deno.env.set", permission: "env", run: () => Deno.env.set("LD_PRELOAD_X", "x") },
  {
    kind: "environment",
    name: "process.env",
    run: async () => tells((await import("node:process")).env[SECRET_VARIABLE]),
  },
  {
    kind: "environment",
    name: "the keys of process.env",
    run: async () => must(Object.keys((await import("node:process")).env).includes(SECRET_VARIABLE)),
  },
  { kind: "environment", name: "os.homedir", run: async () => must((await import("node:os")).homedir().length > 0) },
  {
    kind: "environment",
    name: "os.userInfo",
    run: async () => must((await import("node:os")).userInfo().username.length > 0),
  },
  { kind: "environment", name: "Deno.hostname", permission: "sys", run: () => must(Deno.hostname().length > 0) },
  {
    kind: "environment",
    name: "Deno.networkInterfaces",
    permission: "sys",
    run: () => must(Deno.networkInterfaces().length > 0),
  },
  { kind: "environment", name: "os.cpus", run: async () => must((await import("node:os")).cpus().length > 0) },
  { kind: "environment", name: "Deno.uid", permission: "sys", run: () => must(Deno.uid() !== null) },
  {
    kind: "environment",
    name: "Deno.systemMemoryInfo",
    permission: "sys",
    run: () => must(Deno.systemMemoryInfo().total > 0),
  },
];
