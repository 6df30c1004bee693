import { ConnectorError } from "../contract/mod.ts";
import { ConnectorChild } from "../host/child.ts";
import { childCommand } from "../host/command.ts";
import { DEFAULT_PATIENCE } from "../host/patience.ts";
import { Redactor } from "../host/redact.ts";
import type { PackageManifest } from "./manifest.ts";

const CONNECTION = "pz connector build";
const NOTHING = { net: [], read: [], write: [], env: [] };

/**
 * Starts the code of a package in a sandbox that may touch nothing, and tells what keeps it from ever running, such as
 * that it exports no connector, or one of another name than its manifest's. Undefined for code that starts, and for what
 * may be due to the lack of rights and settings.
 */
export async function whyNotStarting(
  manifest: PackageManifest,
  code: Uint8Array<ArrayBuffer>,
): Promise<{ readonly message: string; readonly hint: string | undefined } | undefined> {
  const program = { kind: "module", code } as const;
  try {
    const child = await ConnectorChild.start({
      command: childCommand({ grant: NOTHING, program }),
      connector: manifest.name,
      connection: CONNECTION,
      program,
      capabilities: new Set(manifest.capabilities),
      config: {},
      grant: NOTHING,
      runId: "build",
      redactor: new Redactor({}),
      patience: DEFAULT_PATIENCE,
      onLog: () => {},
      onNotice: () => {},
    }, new AbortController().signal);
    await child.close();
    return undefined;
  } catch (error) {
    if (!(error instanceof ConnectorError)) throw error;
    if (error.code !== "PZ0356" || error.message.includes("its code can't be loaded")) return undefined;
    return {
      message: error.message.replace(/ (?:of|for) connection ['"]pz connector build['"]/, ""),
      hint: error.hint,
    };
  }
}
