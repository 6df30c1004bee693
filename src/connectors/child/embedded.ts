import type { ConnectorModule } from "../sdk/connector.ts";

/** The connectors inside pz that run in the worker; each import is a literal, so that every bundler finds it. */
const EMBEDDED: { readonly [name: string]: () => Promise<{ readonly connector: ConnectorModule }> } = {
  generate: () => import("../builtin/generate/connector.ts"),
  http: () => import("../builtin/http/connector.ts"),
  localfiles: () => import("../builtin/localfiles/child/connector.ts"),
  mysql: () => import("../builtin/mysql/connector.ts"),
  postgres: () => import("../builtin/postgres/connector.ts"),
  s3: () => import("../builtin/s3/connector.ts"),
  sqlite: () => import("../builtin/sqlite/connector.ts"),
};

/** Loads the module of an embedded connector; undefined for a name that there is none of. */
export async function loadEmbedded(name: string): Promise<ConnectorModule | undefined> {
  if (!Object.hasOwn(EMBEDDED, name)) return undefined;
  return (await EMBEDDED[name]?.())?.connector;
}
