import { type DeclaredPackage, foreignPackages, isOwnConnector, restoreProject } from "../../connectors/mod.ts";
import { loadProject } from "../../project/mod.ts";
import { EXIT, type ExitCode } from "../exit_codes.ts";
import { type Io, projectRoot } from "../io.ts";
import { type ProjectOptions, varsOf } from "../phases.ts";
import { reportErrors, reportNotes } from "../report.ts";

export type RestoreVerbOptions = ProjectOptions & {
  readonly feeds?: readonly string[] | undefined;
  readonly update?: boolean | undefined;
};

/** `pz restore`: installs the connector packages that project.yml lists, as the lock pins them, and writes the lock. */
export async function restore(io: Io, options: RestoreVerbOptions): Promise<ExitCode> {
  const root = projectRoot(io, options.project);
  const loaded = await loadProject(root, { env: io.env, vars: varsOf(options) });
  if (!loaded.ok) return reportErrors(io.console, loaded.errors);
  const declared: readonly DeclaredPackage[] = loaded.value.connectors;
  for (const { package: id } of declared.filter((entry) => isOwnConnector(entry.package))) {
    io.console.out(`note: '${id}' is builtin in this pz version; declared version ignored`);
  }
  const foreign = foreignPackages(declared);
  if (foreign.length === 0) {
    io.console.out("nothing to restore (all declared connectors are builtin)");
    return EXIT.ok;
  }
  const result = await restoreProject({
    root,
    declared: foreign,
    registries: registriesOf(options.feeds, io.env["PZ_FEEDS"]),
    update: options.update ?? false,
    env: io.env,
  });
  if (!result.ok) return reportErrors(io.console, result.errors);
  const { packages, pinned, wrote } = result.value;
  for (const { id, version, how } of packages) io.console.out(`restored ${id} ${version} (${how})`);
  if (pinned) {
    io.console.out(
      `pz.lock.json pinned ${packages.length} package(s); run 'pz restore --update' to re-resolve them`,
    );
  }
  if (wrote) io.console.out(`wrote pz.lock.json (${packages.length} packages)`);
  reportNotes(io.console, result.notices);
  return EXIT.ok;
}

/** Registries that the options name, else those of the variable; empty: npm's own. */
function registriesOf(feeds: readonly string[] | undefined, variable: string | undefined): readonly string[] {
  if (feeds !== undefined && feeds.length > 0) return feeds;
  return (variable ?? "").split(";").map((feed) => feed.trim()).filter((feed) => feed !== "");
}
