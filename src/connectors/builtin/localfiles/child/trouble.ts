import { ConnectorError } from "../../../contract/mod.ts";

/** A permanent failure that tells what is wrong and the next step. */
export function refused(message: string, hint?: string): ConnectorError {
  return new ConnectorError(message, { transient: false, hint });
}

/** A thrown value with what was being done, where the system or the runtime threw it. */
export function during(doing: string, error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof ConnectorError || error instanceof Deno.errors.NotCapable) {
    return error;
  }
  return new ConnectorError(`${doing} failed: ${error.message}`, { transient: false, cause: error });
}
