import { type Outcome, succeed } from "../../errors/mod.ts";
import type { VectorResult } from "../conformance/target.ts";
import type { ConfigMap, ConnectorDescription } from "../contract/mod.ts";
import type { BuiltConnector } from "./build.ts";

/** The files of a new connector of this name, by path. */
export async function scaffoldConnector(name: string): Promise<ReadonlyMap<string, string>> {
  const { scaffoldFiles } = await import("./scaffold/scaffold.ts");
  return scaffoldFiles(name);
}

/** The files of the SDK, by path. */
export async function scaffoldSdk(): Promise<ReadonlyMap<string, string>> {
  const { sdkFiles } = await import("./scaffold/scaffold.ts");
  return new Map(sdkFiles());
}

/** See `buildConnector`; loads what it takes only now. */
export async function buildConnector(root: string): Promise<Outcome<BuiltConnector>> {
  const { buildConnector: build } = await import("./build.ts");
  return await build(root);
}

/** See `openPackageFolder`; loads what it takes only now. */
export async function openConnectorFolder(folder: string): Promise<Outcome<ConnectorDescription>> {
  const { openPackageFolder } = await import("./open_folder.ts");
  return await openPackageFolder(folder);
}

/**
 * Tries out every promise of a connector. The outcome fails for a configuration that can't be understood; what the
 * connector does wrong stands in the results.
 *
 * @param values what the file of the test says
 */
export async function tryConnector(
  { connector, root, values, file }: {
    readonly connector: ConnectorDescription;
    readonly root: string;
    readonly values: ConfigMap;
    readonly file: string;
  },
  onResult: (result: VectorResult) => void,
): Promise<Outcome<readonly VectorResult[]>> {
  const { conformanceConfig } = await import("../conformance/config.ts");
  const asked = conformanceConfig(values, file);
  if (!asked.ok) return asked;
  const { runConformance } = await import("../conformance/suite.ts");
  return succeed(await runConformance({ connector, root, ...asked.value }, onResult));
}
