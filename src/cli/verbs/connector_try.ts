import { basename, join, resolve } from "node:path";
import {
  type ConnectorDescription,
  openConnectorFolder,
  ownConnectors,
  tryConnector,
  type VectorResult,
} from "../../connectors/mod.ts";
import { PzError } from "../../errors/mod.ts";
import { loadSettings } from "../../project/mod.ts";
import { EXIT, type ExitCode } from "../exit_codes.ts";
import type { Io } from "../io.ts";
import { reportErrors, reportNotes } from "../report.ts";

export type ConnectorTryOptions = {
  /** A package's folder, or the name of a connector inside pz. */
  readonly target: string;
  readonly config?: string | undefined;
};

const DEFAULT_CONFIG = "connector_test.yml";

/** `pz connector test`: tries out every promise that a connector makes. Exit code 1 where one is not kept. */
export async function connectorTest(io: Io, { target, config }: ConnectorTryOptions): Promise<ExitCode> {
  const folder = resolve(io.cwd, target);
  const isFolder = await isThere(folder);
  const own = isFolder ? undefined : ownConnectors().find(target);
  if (!isFolder && (own === undefined || own === "planned")) {
    const hint = "name the folder of a package, or a connector inside pz";
    return reportErrors(io.console, [new PzError("PZ0354", `there is no folder '${target}'`, { hint })]);
  }
  let connector: ConnectorDescription;
  if (own === undefined || own === "planned") {
    const opened = await openConnectorFolder(folder);
    if (!opened.ok) return reportErrors(io.console, opened.errors);
    connector = opened.value;
  } else {
    connector = own;
  }
  const root = isFolder ? folder : io.cwd;
  const file = config === undefined ? join(root, DEFAULT_CONFIG) : resolve(io.cwd, config);
  const hasFile = config !== undefined || await isThere(file);
  const values = hasFile ? await loadSettings(file, { env: io.env }) : undefined;
  if (values?.ok === false) return reportErrors(io.console, values.errors);
  if (!hasFile) {
    reportNotes(io.console, [
      `there is no ${DEFAULT_CONFIG} in its folder and no --config: reading and writing are not tried`,
    ]);
  }
  const results = await tryConnector(
    { connector, root, values: values?.value ?? {}, file: basename(file) },
    (result) => io.console.out(lineOf(result)),
  );
  if (!results.ok) return reportErrors(io.console, results.errors);
  const count = (status: VectorResult["status"]) => results.value.filter((result) => result.status === status).length;
  io.console.out(
    `${connector.name} ${connector.version}: ${count("PASS")} passed, ${count("FAIL")} failed, ${
      count("SKIP")
    } skipped`,
  );
  return count("FAIL") === 0 ? EXIT.ok : EXIT.failures;
}

function lineOf({ name, status, detail }: VectorResult): string {
  return `${status} ${name}${detail === undefined ? "" : `: ${detail}`}`;
}

async function isThere(path: string): Promise<boolean> {
  try {
    await Deno.stat(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) return false;
    throw error;
  }
}
