import { type Attempt, builtin, load, type Loaded, must, tells, unknownMember } from "./attempt.ts";
import { told } from "./attempts_native.ts";

/** One that is open stays open: a runtime may fall over its closing. */
function openInspector(inspector: Loaded, port: number, host: string): void {
  const isOpen = () => String(inspector["url"]?.()).startsWith("ws:");
  if (!isOpen()) inspector["open"]?.(port, host);
  must(isOpen());
}

/** The debugger, which may do anything. */
export const INSPECTOR: readonly Attempt[] = [
  {
    kind: "inspector",
    name: "open",
    run: async () => {
      const inspector = await builtin("inspector");
      openInspector(inspector, 0, "127.0.0.1");
    },
  },
  {
    kind: "inspector",
    name: "open on the granted port",
    run: async ({ grantedPort }) => {
      const inspector = await builtin("inspector");
      openInspector(inspector, grantedPort, "127.0.0.4");
    },
  },
  {
    kind: "inspector",
    name: "a session that evaluates",
    run: async () => {
      const Session = (await builtin("inspector"))["Session"];
      if (Session === undefined) throw new Error("no sessions");
      const session = new Session();
      session["connect"]?.();
      const answer = await new Promise((resolve, reject) => {
        session["post"]?.(
          "Runtime.evaluate",
          { expression: "1 + 41" },
          (error: unknown, result: unknown) => error ? reject(new Error("no")) : resolve(result),
        );
      });
      must(JSON.stringify(answer).includes("42"));
    },
  },
  {
    kind: "inspector",
    name: "a session by promises",
    run: async () => {
      const Session = (await builtin("inspector/promises"))["Session"];
      if (Session === undefined) throw new Error("no sessions");
      const session = new Session();
      session["connect"]?.();
      must(JSON.stringify(await session["post"]?.("Runtime.evaluate", { expression: "1 + 41" })).includes("42"));
    },
  },
  {
    kind: "inspector",
    name: "another process's inspector",
    run: ({ pid }) => {
      unknownMember(unknownMember(globalThis, "process"), "_debugProcess")(pid);
    },
  },
  {
    kind: "inspector",
    name: "a profile of the heap in a file",
    run: async ({ victims }) =>
      must(String((await builtin("v8"))["writeHeapSnapshot"]?.(`${victims}/heap`)).length > 0),
  },
  {
    kind: "inspector",
    name: "by getBuiltinModule",
    run: () => {
      const get = unknownMember(unknownMember(globalThis, "process"), "getBuiltinModule");
      const inspector = get("inspector");
      openInspector(inspector, 0, "127.0.0.1");
    },
  },
];

/** Built-in modules that lead around permissions, or out of the guard. */
export const BUILTINS: readonly Attempt[] = [
  {
    kind: "builtins",
    name: "module.registerHooks",
    run: async ({ secretModule }) => {
      const module = await builtin("module");
      const hooks = module["registerHooks"]?.({
        load: (url: string, context: unknown, next: (url: string, context: unknown) => unknown) =>
          url.endsWith("hooked") ? next(`file://${secretModule}`, context) : next(url, context),
      });
      try {
        tells((await load("data:text/javascript,export default 1#hooked"))["secret"]);
      } finally {
        hooks?.["deregister"]?.();
      }
    },
  },
  {
    kind: "builtins",
    name: "module._load",
    run: async ({ secretCommonJs }) =>
      tells((await builtin("module"))["default"]?.["_load"]?.(secretCommonJs, null, false)?.["secret"]),
  },
  {
    kind: "builtins",
    name: "require.main",
    run: async ({ secretCommonJs }) => {
      const main = (await import("node:process")).default.mainModule;
      if (main === undefined) throw new Error("no main module");
      tells(main.require(secretCommonJs).secret);
    },
  },
  {
    kind: "builtins",
    name: "process.getBuiltinModule",
    run: ({ secret }) => {
      const get = unknownMember(unknownMember(globalThis, "process"), "getBuiltinModule");
      tells(get("fs")["readFileSync"]?.(secret, "utf8"));
    },
  },
  {
    kind: "builtins",
    name: "getBuiltinModule of node:process",
    run: async ({ secretCommonJs }) => {
      const get = (await builtin("process"))["getBuiltinModule"];
      tells(get?.("module")["createRequire"]?.(`file://${secretCommonJs}`)(secretCommonJs)["secret"]);
    },
  },
  {
    kind: "builtins",
    name: "process.binding",
    run: () => must(Object.keys(unknownMember(unknownMember(globalThis, "process"), "binding")("fs")).length > 0),
  },
  {
    kind: "builtins",
    name: "node:vm",
    run: async ({ secret }) => {
      const code = `globalThis.process.getBuiltinModule("fs").readFileSync(${JSON.stringify(secret)}, "utf8")`;
      tells((await builtin("vm"))["runInThisContext"]?.(code));
    },
  },
  {
    kind: "builtins",
    name: "an import in node:vm",
    run: async ({ secretModule }) => {
      const vm = await builtin("vm");
      const options = { importModuleDynamically: vm["constants"]?.["USE_MAIN_CONTEXT_DEFAULT_LOADER"] };
      tells((await vm["runInThisContext"]?.(`import("file://${secretModule}")`, options))?.["secret"]);
    },
  },
  {
    kind: "builtins",
    name: "node:repl",
    run: async ({ secret }) => {
      const repl = (await builtin("repl"))["start"]?.({ useGlobal: true, input: undefined });
      const code = `globalThis.process.getBuiltinModule("fs").readFileSync(${JSON.stringify(secret)}, "utf8")`;
      try {
        tells(
          await new Promise((resolve, reject) => {
            const done = (error: unknown, value: unknown) => error === null ? resolve(value) : reject(error);
            repl?.["eval"]?.(code, globalThis, "repl", done);
          }),
        );
      } finally {
        repl?.["close"]?.();
      }
    },
  },
  {
    kind: "builtins",
    name: "node:cluster",
    run: async () => {
      const cluster = await builtin("cluster");
      const worker = cluster["default"]?.["fork"]?.();
      worker?.["kill"]?.();
      must(worker !== undefined);
    },
  },
  {
    kind: "builtins",
    name: "node:sqlite with an extension",
    run: async ({ addon }) => {
      const { DatabaseSync } = await import("node:sqlite");
      new DatabaseSync(":memory:", { allowExtension: true }).loadExtension(addon);
    },
  },
  {
    kind: "builtins",
    name: "node:test that runs files",
    run: async ({ outside }) => {
      const run = (await builtin("test"))["run"];
      if (run === undefined) throw new Error("no run");
      const events = run({ files: [`${outside}/thread.cjs`] }) as unknown as AsyncIterable<{ readonly type: string }>;
      let passed = false;
      for await (const { type } of events) passed ||= type === "test:pass";
      must(passed);
    },
  },
  {
    kind: "builtins",
    name: "the runtime's own operations",
    run: () => must(Object.keys(unknownMember(Deno, "core")["ops"] ?? {}).length > 0),
  },
  {
    kind: "builtins",
    name: "the runtime's insides",
    run: () => {
      const name: unknown = unknownMember(Deno, "internal");
      const inside = typeof name === "symbol" ? Reflect.get(Deno, name) : undefined;
      must(Object.keys(Reflect.get(Reflect.get(Object(inside), "core"), "ops")).length > 0);
    },
  },
];

