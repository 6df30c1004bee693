import { connector } from "../../src/connectors/builtin/mysql/connector.ts";
import type { ConfigMap, DatasetSpec, ReadHints } from "../../src/connectors/mod.ts";
import type { TestMariaDb } from "../harness/mariadb.ts";
import { OpenedConnector } from "./database_support.ts";

/** A connection's options for a test server. */
export function configOf({ host, port, user, password, database }: TestMariaDb): ConfigMap {
  return { host, port: BigInt(port), user, password, database };
}

/** The connector in this process, with what it told. */
export class Opened extends OpenedConnector {
  constructor(config: ConfigMap) {
    super(connector, config);
  }
}

export function dataset(entity: string, options: ConfigMap = {}, hints?: ReadHints): DatasetSpec {
  return { connection: "my", entity, config: {}, options, ...(hints === undefined ? {} : { hints }) };
}
