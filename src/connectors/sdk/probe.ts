import { type ConfigMap, ConnectorError } from "../contract/mod.ts";

/** The one setting of a connection that is no connection: a question whether numbers arrive as they are. */
export const NUMERIC_PROBE = "pz_conformance_numeric_probe";

/** Greetings and schemas have no more bytes. */
export const MAX_MESSAGE_BYTES = 1 << 20;

/** What a whole number beyond 53 bits must still be. */
const WIDE = 9_007_199_254_740_993n;

/**
 * Answers the question whether numbers arrive as they are, in the connector's place. False: it was not asked.
 *
 * @throws {ConnectorError} for a number that is not whole, or that has changed on its way
 */
export function answersNumericProbe(config: ConfigMap): boolean {
  if (!Object.hasOwn(config, NUMERIC_PROBE) || Object.keys(config).length !== 1) return false;
  const value = config[NUMERIC_PROBE];
  const isWhole = typeof value === "bigint" ? value === WIDE : typeof value === "number" && Number.isSafeInteger(value);
  if (isWhole) return true;
  throw new ConnectorError(`${NUMERIC_PROBE}: not integral`, { transient: false, code: "PZ0301" });
}
