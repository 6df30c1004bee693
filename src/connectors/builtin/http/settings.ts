import type { ConfigMap, ConfigProblem, ConfigValue } from "../../contract/mod.ts";

/** Reads the values of one map of settings, and keeps what is wrong with them; no message holds a value that may be secret. */
export class Settings {
  readonly problems: ConfigProblem[];
  readonly #map: ConfigMap;
  readonly #where: "setting" | "option";
  /** The setting or option that stands around these, if they stand inside another. */
  readonly #inside: string | undefined;

  constructor(map: ConfigMap, where: "setting" | "option", problems: ConfigProblem[] = [], inside?: string) {
    this.#map = map;
    this.#where = where;
    this.problems = problems;
    this.#inside = inside;
  }

  has(name: string): boolean {
    return this.get(name) !== undefined;
  }

  get(name: string): ConfigValue | undefined {
    return Object.hasOwn(this.#map, name) ? this.#map[name] ?? undefined : undefined;
  }

  /** A text that is not empty, or a number or truth value as its text, since interpolated values may look like one. */
  text(name: string): string | undefined {
    const value = this.get(name);
    if (value === undefined) return undefined;
    if (typeof value !== "object" && String(value) !== "" && !/[\0\r\n]/.test(String(value))) return String(value);
    this.refuse(name, value === "" ? "is empty" : "is no text of one line", `give ${name} a text`);
    return undefined;
  }

  /** A text that must be there. */
  needed(name: string, what: string): string | undefined {
    if (!this.has(name)) this.refuse(name, "is missing", `add ${name}: ${what}`);
    return this.text(name);
  }

  whole<T>(name: string, least: number, most: number, otherwise: T): number | T {
    const value = this.get(name);
    if (value === undefined) return otherwise;
    const number = typeof value === "string" ? (/^\d{1,9}$/.test(value) ? Number(value) : NaN) : Number(value);
    if (
      typeof value !== "object" && typeof value !== "boolean" && Number.isInteger(number) && number >= least &&
      number <= most
    ) {
      return number;
    }
    const shown = typeof value === "object" ? "no number" : `"${value}"`;
    this.refuse(name, `is ${shown}`, `expected a whole number from ${least} to ${most}`);
    return otherwise;
  }

  flag(name: string): boolean {
    const value = this.get(name);
    if (value === undefined || value === false || value === "false") return false;
    if (value !== true && value !== "true") {
      this.refuse(name, "is neither true nor false", `write ${name}: true or false`);
    }
    return value === true || value === "true";
  }

  oneOf<T extends string, O>(name: string, known: readonly T[], otherwise: O): T | O {
    const value = this.text(name);
    if (value === undefined) return otherwise;
    const found = known.find((one) => one === value.toLowerCase());
    if (found === undefined) this.refuse(name, `is "${value}"`, `expected one of ${known.join(", ")}`);
    return found ?? otherwise;
  }

  /** The settings inside of one; undefined where it is missing or no map. */
  inside(name: string): Settings | undefined {
    const value = this.get(name);
    if (value === undefined) return undefined;
    if (isMap(value)) return new Settings(value, this.#where, this.problems, this.#inside ?? name);
    this.refuse(name, "is no map", `write ${name} as a map of names and values`);
    return undefined;
  }

  /** Texts by their names. */
  texts(name: string): readonly (readonly [string, string])[] {
    const inner = this.inside(name);
    if (inner === undefined) return [];
    return Object.keys(inner.#map).flatMap((key) => {
      const text = inner.text(key);
      return text === undefined ? [] : [[key, text] as const];
    });
  }

  /** A list of texts, or one alone. */
  list(name: string): readonly string[] {
    const value = this.get(name);
    if (value === undefined) return [];
    const values: readonly ConfigValue[] = isList(value) ? value : [value];
    const texts = values.flatMap((one) => typeof one === "object" || one === "" ? [] : [String(one)]);
    if (texts.length < values.length) this.refuse(name, "is no list of texts", `write ${name} as a list`);
    return texts;
  }

  names(): readonly string[] {
    return Object.keys(this.#map);
  }

  /** Refuses names other than these. */
  only(known: readonly string[]): void {
    for (const name of Object.keys(this.#map)) {
      if (!known.includes(name)) this.refuse(name, "is unknown here", `the names are ${known.join(", ")}`);
    }
  }

  refuse(name: string, what: string, hint: string): void {
    const full = this.#inside === undefined ? name : `${this.#inside}.${name}`;
    const place = this.#inside ?? name;
    this.problems.push({
      code: "PZ0301",
      message: `Option "${full}" ${what}`,
      hint,
      ...(this.#where === "setting" ? { setting: place } : { option: place }),
    });
  }
}

function isList(value: ConfigValue): value is readonly ConfigValue[] {
  return Array.isArray(value);
}

function isMap(value: ConfigValue): value is ConfigMap {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
