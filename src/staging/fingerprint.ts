import { type DuckDbConnection, ident, qualified, type StatementOptions } from "../duckdb/mod.ts";
import { canonicalJson, sha256Hex } from "../util/mod.ts";

/**
 * Stands for the content of a relation: how many rows it has, and a text that is the same for the same rows, in whatever
 * order, of columns of the same names and types.
 */
export type Fingerprint = { readonly rows: bigint; readonly hash: string };

export type FingerprintOptions = StatementOptions & {
  /** Whether the places of the rows in a table count too. */
  readonly placed?: boolean;
};

/** Reads all of `staging.<relation>` once. */
export async function fingerprint(
  connection: DuckDbConnection,
  relation: string,
  { placed = false, signal }: FingerprintOptions = {},
): Promise<Fingerprint> {
  const table = qualified("staging", relation);
  const { columns } = await connection.prepare(`SELECT * FROM ${table}`);
  const hashed = [...columns.map(({ name }) => ident(name)), ...(placed ? ["rowid"] : [])];
  const [row] = await connection.rows(
    `SELECT count(*), coalesce(sum(hash(${hashed.join(", ")})::HUGEINT), 0) FROM ${table}`,
    { signal },
  );
  const shape = sha256Hex(canonicalJson(columns.map(({ name, type }) => [name, type])));
  return { rows: BigInt(row?.[0] ?? "0"), hash: `${row?.[1]} ${shape.slice(0, SHAPE_LENGTH)}` };
}

const SHAPE_LENGTH = 16;
