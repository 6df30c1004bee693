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
    const text = await licenceText(join(root, folder)) ?? mitText(manifest);
    if (text === undefined) throw new Error(`'${title}' has no licence text in ${join(root, folder)}`);
    parts.set(title, `${title}\n\n${text.trim()}\n`);
  }
  return [...parts.keys()].sort().map((title) => parts.get(title)).join(`\n${"-".repeat(80)}\n\n`);
}

/** The package's licence file or, where it has none, the chapter of its README that holds the licence; undefined for neither. */
async function licenceText(folder: string): Promise<string | undefined> {
  let readme = "";
  for await (const { name, isFile } of Deno.readDir(folder)) {
    if (isFile && /^licen[cs]e(\.(md|txt))?$/i.test(name)) return await Deno.readTextFile(join(folder, name));
    if (isFile && /^readme\.md$/i.test(name)) readme = await Deno.readTextFile(join(folder, name));
  }
  const chapter = /^#+ *licen[cs]e *\n(.*?)(?=^#|$(?![^]))/ims.exec(readme.replaceAll("\r\n", "\n"))?.[1]?.trim() ?? "";
  // A name of a licence alone is not its text.
  return /copyright/i.test(chapter) && /permission|redistribution/i.test(chapter) ? chapter : undefined;
}

/** The MIT licence, of which there is but one text, for a package that names it and its author and forgot to add it. */
function mitText(manifest: object): string | undefined {
  const isMit = "license" in manifest && manifest.license === "MIT";
  const author = "author" in manifest && typeof manifest.author === "string" ? manifest.author : undefined;
  return isMit && author !== undefined ? `MIT License\n\nCopyright (c) ${author}\n\n${MIT}` : undefined;
}

const MIT =
  `Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
`;
