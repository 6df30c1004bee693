import { basename, dirname, extname, join } from "node:path";
import { nearMiss, ordinal } from "../../../util/mod.ts";

const MAX_NAMES = 5;

/** The next step where a read's file is not there: what stands in its place, or in its folder. */
export function missingFileHint(path: string, entity: string): string {
  const folder = dirname(path);
  const name = basename(path);
  const names = namesIn(folder);
  if (names === undefined) {
    if (/(^|[\\/])~([\\/]|$)/.test(folder)) {
      return "pz does not know '~': write the whole path, or ${HOME} in its place";
    }
    const parent = dirname(folder);
    const meant = nearMiss(basename(folder), namesIn(parent) ?? []);
    const near = meant === undefined ? "" : `; did you mean "${join(parent, meant)}"?`;
    return `there is no folder "${folder}"${near}`;
  }
  const extension = extname(name);
  const stem = name.slice(0, name.length - extension.length);
  if (names.includes(stem) && extname(entity) === extension) {
    return `leave the extension out of the entity's name: '${entity.slice(0, -extension.length)}'`;
  }
  const sameStem = names.find((other) => other.startsWith(`${stem}.`));
  if (sameStem !== undefined) return `there is "${sameStem}": name it with path:, and its kind with format:`;
  const meant = nearMiss(name, names);
  if (meant !== undefined) return `did you mean "${meant}"?`;
  const alike = names.filter((other) => extname(other) === extension);
  if (alike.length === 0) return "put the file there, or name another with path:";
  const more = alike.length > MAX_NAMES ? ", …" : "";
  return `there is ${alike.slice(0, MAX_NAMES).map((other) => `"${other}"`).join(", ")}${more}; name a file with path:`;
}

/** Names in a folder, in their order; undefined where there is none, or nobody may look. */
function namesIn(folder: string): readonly string[] | undefined {
  try {
    return [...Deno.readDirSync(folder)].map(({ name }) => name).sort(ordinal);
  } catch {
    return undefined;
  }
}
