import { createHash } from "node:crypto";
import { join } from "node:path";
import { type Target, TARGETS } from "./build_targets.ts";

/** The file with the checksums of all artifacts beside it, in the form that `sha256sum -c` reads. */
export const CHECKSUMS = "SHA256SUMS";

/** The name under which a target's executable is published. */
export function artifactName(version: string, { name, os }: Target): string {
  return `pz-${version}-${name}${os === "win32" ? ".exe" : ""}`;
}

/** Puts a copy of an executable under its published name into a folder, whole or not at all. */
export async function publishArtifact(
  executable: string,
  folder: string,
  version: string,
  target: Target,
): Promise<string> {
  const path = join(folder, artifactName(version, target));
  await Deno.copyFile(executable, `${path}.new`);
  await Deno.rename(`${path}.new`, path);
  return path;
}

/**
 * Writes the checksums of a version's artifacts that lie in a folder, sorted by name.
 *
 * @returns the names in it
 */
export async function writeChecksums(folder: string, version: string): Promise<readonly string[]> {
  const known = new Set(TARGETS.map((target) => artifactName(version, target)));
  const names = [...Deno.readDirSync(folder)].map(({ name }) => name).filter((name) => known.has(name)).sort();
  const lines: string[] = [];
  for (const name of names) lines.push(`${await sha256Of(join(folder, name))}  ${name}\n`);
  const path = join(folder, CHECKSUMS);
  await Deno.writeTextFile(`${path}.new`, lines.join(""));
  await Deno.rename(`${path}.new`, path);
  return names;
}

async function sha256Of(path: string): Promise<string> {
  const hash = createHash("sha256");
  const file = await Deno.open(path);
  for await (const chunk of file.readable) hash.update(chunk);
  return hash.digest("hex");
}
