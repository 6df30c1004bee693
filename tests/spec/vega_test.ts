import assert from "node:assert/strict";
import { join } from "node:path";
import { type PzResult, runPz } from "../harness/cli.ts";
import { Duck } from "../harness/duck.ts";
import { problemsOfStream } from "../harness/events.ts";
import { listFiles, TempDir, writeFiles } from "../harness/temp_dir.ts";
import { EXPECTED, json, stockPrices, VEGA_DATA, VIOLATIONS } from "./vega_expected.ts";

const FIXTURE = join(import.meta.dirname ?? ".", "..", "..", "fixtures", "vega_atlas");
const ENV = { VEGA_DATA };

const PRICES = "SELECT symbol, month, price FROM warehouse.prices ORDER BY symbol, month";

/** How to read what a sink wrote, each column with its type. */
const READERS: { readonly [sink: string]: (file: string) => string } = {
  index_months: (file) =>
    `SELECT * FROM read_json('${file}', format = 'newline_delimited', columns = {month: 'DATE', days: 'BIGINT', ` +
    `open: 'DECIMAL(12,6)', high: 'DECIMAL(12,6)', low: 'DECIMAL(12,6)', close: 'DECIMAL(12,6)', volume: 'BIGINT'})`,
  stock_changes: csv,
  weather_years: (file) => `SELECT * FROM read_csv('${file}', delim = '\t', header = true, all_varchar = true)`,
  unemployment_states: (file) => `SELECT * FROM '${file}'`,
  penguins: csv,
  films: (file) =>
    `SELECT * FROM read_json('${file}', format = 'array', columns = {title: 'VARCHAR', director: 'VARCHAR', ` +
    `gross: 'BIGINT', released_on: 'DATE', rating: 'DOUBLE'})`,
  acquaintances: csv,
};

function csv(file: string): string {
  return `SELECT * FROM read_csv('${file}', header = true, all_varchar = true)`;
}

async function copyFixture(folder: TempDir): Promise<void> {
  for (const path of await listFiles(FIXTURE)) {
    await writeFiles(folder.path, { [path]: await Deno.readTextFile(join(FIXTURE, path)) });
  }
}

function completed(result: PzResult): Map<string, { readonly [field: string]: unknown }> {
  const ends = result.events.filter(({ event }) => event === "node_completed");
  return new Map(ends.map((end) => [String(end["name"]), end]));
}

Deno.test("a project over real files: csv, tsv, json and parquet in and out, a DuckDB database out, as computed without pz", async () => {
  await using folder = await TempDir.create();
  await copyFixture(folder);

  const result = await runPz(["run", "--all", "--log-format", "json"], { cwd: folder.path, env: ENV });

  assert.equal(result.code, 0, result.toString());
  assert.deepEqual(problemsOfStream(result.events), []);
  const nodes = [...completed(result).values()];
  assert.deepEqual(nodes.filter(({ status }) => status !== "success"), []);
  assert.equal(nodes.length, result.events[0]?.["nodeCount"]);
  const kinds = Map.groupBy(nodes, ({ kind }) => kind);
  assert.deepEqual(
    ["SourceLoad", "Pipeline", "Check", "SinkWrite"].map((kind) => kinds.get(kind)?.length),
    [12, 17, 7, 14],
  );

  const outputs = (await listFiles(folder.path)).filter((path) => path.startsWith("out/"));
  const fileOf = (sink: string): string => {
    const path = outputs.find((output) => output.startsWith(`out/${sink}/${sink}.`));
    assert.ok(path, `${sink}: there is no file among ${outputs.join(", ")}`);
    return folder.join(path);
  };
  assert.equal(outputs.length, 12);

  using duck = await Duck.open();
  for (const [sink, expected] of Object.entries(EXPECTED)) {
    const rows = await duck.rows(READERS[sink]?.(fileOf(sink)) ?? "");
    // No ORDER BY ends this pipeline.
    if (sink === "films") rows.sort((a, b) => a.join("\n") < b.join("\n") ? -1 : 1);
    assert.deepEqual(rows, expected(), sink);
  }
  await duck.run(`ATTACH '${folder.join("warehouse.duckdb")}' AS warehouse (READ_ONLY)`);
  assert.deepEqual(await duck.rows(PRICES), stockPrices());
  await assertFlights(duck, fileOf);
  await assertNested(duck, fileOf);
});

