import { ConnectorError } from "../../connectors/mod.ts";
import { PzError } from "../../errors/mod.ts";
import { StepError } from "../failure.ts";

const IDENTITY = "PZ0319";

/** What a plan of partitions failed with, as a node's failure: partitions without ids of their own have a code. */
export function planFailure(error: unknown): unknown {
  if (error instanceof StepError || error instanceof PzError) return error;
  if (!(error instanceof ConnectorError) || error.code !== IDENTITY) return new StepError("read", error);
  return new PzError(IDENTITY, error.message, { hint: error.hint });
}
