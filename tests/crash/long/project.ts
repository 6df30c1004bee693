import { join } from "node:path";
import type { Duck } from "../../harness/duck.ts";
import { type Files, writeFiles } from "../../harness/temp_dir.ts";

/** Pipelines between the source and the last sink, each waiting for the one before. */
const LINKS = 8;
const OLD_CSV = "n,h\n-1,0\n";

/** How big the rows of the killed project are; the time of a run grows with it. */
export type Size = { readonly rows: number };

/** Writes the file that every copy of the project reads. */
export async function writeInput(duck: Duck, folder: string, { rows }: Size): Promise<void> {
  Deno.mkdirSync(folder, { recursive: true });
  await duck.run(`COPY (SELECT range AS n, hash(range) AS h FROM range(${rows})) TO '${folder}/input.csv' (HEADER)`);
}

/**
 * Writes a project of one CSV source, a chain of pipelines and, along it, sinks of every kind: files, a partitioned
 * folder, tables. Each target holds old rows before. Every table is staged, so that each can be looked for afterwards.
 */
export async function writeProject(duck: Duck, folder: string, input: string): Promise<void> {
  const files: { [path: string]: string } = {
    "project.yml": `name: killed\nversion: "1"\nengine: { threads: 2, staging: always }\n`,
    "connections.yml": `raw:\n  connector: localfiles\n  root: ${JSON.stringify(input)}\n` +
      "lake:\n  connector: localfiles\n  root: out\nbase:\n  connector: duckdb\n  path: out/base.duckdb\n",
  };
  for (let link = 0; link < LINKS; link++) {
    const from = link === 0 ? "{{ source('raw', 'input', format: 'csv') }}" : `{{ ref('p${link - 1}') }}`;
    files[`pipelines/p${link}.sql`] = `INSERT INTO ${sinkOf(link)}\n` +
      `SELECT n, hash(h, ${link}) AS h${link % 4 === 2 ? ", n % 3 AS k" : ""} FROM ${from}\n`;
  }
  await writeFiles(folder, { ...files, ...oldFiles() });
  await duck.run(`ATTACH '${join(folder, "out", "base.duckdb")}' AS made`);
  for (let link = 3; link < LINKS; link += 4) {
    await duck.run(`CREATE TABLE made.p${link} AS SELECT -1::BIGINT AS n, 0::UBIGINT AS h`);
  }
  await duck.run("DETACH made");
}

function sinkOf(link: number): string {
  const to = `strategy: 'replace'`;
  switch (link % 4) {
    case 0:
      return `{{ sink('lake', 'p${link}', format: 'csv', ${to}) }}`;
    case 1:
      return `{{ sink('lake', 'p${link}', format: 'parquet', ${to}) }}`;
    case 2:
      return `{{ sink('lake', 'p${link}', format: 'csv', partition_by: 'k', ${to}) }}`;
    default:
      return `{{ sink('base', 'p${link}', ${to}) }}`;
  }
}

function oldFiles(): Files {
  const files: { [path: string]: string } = {};
  for (let link = 0; link < LINKS; link++) {
    if (link % 4 === 0) files[`out/p${link}/p${link}.csv`] = OLD_CSV;
    if (link % 4 === 2) files[`out/p${link}/k=0/old.csv`] = OLD_CSV;
  }
  return files;
}

/** What stands in a target: how many rows, and a sum that every row changes. `absent`: nothing has its name. */
export type Content = string;

/** The content of each sink's target, by the name of the sink's pipeline. */
export async function targets(duck: Duck, folder: string): Promise<ReadonlyMap<string, Content>> {
  const out = join(folder, "out");
  const contents = new Map<string, Content>();
  await duck.run(`ATTACH '${join(out, "base.duckdb")}' AS made`);
  for (let link = 0; link < LINKS; link++) {
    const name = `p${link}`;
    const [extension, from] = [
      ["csv", `read_csv('${out}/${name}/*.csv', header = true, all_varchar = true)`],
      ["parquet", `'${out}/${name}/*.parquet'`],
      ["", `read_csv('${out}/${name}/*/*.csv', header = true, all_varchar = true)`],
      ["", `made.${name}`],
    ][link % 4] ?? [];
    const there = extension === "" || isThere(join(out, name, `${name}.${extension}`));
    contents.set(name, there ? await contentOf(duck, from ?? "") : "absent");
  }
  await duck.run("DETACH made");
  return contents;
}

async function contentOf(duck: Duck, from: string): Promise<Content> {
  const [[rows, sum] = []] = await duck.rows(
    `SELECT count(*) AS rows, sum(hash(n::VARCHAR, h::VARCHAR)) AS sum FROM ${from}`,
  );
  return `${rows} rows, sum ${sum}`;
}

function isThere(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}
