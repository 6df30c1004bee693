import { resolve } from "node:path";
import { buildConnector } from "../../connectors/mod.ts";
import { EXIT, type ExitCode } from "../exit_codes.ts";
import { type Io, shownPath } from "../io.ts";
import { reportErrors, reportNotes } from "../report.ts";

/** `pz connector build`: bundles a connector's own modules into the one that its manifest names. */
export async function connectorBuild(io: Io, folder: string | undefined): Promise<ExitCode> {
  const root = resolve(io.cwd, folder ?? ".");
  const built = await buildConnector(root);
  if (!built.ok) return reportErrors(io.console, built.errors);
  const { output, modules } = built.value;
  io.console.out(`built ${shownPath(io, output)} from ${modules.join(", ")}`);
  reportNotes(io.console, ["types were dropped and not checked; `deno check` or `npx tsc --noEmit` checks them"]);
  return EXIT.ok;
}