/** The three sinks over three million flights, by other queries on the file itself. */
async function assertFlights(duck: Duck, fileOf: (sink: string) => string): Promise<void> {
  const airports = `read_csv('${join(VEGA_DATA, "airports.csv")}', header = true, types = {iata: 'VARCHAR'})`;
  await duck.run(`CREATE TABLE flights AS FROM '${join(VEGA_DATA, "flights-3m.parquet")}'`);
  await duck.run(
    `CREATE TABLE routes AS SELECT origin, destination, count(*) AS flights, sum(delay)::BIGINT AS delay_minutes, ` +
      `max(distance) AS distance, min(date) AS first_flight, max(date) AS last_flight FROM flights ` +
      `WHERE origin IN (SELECT iata FROM ${airports}) AND destination IN (SELECT iata FROM ${airports}) GROUP BY ALL`,
  );
  await duck.assertSame(
    "SELECT * FROM warehouse.routes",
    `SELECT origin, destination, count(*) AS flights, sum(delay)::BIGINT AS delay_minutes, ` +
      `max(distance) AS distance, min(date) AS first_flight, max(date) AS last_flight FROM flights GROUP BY ALL`,
  );
  const busier = `SELECT 1 + count(*) FROM routes AS other WHERE other.origin = route.origin AND ` +
    `(other.flights > route.flights OR other.flights = route.flights AND other.destination < route.destination)`;
  const city = (iata: string): string => `(SELECT city FROM ${airports} WHERE iata = route.${iata})`;
  await duck.assertSame(
    `SELECT * FROM '${fileOf("route_report")}'`,
    `SELECT origin, ${city("origin")} AS origin_city, destination, ${city("destination")} AS destination_city, ` +
      `flights, delay_minutes, distance, first_flight, last_flight, (${busier}) AS place ` +
      `FROM routes AS route WHERE place <= 3`,
  );
  const count = (side: string): string =>
    `(SELECT nullif(count(*), 0) FROM flights WHERE ${side} = airports.iata)::BIGINT`;
  await duck.assertSame(
    `SELECT * FROM read_csv('${fileOf("airport_traffic")}', header = true, types = {iata: 'VARCHAR', ` +
      `departures: 'BIGINT', arrivals: 'BIGINT'})`,
    `SELECT iata, name, state, latitude, longitude, ${count("origin")} AS departures, ` +
      `${count("destination")} AS arrivals FROM ${airports} AS airports`,
  );
}

