import { PzError } from "../../errors/mod.ts";
import { COMPLETION_SCRIPTS } from "../completion_scripts.ts";
import { EXIT, type ExitCode } from "../exit_codes.ts";
import type { Io } from "../io.ts";
import { reportErrors } from "../report.ts";

/** `pz completion`: prints a shell's completion script. */
export function completion(io: Io, shell: string): ExitCode {
  const script = Object.hasOwn(COMPLETION_SCRIPTS, shell) ? COMPLETION_SCRIPTS[shell] : undefined;
  if (script === undefined) {
    const shells = Object.keys(COMPLETION_SCRIPTS).join(", ");
    return reportErrors(io.console, [
      new PzError("PZ0535", `there is no completion for shell '${shell}'`, { hint: `use one of ${shells}` }),
    ]);
  }
  io.console.outRaw(script);
  return EXIT.ok;
}
