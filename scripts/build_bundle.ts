import { Buffer } from "node:buffer";
import { join } from "node:path";
import * as esbuild from "esbuild";
import type { PackedNative } from "./build_native.ts";

/** What the bundler replaces in the sources for a binary. */
export type BundleOptions = {
  readonly root: string;
  readonly folder: string;
  readonly version: string;
  readonly native: PackedNative;
  /** The path of a module, from the root: the one connector that the program has, loaded as foreign code. */
  readonly connector?: string;
  /** The path of a module, from the root, in the place of the points at which tests let something happen. */
  readonly faults?: string;
};

/** The bundled modules and the npm packages that went into them. */
export type Bundle = { readonly modules: readonly string[]; readonly packages: readonly string[] };

/**
 * Bundles the program and the connectors' worker into a folder, with one module for each part that is loaded on its
 * own, so that a small verb loads little.
 */
export async function bundle({ root, folder, version, native, connector, faults }: BundleOptions): Promise<Bundle> {
  const replaced: { readonly [path: string]: string } = {
    "src/cli/version.ts": `export const VERSION = ${JSON.stringify(version)};`,
    "src/connectors/child/worker_url.ts": `export const WORKER_URL = new URL("./worker.js", import.meta.url);`,
    "src/duckdb/native_payload.ts": payloadModule(native),
    ...(connector === undefined ? {} : { "src/connectors/child/embedded.ts": await foreignModule(root, connector) }),
    ...(faults === undefined ? {} : { "src/util/fault_point.ts": await Deno.readTextFile(join(root, faults)) }),
  };
  const missing = new Set(Object.keys(replaced));
  const plugin: esbuild.Plugin = {
    name: "pz",
    setup(build) {
      build.onResolve({ filter: /^@duckdb\/node-bindings$/ }, () => ({ path: "addon", namespace: "pz" }));
      build.onLoad({ filter: /^addon$/, namespace: "pz" }, () => ({ contents: ADDON_MODULE, loader: "js" }));
      build.onLoad({ filter: /\.ts$/ }, ({ path }) => {
        const name = Object.keys(replaced).find((name) => path === join(root, name));
        if (name === undefined) return undefined;
        missing.delete(name);
        return { contents: replaced[name] ?? "", loader: "ts" };
      });
    },
  };
  try {
    const { metafile } = await esbuild.build({
      absWorkingDir: root,
      entryPoints: { main: "main.ts", worker: "src/connectors/child/worker.ts" },
      outdir: folder,
      bundle: true,
      splitting: true,
      format: "esm",
      platform: "node",
      target: "esnext",
      mainFields: ["module", "main"],
      conditions: ["module"],
      minify: true,
      legalComments: "none",
      metafile: true,
      logLevel: "warning",
      banner: { js: REQUIRE },
      plugins: [plugin],
    });
    if (missing.size > 0) throw new Error(`nothing imports ${[...missing].join(", ")}, which the build replaces`);
    const packages = Object.keys(metafile.inputs).flatMap((path) => {
      const parts = path.split("node_modules/");
      const name = /^(?:@[^/]+\/)?[^/]+/.exec(parts.at(-1) ?? "")?.[0];
      return parts.length < 2 || name === undefined
        ? []
        : [path.slice(0, path.lastIndexOf("node_modules/")) + `node_modules/${name}`];
    });
    const modules = Object.keys(metafile.outputs).map((path) => path.slice(path.lastIndexOf("/") + 1));
    return { modules: modules.sort(), packages: [...new Set(packages)].sort() };
  } finally {
    await esbuild.stop();
  }
}

/** A module that loads a connector's code, bundled into one text, as nothing from inside. */
async function foreignModule(root: string, connector: string): Promise<string> {
  const { outputFiles } = await esbuild.build({
    absWorkingDir: root,
    entryPoints: [connector],
    bundle: true,
    write: false,
    format: "esm",
    platform: "node",
    target: "esnext",
    logLevel: "error",
  });
  const code = Buffer.from(outputFiles[0]?.text ?? "").toString("base64");
  return `
export async function loadEmbedded(name) {
  const { connector } = await import(["data:text/javascript;base64", "${code}"].join(","));
  return connector.name === name ? connector : undefined;
}
`;
}

/** CommonJS packages in the bundle ask for built-in modules by `require`. */
const REQUIRE = `import{createRequire as __pzRequire}from"node:module";const require=__pzRequire(import.meta.url);`;

/** In place of the package that looks for the addon in node_modules. */
const ADDON_MODULE = `
const addon = globalThis[Symbol.for("pz.duckdb.addon")];
if (addon === undefined) throw new Error("DuckDB's addon was not loaded");
module.exports = addon;
`;

/**
 * The files are read from among those that the runtime has in memory or, where the build found a better place for them,
 * from behind the image of the executable.
 */
function payloadModule({ id, files }: PackedNative): string {
  let at = 0;
  const members = files.map(({ name, asset, size, packedSize, sha256 }) => {
    const read = `() => read(${JSON.stringify(asset)}, ${at}, ${packedSize})`;
    at += packedSize;
    return `{ name: ${JSON.stringify(name)}, size: ${size}, sha256: "${sha256}", read: ${read} }`;
  });
  return `
import { readCarried } from "./native_carried.ts";
function read(asset, at, length) {
  try {
    return Deno.readFileSync(new URL("./native/" + asset, import.meta.url));
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    return readCarried(Deno.execPath(), at, length);
  }
}
export const NATIVE_PAYLOAD = { id: "${id}", files: [${members.join(", ")}] };
`;
}
