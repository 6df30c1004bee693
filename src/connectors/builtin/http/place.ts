import { ident } from "../../../duckdb/mod.ts";
import type { NativeDiagnosis, QueryRows } from "../../contract/mod.ts";
import { refusal } from "../shared/checked_cast.ts";
import type { TypedColumn } from "../shared/exact_cast.ts";

/** The option by which the engine's side names the column of places, which no project can set. */
export const PLACE_OPTION = "pz_place";

/** A place is the number of the page and, in as many low bits, the number of the record in it, both from 1. */
const RECORD_BITS = 32;
const SHOWN = 80;

/** Finds the first record, in the order of the server, with a value that its column can't hold. */
export async function diagnose(
  query: QueryRows,
  relation: string,
  { columns, place, path }: { readonly columns: readonly TypedColumn[]; readonly place: string; readonly path: string },
): Promise<NativeDiagnosis | undefined> {
  const texts = columns.map(({ name }, index) => `${ident(name)} AS t${index}`);
  const values = columns.map(({ type }, index) => `TRY_CAST(t${index} AS ${type}) AS v${index}`);
  const cases = columns.map((column, index) => `WHEN ${refusal(`t${index}`, `v${index}`, column)} THEN ${index + 1}`);
  const list = columns.map((_, index) => `t${index}`).join(", ");
  const [row] = await query(
    `SELECT n >> ${RECORD_BITS}, n & ${2 ** RECORD_BITS - 1}, bad, [${list}][bad] FROM (` +
      `SELECT *, CASE ${cases.join(" ")} END AS bad FROM (SELECT *, ${values.join(", ")} FROM (` +
      `SELECT ${ident(place)} AS n, ${texts.join(", ")} FROM ${relation}))) WHERE bad IS NOT NULL ORDER BY n LIMIT 1`,
  );
  const [page, record, bad, text] = row ?? [];
  const column = columns[Number(bad) - 1];
  if (row === undefined || column === undefined) return undefined;
  const shown = JSON.stringify((text ?? "").length > SHOWN ? `${text?.slice(0, SHOWN)}…` : text ?? "");
  const { name, type } = column;
  return {
    message: `Column "${name}" holds ${shown}, which ${type} can't hold as it is (page ${page}, record ${record})`,
    file: path,
    line: undefined,
    column: name,
    hint: `declare another type for ${name}, or let its values change with lossy: {${name}: allow}`,
  };
}
