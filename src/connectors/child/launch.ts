import { LAUNCH_VARIABLE } from "../host/command.ts";
import { whyMissing } from "../host/landlock.ts";
import { LandlockCalls } from "../host/landlock_calls.ts";
import { landlockRules } from "../host/landlock_rules.ts";
import { asRecord, grantFromWire } from "../protocol/messages.ts";
import { FrameError } from "../protocol/frame.ts";
import { mappedFiles } from "./program_places.ts";

/** Where programs, their interpreters and their libraries are. */
const PROGRAM_FOLDERS = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt", "/nix/store"];
/** What programs read of the system's settings. */
const SETTINGS = [
  "/etc",
  "/dev/null",
  "/dev/zero",
  "/dev/random",
  "/proc/self",
  "/proc/cpuinfo",
  "/sys/devices/system/cpu",
];

/**
 * Becomes the program of a package, confined to its grant as far as the operating system can: it may start programs, and
 * read its own folder, the system's programs and their settings besides. Comes back only where that fails, with 3.
 *
 * @param isRequired whether the program must not run unconfined
 */
export function launchProgram(isRequired: boolean): number {
  try {
    const { path, folder, grant } = asRecord(JSON.parse(Deno.env.get(LAUNCH_VARIABLE) ?? "null"), "what to start");
    if (typeof path !== "string" || typeof folder !== "string") throw new FrameError("no program to start");
    Deno.env.delete(LAUNCH_VARIABLE);
    const calls = new LandlockCalls();
    const trouble = restrict(calls, path, folder, grantFromWire(grant));
    if (trouble !== undefined && isRequired) throw new Error(`the program can't be confined, since ${trouble}`);
    return calls.execute(path, [], Deno.env.toObject());
  } catch (error) {
    Deno.stderr.writeSync(new TextEncoder().encode(`${error instanceof Error ? error.message : String(error)}\n`));
    return 3;
  }
}

/** Why the process could not be confined; undefined where it is. */
function restrict(
  calls: LandlockCalls,
  executable: string,
  folder: string,
  grant: Parameters<typeof landlockRules>[0],
): string | undefined {
  try {
    const rules = landlockRules(grant, calls.abi(), {
      executable,
      mapped: mappedFiles(calls.textOf("/proc/self/maps")),
      sources: SETTINGS,
      programs: [folder, ...PROGRAM_FOLDERS],
      kindOf: (path) => path.startsWith("/") ? calls.kindOf(path) : undefined,
    });
    const ruleset = calls.createRuleset(rules.handled);
    for (const { path, rights } of rules.paths) calls.allowPath(ruleset, path, rights);
    for (const port of rules.ports) calls.allowPort(ruleset, port);
    calls.restrictSelf(ruleset);
    return undefined;
  } catch (error) {
    return whyMissing(error);
  }
}
