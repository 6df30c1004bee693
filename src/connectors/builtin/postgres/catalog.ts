import type { CatalogType } from "./read_types.ts";
import type { PgSession } from "./session.ts";

/** Looks types up, with those that their arrays and domains are made of. */
export async function loadTypes(
  session: PgSession,
  oids: readonly number[],
): Promise<ReadonlyMap<number, CatalogType>> {
  const wanted = [...new Set(oids)].map((oid) => `(${oid}::oid)`).join(", ");
  if (wanted === "") return new Map();
  const rows = await session.query(`
    WITH RECURSIVE needed(oid) AS (
      SELECT v.oid FROM (VALUES ${wanted}) v(oid)
      UNION
      SELECT part.oid FROM needed n
      JOIN pg_catalog.pg_type t ON t.oid = n.oid
      CROSS JOIN LATERAL (VALUES (CASE WHEN t.typcategory = 'A' THEN t.typelem ELSE 0 END), (t.typbasetype)) part(oid)
      WHERE part.oid <> 0
    )
    SELECT t.oid, t.typname, pg_catalog.format_type(t.oid, NULL), t.typtype,
           CASE WHEN t.typcategory = 'A' AND t.typtype = 'b' THEN t.typelem ELSE 0 END, t.typbasetype, t.typtypmod
    FROM needed n JOIN pg_catalog.pg_type t ON t.oid = n.oid`);
  const types = new Map<number, CatalogType>();
  for (const [oid, name, spelled, sort, element, base, modifier] of rows) {
    types.set(Number(oid), {
      oid: Number(oid),
      name: name ?? "",
      spelled: spelled ?? "",
      sort: sort ?? "",
      element: Number(element),
      base: Number(base),
      modifier: Number(modifier),
    });
  }
  return types;
}
