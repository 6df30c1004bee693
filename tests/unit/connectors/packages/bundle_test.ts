import assert from "node:assert/strict";
import { bundleConnector } from "../../../../src/connectors/packages/bundle.ts";
import { PzError } from "../../../../src/errors/mod.ts";
import { type Files, TempDir, writeFiles } from "../../../harness/temp_dir.ts";

async function bundled(files: Files): Promise<{ readonly code: string; readonly modules: readonly string[] }> {
  await using folder = await TempDir.create();
  await writeFiles(folder.path, files);
  return await bundleConnector(folder.path, "connector.ts");
}

/** What the bundle exports as `connector`. */
async function run(files: Files): Promise<unknown> {
  const { code } = await bundled(files);
  return (await import(`data:text/javascript,${encodeURIComponent(code)}`)).connector;
}

async function refusal(files: Files): Promise<string> {
  try {
    await bundled(files);
  } catch (error) {
    assert.ok(error instanceof PzError && error.code === "PZ0744", String(error));
    return `${error.file}:${error.line}:${error.column} ${error.message}`;
  }
  throw new Error("it was bundled");
}

Deno.test("modules below the folder become one, with their types gone", async () => {
  const files = {
    "connector.ts": `import { twice, type Number2 } from "./lib/twice.js";
import shout, { COUNT as count } from "./lib/shout.ts";
import * as all from "./plain.js";
import type { Never } from "./nowhere.ts";
enum Level { Low, High }
class Box { constructor(readonly value: Number2) {} }
export const connector = { value: twice(new Box(21).value as Number2), text: shout("x"), count, all: all.named, level: Level.High };
export type Unused = Never;
`,
    "lib/twice.ts": "export type Number2 = number;\nexport function twice(n: Number2): Number2 { return n * 2; }\n",
    "lib/shout.ts":
      "export let COUNT = 0;\nCOUNT++;\nexport default (text: string): string => text.toUpperCase() + COUNT;\n",
    "plain.js": "export { named } from './lib/more.mjs';\n",
    "lib/more.mjs": "export const named = 'more';\n",
  };
  assert.deepEqual(await run(files), { value: 42, text: "X1", count: 1, all: "more", level: 1 });
  assert.deepEqual((await bundled(files)).modules, [
    "lib/more.mjs",
    "lib/shout.ts",
    "lib/twice.ts",
    "plain.js",
    "connector.ts",
  ]);
});

Deno.test("built-in modules are imported as they are, with defaults and names", async () => {
  const files = {
    "connector.ts": `import assert from "node:assert/strict";
import process, { platform } from "node:process";
import { join } from "node:path";
assert.ok(true);
export const connector = [typeof process.pid, platform === process.platform, join("a", "b")];
`,
  };
  assert.deepEqual(await run(files), ["number", true, "a/b"]);
});

Deno.test("modules that import each other in a circle work as modules do", async () => {
  const files = {
    "connector.ts":
      `import { odd } from "./odd.ts";\nexport const even = (n: number): boolean => n === 0 || odd(n - 1);\nexport const connector = [even(10), odd(7)];\n`,
    "odd.ts":
      `import { even } from "./connector.ts";\nexport const odd = (n: number): boolean => n !== 0 && even(n - 1);\n`,
  };
  assert.deepEqual(await run(files), [true, true]);
});

Deno.test("one source gives the same bundle every time", async () => {
  const files = {
    "connector.ts": `import "./b.ts";\nimport "./a.ts";\nexport const connector = 1;\n`,
    "a.ts": "",
    "b.ts": "",
  };
  assert.equal((await bundled(files)).code, (await bundled(files)).code);
});

Deno.test("what can't be bundled is refused with its place and what to do", async () => {
  assert.equal(
    await refusal({ "connector.ts": `\nimport pg from "pg";\nexport const connector = pg;\n` }),
    "connector.ts:2:1 'connector.ts' imports 'pg', a package that pz can't bundle",
  );
  assert.equal(
    await refusal({ "connector.ts": `import "./gone.ts";\n` }),
    "connector.ts:1:1 'connector.ts' imports './gone.ts', and there is no such module below the folder",
  );
  assert.match(await refusal({ "connector.ts": `import "../../../etc/x.js";\n` }), /no such module below the folder/);
  assert.match(
    await refusal({ "connector.ts": `export const connector = import("./a.ts");\n`, "a.ts": "" }),
    /at run time/,
  );
  assert.match(
    await refusal({ "connector.ts": "\nexport const = 1;\n" }),
    /^connector.ts:2:\d+ .*is not what TypeScript/,
  );
  assert.match(await refusal({}), /can't be read/);
});
