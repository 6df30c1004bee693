/** The one importer of the driver: of it come the connection, its handshake and its packets, and nothing that turns values. */
// @ts-types="./driver.d.ts"
import { createConnection } from "mysql2";

export type { Command, Connection, ConnectionOptions, Packet } from "./driver.d.ts";
export { createConnection };
