import { type Outcome, succeed } from "../../errors/mod.ts";
import { builtinConnectors, findConnector } from "../builtin/registry.ts";
import type { ConnectorDescription } from "../contract/mod.ts";
import type { DeclaredPackage } from "./lock.ts";
import type { RestoreOptions, RestoreResult } from "./restore.ts";

/** The connectors that a project can use. */
export type ConnectorSet = {
  /** As `findConnector`, with the project's packages. */
  readonly find: (name: string) => ConnectorDescription | "planned" | undefined;
  /** All that pz holds, then those of packages. */
  readonly all: readonly ConnectorDescription[];
};

/** Whether pz itself has, or keeps, a connector of this name. */
export function isOwnConnector(name: string): boolean {
  return findConnector(name) !== undefined;
}

/** The connectors inside pz. */
export function ownConnectors(): ConnectorSet {
  return { find: findConnector, all: builtinConnectors() };
}

/** The packages that a project declares, but for those that have become part of pz. */
export function foreignPackages(declared: readonly DeclaredPackage[]): readonly DeclaredPackage[] {
  return declared.filter(({ package: id }) => !isOwnConnector(id));
}

/**
 * The connectors of a project: those inside pz and those of the packages that it declares, each compared with the lock.
 * Without packages nothing is loaded or read.
 */
export async function projectConnectors(
  root: string,
  declared: readonly DeclaredPackage[],
): Promise<Outcome<ConnectorSet>> {
  const foreign = foreignPackages(declared);
  if (foreign.length === 0) return succeed(ownConnectors());
  const { installedConnectors } = await import("./installed.ts");
  const installed = await installedConnectors(root, foreign, isOwnConnector);
  if (!installed.ok) return installed;
  const byName = new Map(installed.value.map((connector) => [connector.name, connector]));
  return succeed({
    find: (name) => findConnector(name) ?? byName.get(name),
    all: [...builtinConnectors(), ...installed.value],
  });
}

/** See `restorePackages`; loads what it takes only now. */
export async function restoreProject(options: Omit<RestoreOptions, "isKnown">): Promise<Outcome<RestoreResult>> {
  const { restorePackages } = await import("./restore.ts");
  return await restorePackages({ ...options, isKnown: isOwnConnector });
}