/** The sinks whose columns are lists and structs. */
async function assertNested(duck: Duck, fileOf: (sink: string) => string): Promise<void> {
  type Range = { readonly high: number; readonly low: number };
  const week = json("weekly-weather.json") as readonly {
    readonly id: number;
    readonly day: string;
    readonly normal: Range;
    readonly actual?: Range;
    readonly forecast?: { readonly high: Range; readonly low: Range };
  }[];
  const forecasts = await duck.rows(`SELECT to_json(f) FROM '${fileOf("forecasts")}' AS f ORDER BY id`);
  assert.deepEqual(
    forecasts.map(([row]) => JSON.parse(row ?? "")),
    week.map(({ id, day, normal, actual, forecast }) => {
      const expected = actual ?? forecast?.high;
      return {
        id,
        day,
        expected,
        forecast: forecast ?? null,
        normal: [normal.low, normal.high],
        above_normal: (expected?.high ?? 0) - normal.high,
      };
    }),
  );

  const lines = (sink: string): unknown[] =>
    Deno.readTextFileSync(fileOf(sink)).trimEnd().split("\n").map((line) => JSON.parse(line));
  const london = json("londonBoroughs.json") as {
    readonly objects: { readonly boroughs: { readonly geometries: readonly { id: string; arcs: unknown[] }[] } };
  };
  assert.deepEqual(
    lines("boroughs"),
    london.objects.boroughs.geometries
      .toSorted((a, b) => a.id < b.id ? -1 : 1)
      .map(({ id, arcs }) => ({ name: id, rings: arcs.length, arcs })),
  );

  const months = json("unemployment-across-industries.json") as readonly {
    readonly series: string;
    readonly date: string;
    readonly count: number;
  }[];
  assert.deepEqual(
    lines("industry_peaks"),
    [...Map.groupBy(months, ({ series }) => series)].sort(([a], [b]) => a < b ? -1 : 1).map(([industry, group]) => ({
      industry,
      months: group.length,
      worst: group
        .toSorted((a, b) => b.count - a.count || (a.date < b.date ? -1 : 1))
        .slice(0, 3)
        .map(({ date, count }) => ({ at: date.slice(0, 19).replace("T", " "), people: count })),
    })),
  );
}

Deno.test("checks of all six kinds find as many rows of the real files as JavaScript does", async () => {
  await using folder = await TempDir.create();
  await copyFixture(folder);
  const checks: { readonly [pipeline: string]: string } = {
    films: "not_null: [rating]",
    stock_prices: "unique: [month]",
    penguins: "row_count: { max: 3 }",
    industries: "freshness: { column: observed_at, max_age: 1d }",
    weather_years: "accepted_values: { column: weather, values: [sun, rain] }",
    stock_changes: "custom_sql: { name: losses, sql: SELECT * FROM staging.stock_changes WHERE change < 0 }",
  };
  await Deno.remove(folder.join("pipelines", "configs"), { recursive: true });
  for (const [pipeline, check] of Object.entries(checks)) {
    await writeFiles(folder.path, {
      [`pipelines/configs/${pipeline}.yml`]: `pipeline: ${pipeline}\nchecks:\n  - ${check}\n`,
    });
  }

  const result = await runPz(["test", "--log-format", "json"], { cwd: folder.path, env: ENV });

  assert.equal(result.code, 1, result.toString());
  assert.deepEqual(problemsOfStream(result.events), []);
  const failed = [...completed(result)].filter(([, { status }]) => status !== "success");
  assert.deepEqual(
    failed.map(([name, { errorCode, rows }]) => [name, errorCode, rows]).sort(),
    Object.entries(VIOLATIONS).map(([name, count]) => [name, "PZ0510", count()]).sort(),
    result.toString(),
  );
  assert.deepEqual((await listFiles(folder.path)).filter((path) => path.startsWith("out/")), []);
});

Deno.test("a part of the project runs again: files are replaced by the same bytes, a merge adds no row twice", async () => {
  await using folder = await TempDir.create();
  await copyFixture(folder);
  const sinks = ["stock_changes", "weather_years", "boroughs", "forecasts"];
  const run = async (): Promise<(readonly [string, Uint8Array])[]> => {
    const result = await runPz(["run", ...sinks, "warehouse_prices"], { cwd: folder.path, env: ENV });
    assert.equal(result.code, 0, result.toString());
    const outputs = (await listFiles(folder.path)).filter((path) => path.startsWith("out/"));
    return outputs.map((path) => [path, Deno.readFileSync(folder.join(path))] as const);
  };

  const first = await run();

  assert.deepEqual(first.map(([path]) => path.split("/")[1]), sinks.toSorted());
  assert.deepEqual(await run(), first);
  using duck = await Duck.open();
  await duck.run(`ATTACH '${folder.join("warehouse.duckdb")}' AS warehouse (READ_ONLY)`);
  assert.deepEqual(await duck.rows(PRICES), stockPrices());
});
