import { dirname, join, relative, resolve } from "node:path";
import { parse as parseImports } from "es-module-lexer/minimal/js";
import { transform } from "sucrase";
import { PzError } from "../../errors/mod.ts";
import { ordinal } from "../../util/mod.ts";

/** A connector's code as one text, and the files that went into it, the entry last. */
export type ConnectorBundle = { readonly code: string; readonly modules: readonly string[] };

/** One module of a connector: its code with `require` in place of imports, and what it imports. */
type Module = { readonly path: string; readonly code: string; readonly imports: ReadonlyMap<string, string> };

const EXTENSIONS = /\.(?:ts|mts|js|mjs)$/;

/**
 * Makes one module of a connector's own ones. Types are dropped, not checked. Besides files below the folder a connector
 * may import what the runtime has by itself, with `node:` in front.
 *
 * @param entry the path of the module that exports `connector`, from the folder
 * @throws {PzError} PZ0744 for what can't be bundled, with the place
 */
export async function bundleConnector(folder: string, entry: string): Promise<ConnectorBundle> {
  const modules = new Map<string, Module>();
  const builtins = new Set<string>();
  const pending = [entry];
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    if (modules.has(path)) continue;
    const module = await readModule(folder, path);
    modules.set(path, module);
    for (const target of module.imports.values()) {
      if (target.startsWith("node:")) builtins.add(target);
      else pending.push(target);
    }
  }
  const order = [...modules.keys()].sort((a, b) => Number(a === entry) - Number(b === entry) || ordinal(a, b));
  const names = [...builtins].sort(ordinal);
  const parts = [
    ...names.map((name, index) => `import * as builtin${index} from ${JSON.stringify(name)};`),
    `const builtins = { ${names.map((name, index) => `${JSON.stringify(name)}: builtin${index}`).join(", ")} };`,
    "const modules = {",
    ...order.map((path) =>
      `${JSON.stringify(path)}: [${targetsOf(modules, path)}, (require, exports, module) => {\n${
        modules.get(path)?.code
      }\n}],`
    ),
    "};",
    LOADER,
    `export const { connector } = load(${JSON.stringify(entry)});`,
    "",
  ];
  return { code: parts.join("\n"), modules: order };
}

function targetsOf(modules: ReadonlyMap<string, Module>, path: string): string {
  return JSON.stringify(Object.fromEntries(modules.get(path)?.imports ?? []));
}

/** Runs each module once, when it is first asked for, as imports in a circle need it. */
const LOADER = `const loaded = new Map();
function load(path) {
  if (path.startsWith("node:")) return { __esModule: true, ...builtins[path] };
  const known = loaded.get(path);
  if (known !== undefined) return known.exports;
  const module = { exports: {} };
  loaded.set(path, module);
  const [targets, run] = modules[path];
  run((specifier) => load(targets[specifier]), module.exports, module);
  return module.exports;
}`;

async function readModule(folder: string, path: string): Promise<Module> {
  let source: string;
  try {
    source = await Deno.readTextFile(join(folder, path));
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw new PzError("PZ0744", `'${path}' can't be read: ${error.message}`, { file: path, cause: error });
  }
  const options = { filePath: path, disableESTransforms: true, preserveDynamicImport: true, production: true };
  const types = /\.m?ts$/.test(path) ? ["typescript" as const] : [];
  let plain: string;
  let code: string;
  try {
    plain = transform(source, { ...options, transforms: types }).code;
    code = transform(source, { ...options, transforms: [...types, "imports"] }).code;
  } catch (error) {
    throw syntaxError(path, error);
  }
  const imports = new Map<string, string>();
  for (const { n: specifier, d: dynamic, ss: start } of importsOf(path, plain)) {
    if (dynamic === -2) continue;
    const place = placeIn(path, plain, start);
    if (dynamic >= 0) {
      throw new PzError("PZ0744", `'${path}' imports at run time, which one module can't`, {
        ...place,
        hint: "import it at the top",
      });
    }
    if (specifier !== undefined) imports.set(specifier, await targetOf(folder, path, specifier, place));
  }
  return { path, code, imports };
}

function importsOf(path: string, code: string): ReturnType<typeof parseImports>[0] {
  try {
    return parseImports(code)[0];
  } catch (error) {
    throw syntaxError(path, error);
  }
}

/** What an import leads to: a built-in module, or a path from the folder. */
async function targetOf(
  folder: string,
  path: string,
  specifier: string,
  place: { readonly file: string; readonly line: number; readonly column: number },
): Promise<string> {
  if (specifier.startsWith("node:")) return specifier;
  if (!specifier.startsWith("./") && !specifier.startsWith("../")) {
    throw new PzError("PZ0744", `'${path}' imports '${specifier}', a package that pz can't bundle`, {
      ...place,
      hint: "bundle with `npx esbuild " + `${path} --bundle --format=esm --platform=node --outfile=connector.js` +
        "`, which can",
    });
  }
  const target = relative(folder, resolve(folder, dirname(path), specifier)).replaceAll("\\", "/");
  // TypeScript lets a module be called by the name that it will have.
  const candidates = [target, target.replace(/\.(m?)js$/, ".$1ts")];
  for (const candidate of candidates) {
    if (!candidate.startsWith("../") && EXTENSIONS.test(candidate) && await isFile(join(folder, candidate))) {
      return candidate;
    }
  }
  throw new PzError("PZ0744", `'${path}' imports '${specifier}', and there is no such module below the folder`, {
    ...place,
    hint: "a module's name ends in .ts or .js",
  });
}

async function isFile(path: string): Promise<boolean> {
  try {
    return (await Deno.stat(path)).isFile;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) return false;
    throw error;
  }
}

/** Dropping types keeps every line where it was. */
function placeIn(file: string, code: string, offset: number): { file: string; line: number; column: number } {
  const before = code.slice(0, offset).split("\n");
  return { file, line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

function syntaxError(path: string, error: unknown): PzError {
  const text = error instanceof Error ? error.message : String(error);
  const [, what, line, column] = /^(?:Error transforming [^:]*: )?(.*?)(?: \((\d+):(\d+)\))?$/s.exec(text) ?? [];
  const place = line === undefined ? {} : { line: Number(line), column: Number(column) };
  return new PzError("PZ0744", `'${path}' is not what TypeScript understands: ${what ?? text}`, {
    file: path,
    ...place,
  });
}
