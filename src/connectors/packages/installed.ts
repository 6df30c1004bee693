import { join } from "node:path";
import { fail, type Outcome, PzError, succeed } from "../../errors/mod.ts";
import { type ConnectorDescription, ConnectorError, type ConnectorProgram } from "../contract/mod.ts";
import { describePackage } from "./description.ts";
import { integrityOf } from "./integrity.ts";
import { type DeclaredPackage, LOCK_FILE, lockDrift, type LockedPackage, readLock } from "./lock.ts";
import { filesOf, MANIFEST_FILE, type PackageManifest, parseManifest, platformName } from "./manifest.ts";

/** Where the packages of a project are installed. */
export function packagesFolder(root: string): string {
  return join(root, ".pz", "packages");
}

/** Where a locked package is installed. */
export function installedFolder(root: string, { connector, version }: LockedPackage): string {
  return join(packagesFolder(root), connector, version);
}

/**
 * The connectors of the packages that a project declares, each file compared with the lock: nothing else ever runs.
 *
 * @param isKnown whether pz itself has a connector of a name, which no package may take
 */
export async function installedConnectors(
  root: string,
  declared: readonly DeclaredPackage[],
  isKnown: (name: string) => boolean,
): Promise<Outcome<readonly ConnectorDescription[]>> {
  if (declared.length === 0) return succeed([]);
  let locked: readonly LockedPackage[] | undefined;
  try {
    locked = await readLock(root);
  } catch (error) {
    if (error instanceof PzError) return fail([error]);
    throw error;
  }
  if (locked === undefined) {
    const names = declared.map(({ package: id }) => `'${id}'`).join(", ");
    const what = declared.length === 1 ? `the package ${names}` : `the packages ${names}`;
    const it = declared.length === 1 ? "it is" : "they are";
    return fail([
      new PzError("PZ0322", `project.yml declares ${what}, and ${it} not installed: there is no ${LOCK_FILE}`, {
        file: "project.yml",
        hint: "run pz restore, which says what is wrong where it fails, and keep the lock in version control",
      }),
    ]);
  }
  const drift = lockDrift(declared, locked);
  if (drift.length > 0) return fail(drift);
  const found = await Promise.all(locked.map((entry) => openInstalled(root, entry, isKnown)));
  const errors = found.flatMap((result) => "name" in result ? [] : result);
  return errors.length > 0 ? fail(errors) : succeed(found.flatMap((result) => "name" in result ? [result] : []));
}

async function openInstalled(
  root: string,
  locked: LockedPackage,
  isKnown: (name: string) => boolean,
): Promise<ConnectorDescription | readonly PzError[]> {
  const folder = installedFolder(root, locked);
  const files = new Map<string, Uint8Array<ArrayBuffer>>();
  const problems: PzError[] = [];
  for (const [path, hash] of Object.entries(locked.files)) {
    const bytes = await readFile(join(folder, path));
    const at = { file: join(".pz", "packages", locked.connector, locked.version, path) };
    if (bytes === undefined) {
      problems.push(
        new PzError("PZ0304", `a file of package '${locked.id}' is missing`, { ...at, hint: "run pz restore" }),
      );
    } else if (integrityOf(bytes) !== hash) {
      problems.push(
        new PzError("PZ0326", `a file of package '${locked.id}' is not the one that ${LOCK_FILE} locks`, {
          ...at,
          hint: "nothing of it was run; pz restore puts back what is locked",
        }),
      );
    } else files.set(path, bytes);
  }
  if (problems.length > 0) return problems;
  const text = new TextDecoder().decode(files.get(MANIFEST_FILE));
  const manifest = parseManifest(text, join(".pz", "packages", locked.connector, locked.version, MANIFEST_FILE));
  if (!("name" in manifest)) return manifest;
  const misfit = misfitOf(manifest, locked, isKnown);
  if (misfit !== undefined) return [misfit];
  const program = programOf(manifest, locked, folder, files);
  return program instanceof PzError
    ? [program]
    : describePackage(manifest, program, `${packageName(locked)} ${locked.version}`);
}

/** The id of a package from a registry; the connector's name of one from a path. */
function packageName({ id, connector, resolved }: LockedPackage): string {
  return resolved === null ? connector : id;
}

function misfitOf(
  manifest: PackageManifest,
  locked: LockedPackage,
  isKnown: (name: string) => boolean,
): PzError | undefined {
  if (isKnown(manifest.name)) return takenName(manifest.name, locked.id);
  const isComplete = filesOf(manifest).every((path) => Object.hasOwn(locked.files, path));
  if (manifest.name === locked.connector && manifest.version === locked.version && isComplete) return undefined;
  return new PzError("PZ0321", `package '${locked.id}' is another one than the lock describes`, {
    file: LOCK_FILE,
    hint: "run pz restore --update",
  });
}

/** PZ0305 for a package whose connector has the name of one inside pz. */
export function takenName(name: string, id: string): PzError {
  return new PzError("PZ0305", `package '${id}' has a connector '${name}', and pz has one of that name itself`, {
    file: "project.yml",
    hint: "use a package whose connector has a name of its own",
  });
}

function programOf(
  { runtime }: PackageManifest,
  locked: LockedPackage,
  folder: string,
  files: ReadonlyMap<string, Uint8Array<ArrayBuffer>>,
): ConnectorProgram | PzError {
  if (runtime.kind === "deno") {
    const code = files.get(runtime.entry);
    return code === undefined ? noProgram(locked.id) : { kind: "module", code };
  }
  const entry = runtime.entrypoints[platformName()] ?? runtime.entrypoints["any"];
  if (entry === undefined) return noProgram(locked.id, Object.keys(runtime.entrypoints));
  return { kind: "process", path: join(folder, entry), folder, verify: () => verifyFiles(locked, folder) };
}

/** PZ0354 for a package without a program for this machine. */
export function noProgram(id: string, platforms: readonly string[] = []): PzError {
  return new PzError("PZ0354", `package '${id}' has no program for ${platformName()}`, {
    hint: platforms.length === 0 ? undefined : `it has one for ${platforms.join(", ")}`,
  });
}

/** What runs outside of the sandbox is compared before each start; what changes it after that could change pz as well. */
async function verifyFiles({ id, files }: LockedPackage, folder: string): Promise<void> {
  for (const [path, hash] of Object.entries(files)) {
    const bytes = await readFile(join(folder, path));
    if (bytes !== undefined && integrityOf(bytes) === hash) continue;
    throw new ConnectorError(`File '${path}' of package '${id}' is not the one that ${LOCK_FILE} locks`, {
      transient: false,
      code: "PZ0326",
      hint: "pz restore puts back what is locked",
    });
  }
}

/** A file's bytes; undefined where there is no regular file. */
async function readFile(path: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
  try {
    const { isFile } = await Deno.lstat(path);
    return isFile ? await Deno.readFile(path) : undefined;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) return undefined;
    throw error;
  }
}
