import { type ErrorCode, PzError } from "../../errors/mod.ts";
import { nearMiss } from "../../util/mod.ts";
import type { ConfigMap, ConfigValue } from "../contract/mod.ts";

/** Reads the members of a JSON object and collects what is wrong with them. */
export class ManifestReader {
  readonly #members: ConfigMap;
  readonly #file: string;
  readonly #prefix: string;
  readonly #problems: PzError[];

  private constructor(members: ConfigMap, file: string, prefix: string, problems: PzError[]) {
    this.#members = members;
    this.#file = file;
    this.#prefix = prefix;
    this.#problems = problems;
  }

  /** A reader of a text; undefined for one that is no object. @throws {SyntaxError} for a text that is no JSON */
  static parse(text: string, file: string): ManifestReader | undefined {
    const value: unknown = JSON.parse(text.startsWith("\ufeff") ? text.slice(1) : text);
    return isMap(value) ? new ManifestReader(value, file, "", []) : undefined;
  }

  get problems(): readonly PzError[] {
    return this.#problems;
  }

  /** A reader of an inner object, with the same list of problems. */
  within(key: string, members: ConfigMap): ManifestReader {
    return new ManifestReader(members, this.#file, `${this.#prefix}${key}.`, this.#problems);
  }

  has(key: string): boolean {
    return Object.hasOwn(this.#members, key);
  }

  value(key: string): ConfigValue | undefined {
    return this.has(key) ? this.#members[key] : undefined;
  }

  problem(code: ErrorCode, message: string, hint: string | undefined): void {
    this.#problems.push(new PzError(code, message, { file: this.#file, hint }));
  }

  /** Complains of every key that is none of these. */
  closed(keys: readonly string[]): void {
    for (const key of Object.keys(this.#members).filter((key) => !keys.includes(key))) {
      const meant = nearMiss(key, keys);
      const hint = meant === undefined
        ? `the keys are ${keys.filter((name) => name !== "$schema").join(", ")}`
        : `did you mean "${meant}"?`;
      this.problem("PZ0306", `unknown key "${this.#prefix}${key}"`, hint);
    }
  }

  /** A text that must be there; undefined, with a problem, where it is not. */
  text(key: string, code: ErrorCode, example: string): string | undefined {
    const value = this.value(key);
    if (typeof value === "string" && value !== "") return value;
    this.problem(code, `"${this.#prefix}${key}" is ${shown(value)}: expected a text`, `such as ${example}`);
    return undefined;
  }

  /** A text of a shape that must be there; empty, with a problem, where it is not. */
  matching(key: string, shape: RegExp, expected: string): string {
    const value = this.value(key);
    if (typeof value === "string" && shape.test(value)) return value;
    this.problem("PZ0306", `"${this.#prefix}${key}" is ${shown(value)}: expected ${expected}`, undefined);
    return "";
  }

  /** A list of texts, empty where there is none. */
  list(key: string): readonly string[] {
    const value = this.value(key);
    if (value === undefined) return [];
    if (Array.isArray(value) && value.every((item) => typeof item === "string")) return value;
    this.problem("PZ0306", `"${this.#prefix}${key}" is ${shown(value)}: expected a list of texts`, undefined);
    return [];
  }

  /** An object of texts, empty where there is none. */
  texts(key: string, code: ErrorCode): { readonly [name: string]: string } {
    const texts: { [name: string]: string } = {};
    for (const [name, value] of Object.entries(this.object(key) ?? {})) {
      if (typeof value === "string") texts[name] = value;
      else this.problem(code, `"${this.#prefix}${key}.${name}" is ${shown(value)}: expected a text`, undefined);
    }
    return texts;
  }

  /** An object; undefined where there is none. */
  object(key: string): ConfigMap | undefined {
    const value = this.value(key);
    if (value === undefined || isMap(value)) return value;
    this.problem("PZ0306", `"${this.#prefix}${key}" is ${shown(value)}: expected an object`, undefined);
    return undefined;
  }
}

function isMap(value: unknown): value is ConfigMap {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function shown(value: unknown): string {
  return value === undefined ? "missing" : JSON.stringify(value) ?? "missing";
}
