/** A value that has exactly one canonical JSON text. Integers beyond 2^53 are `bigint`. */
export type Canonical =
  | null
  | boolean
  | number
  | bigint
  | string
  | readonly Canonical[]
  | { readonly [key: string]: Canonical | undefined };

/**
 * The one JSON writer for everything that is hashed: keys sorted by code unit, no white space, integers of any size in
 * plain digits, members that are `undefined` left out. A whole `number` and the equal `bigint` give the same text.
 *
 * @throws {TypeError} for NaN and infinities, which JSON has no text for
 */
export function canonicalJson(value: Canonical): string {
  switch (typeof value) {
    case "bigint":
      return value.toString();
    case "number":
      if (!Number.isFinite(value)) throw new TypeError(`Cannot write ${value} as JSON`);
      return Number.isInteger(value) ? BigInt(value).toString() : JSON.stringify(value);
    case "string":
    case "boolean":
      return JSON.stringify(value);
    case "object": {
      if (value === null) return "null";
      if (isList(value)) return `[${value.map(canonicalJson).join(",")}]`;
      const members: string[] = [];
      for (const key of Object.keys(value).sort()) {
        const member = value[key];
        if (member !== undefined) members.push(`${JSON.stringify(key)}:${canonicalJson(member)}`);
      }
      return `{${members.join(",")}}`;
    }
  }
}

function isList(value: object): value is readonly Canonical[] {
  return Array.isArray(value);
}
