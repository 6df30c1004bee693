import { basename, join, resolve } from "node:path";
import { isOwnConnector, scaffoldConnector, scaffoldSdk } from "../../connectors/mod.ts";
import { PzError } from "../../errors/mod.ts";
import { EXIT, type ExitCode } from "../exit_codes.ts";
import { type Io, shellWord, shownPath } from "../io.ts";
import { reportErrors } from "../report.ts";

/** `pz connector new`: makes a folder with a connector that works, its test, and all that its author needs. */
export async function connectorNew(io: Io, name: string): Promise<ExitCode> {
  const folder = resolve(io.cwd, name);
  const connector = basename(folder).toLowerCase().replaceAll(/[^a-z0-9]+/g, "_").replaceAll(/^_+|_+$/g, "");
  if (!/^[a-z]/.test(connector)) {
    return refuse(io, "PZ0132", `'${name}' is no name for a connector`, "name a folder that begins with a letter");
  }
  if (isOwnConnector(connector)) {
    return refuse(io, "PZ0305", `pz has a connector '${connector}' itself`, "name a folder that is called otherwise");
  }
  if (await isOccupied(folder)) return refuse(io, "PZ0130", `'${name}' is there already`, "name a new folder");
  await writeAll(folder, await scaffoldConnector(connector));
  const shown = shownPath(io, folder);
  io.console.out(`made the connector '${connector}' at ${folder}`);
  io.console.out("next steps:");
  io.console.out(`  pz connector build ${shellWord(shown)}`);
  io.console.out(`  pz connector test ${shellWord(shown)}`);
  io.console.out(`  read ${shellWord(join(shown, "README.md"))}`);
  return EXIT.ok;
}

/** `pz connector sdk`: writes the SDK of this pz into the folder of a connector, in place of that of another. */
export async function connectorSdk(io: Io, folder: string | undefined): Promise<ExitCode> {
  const place = resolve(io.cwd, folder ?? ".");
  if (!await isOccupied(place)) {
    return refuse(io, "PZ0132", `there is no folder '${folder ?? place}'`, "pz connector new makes one");
  }
  const files = await scaffoldSdk();
  await writeAll(place, files);
  io.console.out(`wrote ${[...files.keys()].map((path) => shownPath(io, join(place, path))).join(", ")}`);
  return EXIT.ok;
}

async function writeAll(folder: string, files: ReadonlyMap<string, string>): Promise<void> {
  for (const [path, text] of files) {
    const target = join(folder, path);
    await Deno.mkdir(resolve(target, ".."), { recursive: true });
    await Deno.writeTextFile(target, text);
  }
}

/** Whether a file is there, or a folder that holds anything. */
async function isOccupied(path: string): Promise<boolean> {
  try {
    for await (const _ of Deno.readDir(path)) return true;
    return false;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    if (error instanceof Deno.errors.NotADirectory) return true;
    throw error;
  }
}

function refuse(io: Io, code: "PZ0130" | "PZ0132" | "PZ0305", message: string, hint: string): ExitCode {
  return reportErrors(io.console, [new PzError(code, message, { hint })]);
}
