const POWERS: { readonly [letter: string]: number } = { "": 0, k: 1, m: 2, g: 3, t: 4 };

/**
 * The bytes that a size such as `1.5GiB`, `500 MB`, `512M` or `2 gigabytes` means, as DuckDB reads it: with a unit, in
 * any case; rounded half up. Undefined for anything else.
 */
export function parseByteSize(text: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?) ?(?:(kilo|mega|giga|tera)?bytes?|([kmgt])?(i)?b|([kmgt]))$/i.exec(text);
  if (match === null) return undefined;
  const [, amount, long, short, binary, bare] = match;
  if (binary !== undefined && short === undefined) return undefined;
  const letter = (long ?? short ?? bare ?? "").slice(0, 1).toLowerCase();
  return Math.round(Number(amount) * (binary === undefined ? 1000 : 1024) ** (POWERS[letter] ?? 0));
}
