import { join } from "node:path";

/** The data folder of the npm package vega-datasets. */
export const VEGA_DATA = join(import.meta.dirname ?? ".", "..", "..", "node_modules", "vega-datasets", "data");

/** A value as DuckDB's text, NULL as null: what `Duck.rows` gives. */
type Row = readonly (string | null)[];

/** What the fixture project should make of the small files, in plain JavaScript: rows in their order, by sink. */
export const EXPECTED: { readonly [sink: string]: () => Row[] } = {
  index_months: indexMonths,
  stock_changes: stockChanges,
  weather_years: weatherYears,
  unemployment_states: unemploymentStates,
  penguins,
  films,
  acquaintances,
};

/** How many rows each failing check of the test should find. */
export const VIOLATIONS: { readonly [check: string]: () => number } = {
  check_films_not_null_rating: () => films().filter(([, , , , rating]) => rating === null).length,
  check_stock_prices_unique_month: () => {
    const months = Map.groupBy(stocks(), ({ month }) => month);
    return [...months.values()].filter(({ length }) => length > 1).length;
  },
  check_penguins_row_count: () => 1,
  check_industries_freshness_observed_at: () => 1,
  check_weather_years_accepted_values_weather: () =>
    weatherYears().filter(([, weather]) => weather !== "sun" && weather !== "rain").length,
  check_stock_changes_losses: () => stockChanges().filter(([, , , change]) => change?.startsWith("-")).length,
};

function indexMonths(): Row[] {
  const days = table("sp500-2000.csv", ",").map(([date = "", open, high, low, close, , volume]) => ({
    month: `${date.slice(0, 7)}-01`,
    open: scaled(open, 6),
    high: scaled(high, 6),
    low: scaled(low, 6),
    close: scaled(close, 6),
    volume: BigInt(volume ?? ""),
  }));
  return grouped(days, ({ month }) => month).map(([month, group]) => [
    month,
    String(group.length),
    fixed(group[0]?.open, 6),
    fixed(largest(group.map(({ high }) => high)), 6),
    fixed(smallest(group.map(({ low }) => low)), 6),
    fixed(group.at(-1)?.close, 6),
    String(group.reduce((sum, { volume }) => sum + volume, 0n)),
  ]);
}

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** `Jan 1 2000` as `2000-01-01`; undefined for another text. */
function isoDate(text: string): string | undefined {
  const [, month = "", day = "", year = ""] = /^([A-Z][a-z]{2}) (\d{1,2}) (\d{4})$/.exec(text) ?? [];
  const number = MONTHS.indexOf(month) + 1;
  return number === 0 ? undefined : `${year}-${String(number).padStart(2, "0")}-${day.padStart(2, "0")}`;
}

function stocks(): { readonly symbol: string; readonly month: string; readonly cents: bigint }[] {
  return table("stocks.csv", ",").map(([symbol = "", date = "", price]) => ({
    symbol,
    month: isoDate(date) ?? "",
    cents: scaled(price, 2),
  }));
}

/** What the warehouse's table of prices should hold, however often the project runs. */
export function stockPrices(): Row[] {
  return stocks()
    .map(({ symbol, month, cents }) => [symbol, month, fixed(cents, 2)])
    .sort((a, b) => ordinal(a.join(), b.join()));
}

function stockChanges(): Row[] {
  return grouped(stocks(), ({ symbol }) => symbol).flatMap(([symbol, prices]) => {
    let previous: bigint | undefined;
    let high = 0n;
    return prices.toSorted((a, b) => ordinal(a.month, b.month)).map(({ month, cents }): Row => {
      const change = previous === undefined ? null : fixed(cents - previous, 2);
      previous = cents;
      if (cents > high) high = cents;
      return [symbol, month, fixed(cents, 2), change, fixed(high, 2)];
    });
  });
}

function weatherYears(): Row[] {
  const days = table("seattle-weather.csv", ",").map(([date = "", , warmest = "", coldest = "", , weather = ""]) => ({
    key: `${date.slice(0, 4)} ${weather}`,
    warmest: Number(warmest),
    coldest: Number(coldest),
  }));
  return grouped(days, ({ key }) => key).map(([key, group]) => [
    ...key.split(" "),
    String(group.length),
    decimalText(Math.min(...group.map(({ coldest }) => coldest))),
    decimalText(Math.max(...group.map(({ warmest }) => warmest))),
  ]);
}

