import { type DuckDbConnection, literal } from "../duckdb/mod.ts";
import type { Fingerprint } from "./fingerprint.ts";

/** How many rows a destination has confirmed, of a relation of this content in the order of its drain. */
export type Delivered = { readonly acknowledged: bigint; readonly of: Fingerprint };

/** The account of what an output's destination has confirmed. */
export class SinkDeliveryLedger {
  readonly #node: string;

  constructor(nodeId: string) {
    this.#node = literal(nodeId);
  }

  /** What is known of the output; undefined: nothing. */
  async read(connection: DuckDbConnection): Promise<Delivered | undefined> {
    const [row] = await connection.rows(
      `SELECT acknowledged_rows, relation_count, relation_hash FROM pz_meta.sink_deliveries ` +
        `WHERE node_id = ${this.#node}`,
    );
    if (row === undefined) return undefined;
    const [acknowledged, rows, hash] = row;
    return { acknowledged: BigInt(acknowledged ?? "0"), of: { rows: BigInt(rows ?? "0"), hash: hash ?? "" } };
  }

  /** Takes the place of what is known, as one step. */
  async save(connection: DuckDbConnection, { acknowledged, of }: Delivered): Promise<void> {
    await connection.run(
      `INSERT OR REPLACE INTO pz_meta.sink_deliveries ` +
        `VALUES (${this.#node}, ${acknowledged}, ${of.rows}, ${literal(of.hash)})`,
    );
  }
}

/** Whether two relations have the same content. */
export function isSameContent(one: Fingerprint, other: Fingerprint): boolean {
  return one.rows === other.rows && one.hash === other.hash;
}