/** A module that gives what it imports as `f` from `env`. */
const WASM = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0]);

/** Compiled code: of a file, or with the system's calls. */
export const WASM_ATTEMPTS: readonly Attempt[] = [
  {
    kind: "wasm",
    name: "import of a file",
    run: async ({ secretWasm }) => must((await load(`file://${secretWasm}`))["secret"] !== undefined),
  },
  {
    kind: "wasm",
    name: "compileStreaming of a file URL",
    run: async ({ secretWasm }) =>
      must(await WebAssembly.compileStreaming(wasm(await fetch(`file://${secretWasm}`))) instanceof WebAssembly.Module),
  },
  {
    kind: "wasm",
    name: "compilation of a file's bytes",
    run: async ({ secretWasm }) =>
      must(await WebAssembly.compile(await Deno.readFile(secretWasm)) instanceof WebAssembly.Module),
  },
  {
    kind: "wasm",
    name: "compileStreaming from another port",
    run: async ({ otherPort }) =>
      must(
        await WebAssembly.compileStreaming(fetch(`http://127.0.0.1:${otherPort}/module.wasm`)) instanceof
          WebAssembly.Module,
      ),
  },
  {
    kind: "wasm",
    name: "import from another port",
    run: async ({ otherPort }) =>
      must((await load(`http://127.0.0.1:${otherPort}/module.wasm`))["secret"] !== undefined),
  },
  {
    kind: "wasm",
    name: "node:wasi with a folder",
    run: async ({ outside }) => {
      const Wasi = (await builtin("wasi"))["WASI"];
      if (Wasi === undefined) throw new Error("no WASI");
      const system = new Wasi({ version: "preview1", preopens: { "/": outside } });
      must(Object.keys(system["wasiImport"] ?? {}).length > 0);
    },
  },
  {
    kind: "wasm",
    name: "a module that imports a file",
    run: async ({ secretModule }) => {
      const url = `data:application/wasm;base64,${importingWasm(`file://${secretModule}`)}`;
      must((await load(url)) !== undefined);
    },
  },
  {
    kind: "wasm",
    name: "a worker of compiled code",
    run: ({ secretWasm }) =>
      told(
        new Worker(
          `data:text/javascript,${
            encodeURIComponent(
              `import * as m from "file://${secretWasm}"; postMessage(m.secret === undefined ? "no" : "the crown jewels")`,
            )
          }`,
          { type: "module" },
        ),
      ),
  },
];

function wasm(response: Response): Response {
  return new Response(response.body, { headers: { "content-type": "application/wasm" } });
}

/** A module that imports the function `secret` of another, in base64. */
function importingWasm(specifier: string): string {
  const name = new TextEncoder().encode(specifier);
  const field = new TextEncoder().encode("call");
  const entry = [1, ...leb(name.length), ...name, ...leb(field.length), ...field, 0, 0];
  return btoa(String.fromCharCode(...WASM, 2, ...leb(entry.length), ...entry));
}

function leb(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...leb(value >> 7)];
}
