import tar from "../../../../src/connectors/packages/tar.ts";
import type { PackageManifest } from "../../../../src/connectors/packages/manifest.ts";
import type { PzError } from "../../../../src/errors/mod.ts";
import type { Files } from "../../../harness/temp_dir.ts";

/** A manifest that is right, with changes; a member that is undefined is left out. */
export function manifestText(changes: { readonly [key: string]: unknown } = {}): string {
  return JSON.stringify({ ...MANIFEST, ...changes });
}

const MANIFEST = { name: "acme", version: "1.2.0", protocol: 1, entry: "connector.js", read: {} };

/** The code of a connector that reads one row, `mark`. */
export function connectorCode(
  mark: string,
  changes: { readonly name?: string; readonly version?: string } = {},
): string {
  const { name = "acme", version = "1.2.0" } = changes;
  return `const { arrowSchema, BatchBuilder } = globalThis[Symbol.for("pz.connector.sdk")];
const schema = arrowSchema([{ name: "mark", type: "VARCHAR" }]);
export const connector = {
  name: ${JSON.stringify(name)},
  version: ${JSON.stringify(version)},
  capabilities: [],
  open: () => ({
    source: {
      schema: () => Promise.resolve(schema),
      plan: () => Promise.resolve([{ id: "all" }]),
      async *read() {
        const builder = new BatchBuilder(schema);
        builder.append([${JSON.stringify(mark)}]);
        yield builder.finish();
      },
    },
  }),
};
`;
}

/** A package's folder. */
export function packageFiles(mark: string, changes: { readonly version?: string } = {}): Files {
  return { "pz.connector.json": manifestText(changes), "connector.js": connectorCode(mark, changes) };
}

export type Member = {
  readonly name: string;
  readonly content?: string | Uint8Array;
  readonly type?: string;
  readonly linkname?: string;
};

/** A gzipped tarball of these members, each as it stands. */
export async function tarballOf(members: readonly Member[]): Promise<Uint8Array<ArrayBuffer>> {
  const pack = tar.pack();
  for (const { name, content = "", type = "file", linkname } of members) {
    const header = { name, type, ...(linkname === undefined ? {} : { linkname }) };
    if (type === "file") pack.entry(header, typeof content === "string" ? content : new TextDecoder().decode(content));
    else pack.entry(header);
  }
  pack.finalize();
  const bytes = await Array.fromAsync(pack);
  return await gzip(bytes);
}

/** The tarball of a package as npm makes it. */
export async function npmTarball(files: Files): Promise<Uint8Array<ArrayBuffer>> {
  return await tarballOf(Object.entries(files).map(([path, content]) => ({ name: `package/${path}`, content })));
}

async function gzip(bytes: readonly Uint8Array[]): Promise<Uint8Array<ArrayBuffer>> {
  const parts = bytes.map((part) => new Uint8Array(part));
  return await new Response(new Blob(parts).stream().pipeThrough(new CompressionStream("gzip"))).bytes();
}

/** Such as `PZ0306: "entry" is missing`, or the manifest. */
export function problemsOf(parsed: PackageManifest | readonly PzError[]): readonly string[] {
  return "name" in parsed ? [] : parsed.map(({ code, message }) => `${code}: ${message}`);
}
