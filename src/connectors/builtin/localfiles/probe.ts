import { dirname } from "node:path";
import type { ConfigMap, ConfigProblem, ConnectionUse, ConnectorContext, NativeProbe } from "../../contract/mod.ts";
import { statOrNothing } from "./file_kind.ts";
import { missingFileHint } from "./missing_file.ts";
import { rootOf } from "./place.ts";

/** Whether the folder of a connection can be used: read if something reads from it, made if it is only written to. */
export function probeRoot(config: ConfigMap, context: ConnectorContext, { reads }: ConnectionUse): NativeProbe {
  const { path } = rootOf(config, context);
  const problem = reads ? readable(path) : makeable(path);
  return { problems: problem === undefined ? [] : [problem], setup: [] };
}

function readable(folder: string): ConfigProblem | undefined {
  try {
    for (const _ of Deno.readDirSync(folder)) break;
    return undefined;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) {
      return { code: "PZ0353", message: `There is no folder "${folder}"`, hint: missingFileHint(folder, "") };
    }
    if (error instanceof Deno.errors.NotADirectory) return { code: "PZ0353", message: `"${folder}" is no folder` };
    if (!(error instanceof Deno.errors.PermissionDenied)) throw error;
    return {
      code: "PZ0353",
      message: `The folder "${folder}" may not be read by this user`,
      hint: "give the user who runs pz the right to it",
    };
  }
}

/** A write makes the folders that are not there; the nearest that is must be one. */
function makeable(folder: string): ConfigProblem | undefined {
  for (let path = folder;; path = dirname(path)) {
    const stands = statOrNothing(path);
    if (stands?.isDirectory === true || path === dirname(path)) return undefined;
    if (stands !== undefined) {
      return { code: "PZ0353", message: `The folder "${folder}" can't be made: "${path}" is no folder` };
    }
  }
}
