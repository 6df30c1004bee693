import { Buffer } from "node:buffer";
import { ConnectorError } from "../contract/mod.ts";
import type { SDK_NAMES } from "../packages/scaffold/sdk_code.ts";
import {
  arrowSchema,
  BatchBuilder,
  columnReaders,
  type ConnectorModule,
  PackageError,
  requireNet,
} from "../sdk/mod.ts";
import { moduleFault } from "../sdk/shape.ts";

/** Where the code of a package finds what it may use of pz. */
const SDK_KEY = "pz.connector.sdk";

/** All of it. */
export const FOREIGN_SDK = Object.freeze(
  { arrowSchema, BatchBuilder, columnReaders, ConnectorError: PackageError, requireNet } satisfies {
    readonly [name in typeof SDK_NAMES[number]]: unknown;
  },
);

/**
 * Runs the code of a package and gives the connector that it exports.
 *
 * @throws {ConnectorError} PZ0356 for code that can't be loaded or exports no connector, in words that follow the
 *   connector's name; the message holds nothing of the code's place
 */
export async function loadForeign(code: Uint8Array<ArrayBuffer>): Promise<ConnectorModule> {
  const property = { value: FOREIGN_SDK, configurable: false, writable: false };
  Object.defineProperty(globalThis, Symbol.for(SDK_KEY), property);
  const place = ["data:text/javascript;base64", Buffer.from(code).toString("base64")].join(",");
  let module: unknown;
  try {
    module = await import(place);
  } catch (error) {
    const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    throw refused(`its code can't be loaded: ${withoutPlace(text, place)}`);
  }
  const connector = typeof module === "object" && module !== null && "connector" in module
    ? module.connector
    : undefined;
  if (!isConnector(connector)) throw refused(`its ${moduleFault(connector)}`);
  return connector;
}

/** Loading the same bytes once more would end the same way. */
function refused(what: string): ConnectorError {
  return new ConnectorError(what, { transient: false, code: "PZ0356" });
}

/** The runtime names the module in what it says of it, cut or whole: nobody wants to read that. */
function withoutPlace(text: string, place: string): string {
  return text.replaceAll(place, "the connector's code").replaceAll(
    /data:text\/javascript;base64,[A-Za-z0-9+/=.]*/g,
    "the connector's code",
  )
    .slice(0, 2000);
}

function isConnector(value: unknown): value is ConnectorModule {
  return moduleFault(value) === undefined;
}
