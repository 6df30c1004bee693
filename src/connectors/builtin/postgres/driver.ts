/** The one importer of the driver, of which only the client is used: no pool, no native binding, nothing read from the environment. */
// @ts-types="./driver.d.ts"
import Client from "pg/lib/client.js";

export type { PgClientConfig, PgConnection, PgField, PgStream, PgSubmittable } from "./driver.d.ts";
export default Client;
