import { type Attempt, type Loaded, must, unknownMember } from "./attempt.ts";

function constructorOf(value: object): (...code: readonly string[]) => (...args: readonly unknown[]) => unknown {
  return Reflect.get(Object.getPrototypeOf(value), "constructor");
}

/** Code out of texts, which a reader of the connector's code would not see. */
export const CODE: readonly Attempt[] = [
  { kind: "code", name: "eval", run: () => must(unknownMember(globalThis, "eval")("1 + 41") as unknown === 42) },
  { kind: "code", name: "Function", run: () => must(constructorOf(() => {})("return 42")() === 42) },
  {
    kind: "code",
    name: "an async function's constructor",
    run: () => must(constructorOf(async () => {})("return 42")() instanceof Promise),
  },
  {
    kind: "code",
    name: "a generator's constructor",
    run: () => must(constructorOf(function* () {})("yield 42")() !== undefined),
  },
  {
    kind: "code",
    name: "a generator's constructor, asynchronous",
    run: () => must(constructorOf(async function* () {})("yield 42")() !== undefined),
  },
  {
    kind: "code",
    name: "the runtime's compiler",
    run: () => must(JSON.stringify(core()["evalContext"]?.("1 + 41", "file:///x.js")).includes("42")),
  },
  {
    kind: "code",
    name: "the runtime's resources",
    run: () => must(Object.keys(Object(core()["resources"]?.())).length > 0),
  },
];

/** What the runtime keeps for itself. */
function core(): Loaded {
  const name: unknown = unknownMember(Deno, "internal");
  const inside: unknown = typeof name === "symbol" ? Reflect.get(Deno, name) : undefined;
  if (typeof inside !== "object" || inside === null) throw new Error("no insides");
  return unknownMember(inside, "core");
}

/** What is the machine's, the process's or the user's. */
export const SYSTEM: readonly Attempt[] = [
  {
    kind: "system",
    name: "a permission asked for",
    run: async () => must((await Deno.permissions.request({ name: "read", path: "/" })).state === "granted"),
  },
  {
    kind: "system",
    name: "a permission asked for at once",
    run: () => must(Deno.permissions.requestSync({ name: "run" }).state === "granted"),
  },
  { kind: "system", name: "Deno.chdir", permission: "read", run: () => Deno.chdir("/") },
  { kind: "system", name: "process.chdir", run: async () => (await import("node:process")).chdir("/") },
  { kind: "system", name: "localStorage", run: () => localStorage.setItem("pz", "1") },
  { kind: "system", name: "caches", run: async () => must(await caches.open("pz") !== undefined) },
  {
    kind: "system",
    name: "Deno.openKv",
    run: async ({ victims }) => (await unknownMember(Deno, "openKv")(`${victims}/kv`))["close"]?.(),
  },
  {
    kind: "system",
    name: "process.setuid",
    run: () => unknownMember(unknownMember(globalThis, "process"), "setuid")(65534),
  },
  { kind: "system", name: "Deno.loadavg", permission: "sys", run: () => must(Deno.loadavg().length === 3) },
];
