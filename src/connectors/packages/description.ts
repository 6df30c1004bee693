import { resolve } from "node:path";
import { isSecretKey } from "../../util/mod.ts";
import type {
  ConfigMap,
  ConfigProblem,
  ConnectorDescription,
  ConnectorProgram,
  DatasetSpec,
  NativeOutcome,
  OutputSpec,
  UniversalRead,
} from "../contract/mod.ts";
import type { OptionsSchema, PackageManifest } from "./manifest.ts";
import { optionProblems, withDefaults } from "./options.ts";
import { grantOf, pathOptions, type Permissions } from "./permissions.ts";

const NO_PATHS = { read: [], write: [] };

/** A package's connector as the engine knows every other one; all that it does is done by its process. */
export function describePackage(
  manifest: PackageManifest,
  program: ConnectorProgram,
  origin: string,
): ConnectorDescription {
  const { name, version, capabilities, connection, read, write, permissions } = manifest;
  const ask = (spec: DatasetSpec | OutputSpec, side: OptionsSchema | undefined): NativeOutcome<UniversalRead> => {
    const problems: readonly ConfigProblem[] = [
      ...optionProblems(spec.config, connection, "setting"),
      ...side === undefined ? [] : optionProblems(spec.options, side, "option"),
    ];
    if (problems.length > 0) return { ok: false, problems };
    const options = side === undefined ? spec.options : withDefaults(spec.options, side);
    return { ok: true, value: { options, grant: NO_PATHS } };
  };
  return {
    name,
    version,
    capabilities,
    canRead: read !== undefined,
    canWrite: write !== undefined,
    universal: { read: read !== undefined, write: write !== undefined },
    plainOptions: plainOptions(connection, permissions),
    connectionOptions: Object.keys(connection.properties),
    readOptions: Object.keys(read?.properties ?? {}),
    writeOptions: Object.keys(write?.properties ?? {}),
    grant: (config, { projectRoot }) => grantOf(permissions, withDefaults(config, connection), projectRoot),
    nativeScan: () => undefined,
    nativeCopy: () => undefined,
    universalRead: (spec) => ask(spec, read),
    universalWrite: (spec) => {
      const asked = ask(spec, write);
      return asked.ok ? { ok: true, value: { ...asked.value, moves: [] } } : asked;
    },
    childConfig: (config, { projectRoot }) =>
      absolute(withDefaults(config, connection), pathOptions(permissions), projectRoot),
    program,
    origin,
  };
}

/** What stands in grants is shown there; all other options of foreign code count as secret. */
function plainOptions({ properties }: OptionsSchema, permissions: Permissions): readonly string[] {
  const entries = Object.values(permissions).flat();
  return Object.keys(properties).filter((name) =>
    !isSecretKey(name) && entries.some((entry) => entry.includes(`{${name}}`))
  );
}

function absolute(config: ConfigMap, names: readonly string[], root: string): ConfigMap {
  const paths = names.flatMap((name) => {
    const value = config[name];
    return typeof value === "string" && value !== "" ? [[name, resolve(root, value)] as const] : [];
  });
  return { ...config, ...Object.fromEntries(paths) };
}
