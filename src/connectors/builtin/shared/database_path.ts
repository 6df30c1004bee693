import { relative, resolve } from "node:path";
import { longName } from "../localfiles/place.ts";
import type { ConfigMap, ConfigProblem, ConnectorContext } from "../../contract/mod.ts";

/** The absolute path of a connection's database, whatever stands there; undefined without a usable `path`. */
export function databasePath(config: ConfigMap, context: ConnectorContext): string | undefined {
  const path = config["path"];
  if (typeof path !== "string" || path.trim() === "" || path.includes("\0")) return undefined;
  return resolve(context.projectRoot, path);
}

/** The path of a connection's database; problems are pushed, and then the result is undefined. */
export function checkDatabasePath(
  connector: string,
  config: ConfigMap,
  context: ConnectorContext,
  problems: ConfigProblem[],
): string | undefined {
  const path = databasePath(config, context);
  if (path === undefined) {
    problems.push({
      code: "PZ0301",
      message: `A ${connector} connection needs "path", the path of its database file`,
      setting: "path",
    });
    return undefined;
  }
  const [long] = path.split(/[/\\]/).flatMap((name) => longName(name) ?? []);
  if (long !== undefined) {
    problems.push({ ...long, setting: "path" });
    return undefined;
  }
  if (relative(context.projectRoot, path).split(/[\\/]/)[0] === ".pz") {
    problems.push({
      code: "PZ0301",
      message: `Setting "path" leads to "${path}", inside the folder .pz, which belongs to pz`,
      setting: "path",
      hint: "choose a file outside of .pz",
    });
    return undefined;
  }
  return path;
}
