import { fileURLToPath } from "node:url";
import type { LandlockCalls } from "../host/landlock_calls.ts";
import type { ProgramPlaces } from "../host/landlock_rules.ts";

/** What of the calls tells of the process. */
export type ProcessFacts = Pick<LandlockCalls, "textOf" | "kindOf">;

/** The arguments that this process was started with, the runtime's own among them. */
export function ownArguments(facts: ProcessFacts): readonly string[] {
  return facts.textOf("/proc/self/cmdline").split("\0").slice(1, -1);
}

/** Where the program of this process lies, started with these arguments. */
export function programPlaces(args: readonly string[], facts: ProcessFacts): ProgramPlaces {
  const kindOf = (path: string) => path.startsWith("/") ? facts.kindOf(path) : undefined;
  return {
    executable: Deno.realPathSync(Deno.execPath()),
    mapped: mappedFiles(facts.textOf("/proc/self/maps")),
    sources: Deno.build.standalone ? [] : sourcePlaces(args, kindOf),
    kindOf,
  };
}

/** The files in the text of `/proc/self/maps`, each once. */
export function mappedFiles(maps: string): readonly string[] {
  const paths = maps.split("\n").flatMap((line) => /^(?:\S+ +){5}(\/.*)$/.exec(line)?.[1] ?? []);
  return [...new Set(paths)];
}

/** The folder of the sources, the runtime's cache and what files the command line names. */
function sourcePlaces(args: readonly string[], kindOf: ProgramPlaces["kindOf"]): readonly string[] {
  const root = fileURLToPath(new URL("../../../", import.meta.url));
  const cache = Deno.env.get("DENO_DIR");
  const named = args.map((arg) => arg.slice(arg.indexOf("=") + 1)).filter((arg) => kindOf(arg) === "file");
  return [root, ...(cache === undefined ? [] : [cache]), ...named];
}
