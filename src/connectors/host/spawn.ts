import { ConnectorError } from "../contract/mod.ts";
import type { ChildCommand } from "./command.ts";

/**
 * Starts a connector's process with pipes and nothing of this process's environment.
 *
 * @throws {ConnectorError} PZ0355 when it can't be started
 */
export function spawn({ command, connector, connection }: {
  readonly command: ChildCommand;
  readonly connector: string;
  readonly connection: string;
}): Deno.ChildProcess {
  try {
    return new Deno.Command(command.path, {
      args: [...command.args],
      clearEnv: true,
      env: { ...command.env },
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
      // A session of its own, so that Ctrl-C reaches only the engine. On Windows a job object ends it with the parent.
      detached: Deno.build.os !== "windows",
    }).spawn();
  } catch (error) {
    throw new ConnectorError(
      `Could not start a process for connector "${connector}" of connection "${connection}": ${
        error instanceof Error ? error.message : String(error)
      }`,
      { transient: false, code: "PZ0355", cause: error },
    );
  }
}
