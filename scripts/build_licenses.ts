import { join } from "node:path";

/**
 * The licences of what a binary holds: each package's name, version and licence text, sorted by name. Their terms ask
 * that they go with every copy.
 *
 * @param packages package folders
 * @throws {Error} when a package comes without the text of its licence
 */
export async function licencesOf(root: string, packages: readonly string[]): Promise<string> {
  const parts = new Map<string, string>();
  for (const folder of packages) {
    const manifest: unknown = JSON.parse(await Deno.readTextFile(join(root, folder, "package.json")));
    if (typeof manifest !== "object" || manifest === null || !("name" in manifest) || !("version" in manifest)) {
      continue;
    }
    const title = `${manifest.name} ${manifest.version}`;
    parts.set(title, `${title}\n\n${(await licenceText(join(root, folder), title)).trim()}\n`);
  }
  return [...parts.keys()].sort().map((title) => parts.get(title)).join(`\n${"-".repeat(80)}\n\n`);
}

/** The package's licence file or, where it has none, the chapter of its README that holds the licence. */
async function licenceText(folder: string, title: string): Promise<string> {
  let readme = "";
  for await (const { name, isFile } of Deno.readDir(folder)) {
    if (isFile && /^licen[cs]e(\.(md|txt))?$/i.test(name)) return await Deno.readTextFile(join(folder, name));
    if (isFile && /^readme\.md$/i.test(name)) readme = await Deno.readTextFile(join(folder, name));
  }
  const chapter = /^#+ *licen[cs]e *\n(.*?)(?=^#|$(?![^]))/ims.exec(readme.replaceAll("\r\n", "\n"))?.[1]?.trim() ?? "";
  // A name of a licence alone is not its text.
  if (/copyright/i.test(chapter) && /permission|redistribution/i.test(chapter)) return chapter;
  throw new Error(`'${title}' has no licence text in ${folder}`);
}
