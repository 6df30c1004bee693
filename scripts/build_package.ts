import { createHash } from "node:crypto";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { textAt } from "./build_compile.ts";
import { tarFiles } from "./build_tar.ts";

/** What npm and Deno read too, for a registry of one's own; without it npm is asked for the one that it uses. */
const REGISTRY_VARIABLE = "NPM_CONFIG_REGISTRY";

/**
 * The files of an npm package as its author published them: the archive is fetched once, kept in `gen/npm`, and compared
 * with the integrity in deno.lock at every build. What is installed in node_modules can't be compared with it any more.
 *
 * @throws {Error} when deno.lock doesn't name the package, the archive can't be had, or is another one
 */
export async function packageFiles(
  root: string,
  name: string,
  version: string,
): Promise<ReadonlyMap<string, Uint8Array>> {
  const integrity = await lockedIntegrity(root, name, version);
  const folder = join(root, "gen", "npm");
  const path = join(folder, `${name.replace("/", "+")}-${version}.tgz`);
  const kept = await readIfThere(path);
  if (kept !== undefined && integrityOf(kept) === integrity) return filesOf(kept);
  const fetched = await fetchArchive(name, version);
  if (integrityOf(fetched) !== integrity) {
    throw new Error(`${name}@${version} has another content than deno.lock says: ${integrityOf(fetched)}`);
  }
  await Deno.mkdir(folder, { recursive: true });
  const aside = await Deno.makeTempFile({ dir: folder, prefix: "." });
  await Deno.writeFile(aside, fetched);
  await Deno.rename(aside, path);
  return filesOf(fetched);
}

async function lockedIntegrity(root: string, name: string, version: string): Promise<string> {
  const lock: unknown = JSON.parse(await Deno.readTextFile(join(root, "deno.lock")));
  try {
    return textAt(lock, "npm", `${name}@${version}`, "integrity");
  } catch {
    throw new Error(`deno.lock has no integrity for ${name}@${version}`);
  }
}

async function fetchArchive(name: string, version: string): Promise<Uint8Array> {
  const registry = Deno.env.get(REGISTRY_VARIABLE) || await registryOfNpm();
  const file = `${name.split("/").at(-1)}-${version}.tgz`;
  const url = new URL(`${name}/-/${file}`, registry.endsWith("/") ? registry : `${registry}/`);
  const response = await fetch(url);
  if (!response.ok) {
    await response.body?.cancel();
    throw new Error(`can't fetch ${name}@${version}: status ${response.status}; ${REGISTRY_VARIABLE} names a registry`);
  }
  return new Uint8Array(await response.arrayBuffer());
}

async function registryOfNpm(): Promise<string> {
  const npm = Deno.build.os === "windows" ? "npm.cmd" : "npm";
  try {
    const { success, stdout } = await new Deno.Command(npm, {
      args: ["config", "get", "registry"],
      stdout: "piped",
      stderr: "null",
    }).output();
    if (success) return new TextDecoder().decode(stdout).trim();
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  throw new Error(`there is no npm to ask for its registry: name one in ${REGISTRY_VARIABLE}`);
}

function filesOf(archive: Uint8Array): ReadonlyMap<string, Uint8Array> {
  return tarFiles(gunzipSync(archive));
}

function integrityOf(archive: Uint8Array): string {
  return `sha512-${createHash("sha512").update(archive).digest("base64")}`;
}

async function readIfThere(path: string): Promise<Uint8Array | undefined> {
  try {
    return await Deno.readFile(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}
