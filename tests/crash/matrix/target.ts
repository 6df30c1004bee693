import type { Duck } from "../../harness/duck.ts";
import type { Files } from "../../harness/temp_dir.ts";

/** Where the rows of a killed run go, or come from. */
export type Target = {
  readonly name: string;
  /** The project's files: its pipelines end in `out`. */
  readonly files: (place: Place) => Files;
  /** Environment variables that the project names. */
  readonly env?: { readonly [name: string]: string };
  /** Puts what was there before. */
  readonly prepare: (place: Place) => Promise<void>;
  /** What stands in the target, in a form that any row changes. */
  readonly content: (place: Place) => Promise<string>;
  /**
   * What is wrong with what stands there in the end, where that may be more than an undisturbed run leaves, such as
   * `whole`. `said`: all that pz has said in this place.
   */
  readonly judge?: (place: Place, whole: string, said: string) => readonly string[];
  /** What a run must not leave behind at the target. */
  readonly litter: (place: Place) => Promise<readonly string[]>;
};

/** One try: a project's folder, and a name of its own for what it makes elsewhere. */
export type Place = { readonly folder: string; readonly name: string; readonly duck: Duck };

export const ROWS = 20_000;

/** How many rows and a sum that every value changes. */
export async function summed(duck: Duck, relation: string, columns = "id, amount"): Promise<string> {
  const values = columns.split(", ").map((column) => `${column}::VARCHAR`).join(", ");
  const [[rows, sum] = []] = await duck.rows(`SELECT count(*) AS n, sum(hash(${values})) AS s FROM ${relation}`);
  return `${rows} rows, sum ${sum}`;
}

/** A project that passes the rows of `source` to one output, and to a file beside it. */
export function project(
  { connections, source, sink, more = "" }: {
    readonly connections: string;
    readonly source?: string;
    readonly sink: string;
    readonly more?: string;
  },
): Files {
  const from = source ?? "{{ source('raw', 'orders', format: 'csv', columns: { id: 'bigint', amount: 'bigint' }) }}";
  return {
    "project.yml": `name: crash\nversion: "1"\nengine: { threads: 2, staging: always }\n${more}`,
    "connections.yml": `raw:\n  connector: localfiles\n  root: raw\nlake:\n  connector: localfiles\n  root: lake\n` +
      connections,
    "pipelines/p.sql": `INSERT INTO {{ ${sink} }}\nSELECT id, amount FROM ${from}\n`,
    "pipelines/q.sql": `INSERT INTO {{ sink('lake', 'q', format: 'parquet', strategy: 'replace') }}\n` +
      `SELECT id, amount * 2 AS amount FROM ${from}\n`,
  };
}

/** Writes the file that the projects read. */
export async function writeOrders({ duck, folder }: Place): Promise<void> {
  Deno.mkdirSync(`${folder}/raw`, { recursive: true });
  await duck.run(
    `COPY (SELECT range AS id, (range * 7919) % 1000003 AS amount FROM range(${ROWS})) ` +
      `TO '${folder}/raw/orders.csv' (HEADER)`,
  );
}
