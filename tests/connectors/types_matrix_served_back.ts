import type { Duck } from "../harness/duck.ts";
import type { TempDir } from "../harness/temp_dir.ts";
import { staged } from "./database_support.ts";
import type { TypeCase } from "./types_matrix_cases.ts";
import { openDatabase } from "./types_matrix_run.ts";
import { columnOf, entityOf, type HeldCase, type MatrixSystem, type ServedStage } from "./types_matrix_served.ts";
import { jsonKind, NULL, spelled, type Text } from "./types_matrix_values.ts";

/** Where a run has written. */
export type Written = {
  readonly stage: ServedStage;
  readonly duck: Duck;
  readonly folder: TempDir;
  /** Of the keys in the store. */
  readonly prefix: string;
};

/** A column as it stands in a sink, in the order of `n`. */
export type Column = { readonly type: string; readonly texts: readonly Text[] };

/** The columns of the cases in an entity of a sink, by its own means. */
export async function readColumns(
  sink: MatrixSystem,
  entity: string,
  cases: readonly TypeCase[],
  { stage: { postgres, mariadb, store, lines }, duck, folder, prefix }: Written,
): Promise<readonly Column[]> {
  const names = cases.map(columnOf);
  const objectAt = async (key: string) => await store?.get(`${prefix}/${key}`) ?? new Uint8Array();
  switch (sink) {
    case "postgres": {
      const types = await postgres.sql(
        `SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = '"to".${entity}'::regclass ` +
          "AND attnum > 1 ORDER BY attnum",
      );
      const texts = names.map((name) => `${name}::text`).join(", ");
      return columns(
        types.map(([type]) => type ?? ""),
        await postgres.sql(`SELECT ${texts} FROM "to".${entity} ORDER BY n`),
      );
    }
    case "mysql":
    case "sqlite": {
      await using opened = openDatabase(sink, mariadb, folder.join("to.db"));
      const spec = { connection: "c", entity: entityOf(sink, entity), config: {}, options: {} };
      const { shape, rows } = await staged(opened, spec);
      const sorted = rows.toSorted(([a], [b]) => Number(a) - Number(b)).map((row) => row.slice(1));
      return columns(shape.slice(1).map((text) => text.slice(text.indexOf(" ") + 1)), sorted);
    }
    case "duckdb":
      return await inDuck(duck, `made.main.${entity}`, names);
    case "parquet":
      return await inDuck(duck, `'${folder.join("out", entity, `${entity}.parquet`)}'`, names);
    case "s3_parquet":
    case "s3_csv": {
      const format = sink === "s3_csv" ? "csv" : "parquet";
      const file = folder.join(`got-${entity}.${format}`);
      await Deno.writeFile(file, await objectAt(`out_${format}/${entity}/${entity}.${format}`));
      if (format === "parquet") return await inDuck(duck, `'${file}'`, names);
      const read = `read_csv('${file}', all_varchar = true, header = true, delim = ',', quote = '"', escape = '"', ` +
        "allow_quoted_nulls = false, max_line_size = 16000000)";
      const rows = await duck.rows(`SELECT ${names.join(", ")} FROM ${read} ORDER BY n::BIGINT`);
      return columns(names.map(() => "text"), rows);
    }
    default: {
      const all = sink === "http"
        ? lines.get(`/to/${entity}`) ?? []
        : (sink === "ndjson"
          ? await Deno.readTextFile(folder.join("out_json", entity, `${entity}.json`))
          : new TextDecoder().decode(await objectAt(`out_json/${entity}/${entity}.json`))).split("\n").slice(0, -1);
      const rows = all.map((line) => membersOf(line, ["n", ...names]))
        .toSorted(([a], [b]) => Number(a) - Number(b)).map((row) => row.slice(1));
      return names.map((_, at) => {
        const texts = rows.map((row): Text => row[at] === "null" ? NULL : row[at] ?? "");
        const kinds = new Set(texts.filter((text) => text !== NULL).map(jsonKind));
        return { type: [...kinds].join(" or ") || "null", texts };
      });
    }
  }
}

function columns(types: readonly string[], rows: readonly (readonly (string | null)[])[]): readonly Column[] {
  return types.map((type, at) => ({ type, texts: rows.map((row) => row[at] ?? NULL) }));
}

async function inDuck(duck: Duck, relation: string, names: readonly string[]): Promise<readonly Column[]> {
  const listed = names.join(", ");
  const shape = await duck.shape(`SELECT ${listed} FROM ${relation}`);
  const rows = await duck.rows(`SELECT ${listed} FROM ${relation} ORDER BY n`);
  return columns(shape.map((text) => text.slice(text.indexOf(" ") + 1)), rows);
}

/** The texts of the members of one line of JSON, which has these alone and in this order. */
function membersOf(line: string, names: readonly string[]): string[] {
  const marks = names.map((name, at) => `${at === 0 ? "{" : ","}"${name}":`);
  let at = 0;
  return marks.map((mark, index) => {
    const start = line.indexOf(mark, at);
    if (start !== at) throw new Error(`no ${mark} at ${at} of ${line.slice(0, 200)}`);
    const next = marks[index + 1];
    at = next === undefined ? line.length - 1 : line.indexOf(next, start);
    return line.slice(start + mark.length, at);
  });
}

/** A column against the case that it is to hold; `told`: what pz said in the run. */
export function verdictOn({ one, held }: HeldCase, sink: MatrixSystem, found: Column, told: string): string {
  const expected: readonly Text[] = found.texts.map((_, index) => {
    const value = held.values[index];
    return value === undefined ? NULL : spelledIn(held, value, sink, found.type);
  });
  const wrong = found.texts.findIndex((text, index) => text !== expected[index]);
  if (wrong === -1 && found.texts.length > held.values.length) {
    const own = sink === "postgres" ? one.pg : sink === "ndjson" || sink === "http" ? undefined : one.duck;
    return found.type === own ? "same" : `as ${found.type}`;
  }
  if (found.type === "null" && told.includes(`${columnOf(one)}\\" holds numbers that JSON has none for`)) {
    return "as null, and told";
  }
  const [is, was] = [found.texts[wrong], expected[wrong]].map((text) => String(text).slice(0, 60));
  return `CHANGED to ${found.type}: ${found.texts.length} rows, ${is} instead of ${was}`;
}

function spelledIn(held: TypeCase, value: HeldCase["held"]["values"][number], sink: MatrixSystem, type: string): Text {
  switch (sink) {
    case "s3_parquet":
      return spelled(held, value, "parquet", type);
    case "s3_csv":
      return value.duck;
    case "s3_json":
      return spelled(held, value, "ndjson", type);
    case "http": {
      if (held.duck === "FLOAT" || held.duck === "DOUBLE") return value.written ?? value.duck;
      const text = spelled(held, value, "ndjson", type);
      // A moment is in the form of ISO 8601, always in UTC.
      const moment = /^TIMESTAMP/.test(held.duck)
        ? /^"(\d+-\d\d-\d\d) ([\d:]+)(?:\.(\d+))?(?:\+00)?"$/.exec(String(text))
        : null;
      return moment === null ? text : `"${moment[1]}T${moment[2]}.${(moment[3] ?? "").padEnd(6, "0")}Z"`;
    }
    default:
      return spelled(held, value, sink, type);
  }
}