function unemploymentStates(): Row[] {
  const counties = table("unemployment.tsv", "\t").map(([id = "", rate]) => ({ id, rate: scaled(rate, 3) }));
  return grouped(counties, ({ id }) => id.padStart(5, "0").slice(0, 2)).map(([state, group]) => [
    state,
    String(group.length),
    fixed(largest(group.map(({ rate }) => rate)), 3),
    fixed(group.reduce((sum, { rate }) => sum + rate, 0n), 3),
  ]);
}

function penguins(): Row[] {
  const birds = records("penguins.json").filter(({ Species }) => Species === "Adelie" || Species === "Gentoo");
  return grouped(birds, ({ Species, Island }) => `${Species},${Island}`).map(([key, group]) => {
    const masses = group.map((bird) => bird["Body Mass (g)"]).filter((mass) => typeof mass === "number");
    return [...key.split(","), String(group.length), String(masses.length), String(Math.max(...masses))];
  });
}

function films(): Row[] {
  const text = (value: unknown): string | null => value === null ? null : String(value);
  return records("movies.json").filter(({ Director }) => Director !== null).map((film): Row => {
    const { Title, Director } = film;
    const rating = film["IMDB Rating"];
    return [
      text(Title),
      text(Director),
      text(film["Worldwide Gross"]),
      isoDate(String(film["Release Date"])) ?? null,
      typeof rating === "number" ? decimalText(rating) : null,
    ];
  }).sort((a, b) => ordinal(a.join("\n"), b.join("\n")));
}

function acquaintances(): Row[] {
  const { nodes, links }: {
    nodes: { readonly name: string; readonly index: number }[];
    links: { readonly source: number; readonly target: number }[];
  } = JSON.parse(text("miserables.json"));
  const start = nodes.find(({ name }) => name === "Valjean")?.index ?? -1;
  const steps = new Map([[start, 0]]);
  for (const [id, step] of steps) {
    for (const { source, target } of links) {
      const other = source === id ? target : target === id ? source : undefined;
      if (other !== undefined && !steps.has(other)) steps.set(other, step + 1);
    }
  }
  return nodes
    .map(({ name, index }): [string, number] => [name, steps.get(index) ?? -1])
    .sort(([a, x], [b, y]) => x - y || ordinal(a, b))
    .map(([name, step]) => [name, String(step)]);
}

/** A file as JSON, unchecked. */
export function json(file: string): unknown {
  return JSON.parse(text(file));
}

function records(file: string): { readonly [field: string]: unknown }[] {
  return JSON.parse(text(file));
}

function text(file: string): string {
  return Deno.readTextFileSync(join(VEGA_DATA, file));
}

/** The fields of a file without quotes, without its header. */
function table(file: string, delimiter: string): string[][] {
  return text(file).trimEnd().split(/\r?\n/).slice(1).map((line) => line.split(delimiter));
}

/** The groups of items, ordered by their keys; items keep their order. */
function grouped<T>(items: readonly T[], key: (item: T) => string): [string, T[]][] {
  return [...Map.groupBy(items, key)].sort(([a], [b]) => ordinal(a, b));
}

function ordinal(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** A decimal text as a whole number of its last digits. */
function scaled(text = "", digits: number): bigint {
  const [, sign = "", whole = "", rest = ""] = /^(-?)(\d*)(?:\.(\d+))?$/.exec(text) ?? [];
  if (whole + rest === "" || rest.length > digits) throw new Error(`'${text}' is no number with ${digits} digits`);
  return BigInt(`${sign}${whole}${rest.padEnd(digits, "0")}`);
}

function fixed(value = 0n, digits: number): string {
  const [sign, size] = value < 0n ? ["-", -value] : ["", value];
  const all = size.toString().padStart(digits + 1, "0");
  return `${sign}${all.slice(0, -digits)}.${all.slice(-digits)}`;
}

/** A number with at least one digit behind the point, as DuckDB writes a DOUBLE. */
function decimalText(value: number): string {
  return Number.isInteger(value) ? value.toFixed(1) : String(value);
}

function largest(values: readonly bigint[]): bigint | undefined {
  return values.reduce<bigint | undefined>(
    (best, value) => best === undefined || value > best ? value : best,
    undefined,
  );
}

function smallest(values: readonly bigint[]): bigint | undefined {
  return values.reduce<bigint | undefined>(
    (best, value) => best === undefined || value < best ? value : best,
    undefined,
  );
}
