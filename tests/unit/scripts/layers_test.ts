import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { checkTree } from "../../../scripts/layers.ts";
import { problemsOf } from "../../../scripts/layers_rules.ts";
import { scan } from "../../../scripts/layers_scan.ts";

Deno.test("a bad tree gets one line for each broken rule, by file and line", () => {
  const root = Deno.makeTempDirSync();
  try {
    const files = {
      "main.ts": `import { plan } from "./src/plan/mod.ts";\n`,
      "src/project/load.ts": `import { run } from "../engine/mod.ts";\nimport { parse } from "liquidjs";\n`,
      "src/Render/tree.ts": `export const a = 1;\n`,
      "tests/unit/a_test.ts": `Deno.test({ name: "x", sanitizeOps: false, fn() {} });\n`,
      "scripts/go.ts": `// deno-lint-ignore no-console\nexport const b = 1;\n`,
    };
    for (const [file, text] of Object.entries(files)) {
      Deno.mkdirSync(dirname(join(root, file)), { recursive: true });
      Deno.writeTextFileSync(join(root, file), text);
    }
    assert.deepEqual(checkTree(root).map(({ file, line, message }) => `${file}:${line}: ${message}`), [
      "main.ts:1: main.ts may import only src/cli/mod.ts and the connector child's entry",
      "src/Render/tree.ts:1: the name 'Render' is not snake_case",
      "src/project/load.ts:1: room 'project' may not import room 'engine'",
      "src/project/load.ts:2: 'liquidjs' is imported in src/template/ only",
      "tests/unit/a_test.ts:1: 'sanitizeOps: false' turns a leak check off",
      "scripts/go.ts:1: a comment silences the linter or the type checker",
    ]);
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
});

Deno.test("imports between rooms follow the list", () => {
  const cases: readonly (readonly [file: string, source: string, message: string | undefined])[] = [
    ["src/render/a.ts", `import type { Plan } from "../plan/mod.ts";`, undefined],
    ["src/render/a.ts", `import { type Plan, type Tier } from "../plan/mod.ts";`, undefined],
    ["src/render/a.ts", `export type { Plan } from "../plan/mod.ts";`, undefined],
    [
      "src/render/a.ts",
      `import { type Plan, planRun } from "../plan/mod.ts";`,
      "room 'render' may import only types of room 'plan'",
    ],
    [
      "src/render/a.ts",
      `export * from "../state/mod.ts";`,
      "room 'render' may import only types of room 'state'",
    ],
    [
      "src/render/a.ts",
      `import type { Run } from "../engine/mod.ts";`,
      "room 'render' may not import room 'engine'",
    ],
    [
      "src/engine/a.ts",
      `import { x } from "../plan/tiers.ts";`,
      "room 'plan' is imported through its mod.ts only, not 'src/plan/tiers.ts'",
    ],
    ["src/engine/sub/a.ts", `import { x } from "../other/a.ts";`, undefined],
    ["src/cli/a.ts", `await import("../engine/mod.ts");`, undefined],
    ["src/events/a.ts", `await import("../engine/mod.ts");`, "room 'events' may not import room 'engine'"],
    ["src/staging/a.ts", `import { Schema } from "../util/arrow.ts";`, undefined],
    ["src/util/a.ts", `import { PzError } from "../errors/mod.ts";`, "room 'util' may not import room 'errors'"],
    ["src/compile/a.ts", `import "../../tests/harness/cli.ts";`, "'tests/harness/cli.ts' is outside src/"],
    ["src/compile/a.ts", `import {\n  x,\n} from "npm:left-pad@1";`, "'npm:left-pad@1' is no package of the product"],
    ["src/duckdb/a.ts", `await import("@duckdb/node-api/lib/x.js");`, undefined],
    ["src/engine/a.ts", `import x from "@duckdb/node-api";`, "'@duckdb/node-api' is imported in src/duckdb/ only"],
  ];
  for (const [file, source, message] of cases) {
    assert.deepEqual(
      problemsOf(file, source).map((problem) => problem.message),
      message === undefined ? [] : [message],
    );
  }
});

Deno.test("what silences a check is found in code and only there", () => {
  const messages = (source: string): string[] => problemsOf("src/util/a.ts", source).map(({ message }) => message);
  const loose = "the type `any`";
  assert.deepEqual(messages(`let a: any; let b = c as any; let d: any[]; type E = Map<string, any>;`), [
    loose,
    loose,
    loose,
    loose,
  ]);
  assert.deepEqual(
    messages(`AbortSignal.any([]); const o = { any: 1 }; // any\nconst s = "any";\nconst t = \`any\`;`),
    [],
  );
  const assertion = "the non-null assertion `!`";
  assert.deepEqual(messages(`a!.b; c()!; d[0]![1];`), [assertion, assertion, assertion]);
  assert.deepEqual(messages(`if (!a) return !b; c !== d; e != f; const g = [!h, \`\${!i}\`];\nfoo()\n!bar;`), []);
  assert.deepEqual(messages(`Deno.exit(1); process.exit(2);`).length, 2);
  assert.deepEqual(problemsOf("main.ts", `Deno.exit(1);`), []);
  assert.deepEqual(messages(`// TODO later\n/* @ts-ignore */`), [
    "a comment leaves work for later",
    "a comment silences the linter or the type checker",
  ]);
  assert.deepEqual(messages("x;\n".repeat(501)), ["501 lines; at most 500"]);
});

Deno.test("the product asks for neither the language nor the time zone of the machine; tests may", () => {
  const source = `a.localeCompare(b); n.toLocaleString(); new Intl.Collator(); d.getHours(); navigator.language;`;
  assert.equal(problemsOf("src/util/a.ts", source).length, 5);
  assert.deepEqual(problemsOf("tests/unit/util/a_test.ts", source), []);
  assert.deepEqual(problemsOf("src/util/a.ts", `d.toISOString(); d.getUTCHours(); language; "a.localeCompare"`), []);
});

Deno.test("the scanner tells code from strings, templates and regular expressions", () => {
  const texts = (source: string): string[] => scan(source).map(({ kind, text }) => `${kind}:${text}`);
  assert.deepEqual(texts(`"a\\"b" + 'c//d'`), [`string:a\\"b`, "punctuation:+", "string:c//d"]);
  assert.deepEqual(texts("`a${ {b: `c${d}`} }e` / 2"), [
    "template:`a${",
    "punctuation:{",
    "word:b",
    "punctuation::",
    "template:`c${",
    "word:d",
    "template:}`",
    "punctuation:}",
    "template:}e`",
    "punctuation:/",
    "number:2",
  ]);
  assert.deepEqual(texts(`x = /["'/]\\/"/g; y`), [
    "word:x",
    "punctuation:=",
    `regexp:/["'/]\\/"/g`,
    "punctuation:;",
    "word:y",
  ]);
  assert.deepEqual(scan("a\n/* b\nc */ d\n`e\n` f").map(({ line }) => line), [1, 2, 3, 4, 5]);
});
