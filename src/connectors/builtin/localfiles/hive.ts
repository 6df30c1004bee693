import { dirname, relative } from "node:path";

/** Stands for NULL in the name of a partition's folder. */
export const NULL_VALUE = "__HIVE_DEFAULT_PARTITION__";

/** The names in the `name=value` folders between the base and a file. */
export function hiveKeys(base: string, file: string): readonly string[] {
  return hiveParts(base, file).map(({ key }) => key);
}

/** The values in those folders by their names. */
export function hiveValues(base: string, file: string): ReadonlyMap<string, string | null> {
  return new Map(hiveParts(base, file).map(({ key, value }) => [key, value === NULL_VALUE ? null : decoded(value)]));
}

/** The name of the folder that holds the rows of a value. */
export function hiveFolder(column: string, value: string | null): string {
  return `${encoded(column)}=${value === null ? NULL_VALUE : encoded(value)}`;
}

/** The name of a list that a column is bound to: the same, or the same but for the case of its letters. */
export function boundName(names: readonly string[], column: string): string | undefined {
  if (names.includes(column)) return column;
  const lower = column.toLowerCase();
  return names.find((name) => name.toLowerCase() === lower);
}

function hiveParts(base: string, file: string): readonly { readonly key: string; readonly value: string }[] {
  return relative(base, dirname(file)).split(/[\\/]/).flatMap((part) => {
    const at = part.indexOf("=");
    return at > 0 ? [{ key: part.slice(0, at), value: part.slice(at + 1) }] : [];
  });
}

function encoded(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** Bytes of what `%` stands for, as DuckDB reads it: a `%` without two hexadecimal digits is one. */
function decoded(text: string): string {
  if (!text.includes("%")) return text;
  const bytes: number[] = [];
  const source = new TextEncoder().encode(text);
  for (let at = 0; at < source.length; at++) {
    const digits = source[at] === 0x25 ? String.fromCharCode(source[at + 1] ?? 0, source[at + 2] ?? 0) : "";
    if (/^[0-9a-f]{2}$/i.test(digits)) {
      bytes.push(Number.parseInt(digits, 16));
      at += 2;
    } else bytes.push(source[at] ?? 0);
  }
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(new Uint8Array(bytes));
}
