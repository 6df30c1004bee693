import type { ConfigMap, ConfigValue } from "../contract/mod.ts";

/** A value as plain JSON that keeps 64-bit integers: those travel as `{"int": "…"}`, a map as `{"map": {…}}`. */
export type WireValue =
  | null
  | boolean
  | number
  | string
  | readonly WireValue[]
  | { readonly int: string }
  | { readonly map: { readonly [key: string]: WireValue } };

export function toWire(value: ConfigValue): WireValue {
  if (typeof value === "bigint") return { int: value.toString() };
  if (value === null || typeof value !== "object") return value;
  if (isList(value)) return value.map(toWire);
  return { map: Object.fromEntries(Object.entries(value).map(([key, member]) => [key, toWire(member)])) };
}

/**
 * The value that `toWire` wrote.
 *
 * @throws {TypeError} for anything else
 */
export function fromWire(wire: unknown): ConfigValue {
  if (wire === null || typeof wire === "boolean" || typeof wire === "number" || typeof wire === "string") return wire;
  if (Array.isArray(wire)) return wire.map(fromWire);
  if (typeof wire === "object") {
    if ("int" in wire && typeof wire.int === "string" && /^-?\d+$/.test(wire.int)) return BigInt(wire.int);
    if ("map" in wire && typeof wire.map === "object" && wire.map !== null) return mapFromWire(wire.map);
  }
  throw new TypeError("not a value of the protocol");
}

/** Like `fromWire`, for a map. */
export function configFromWire(wire: unknown): ConfigMap {
  const value = fromWire(wire);
  if (value === null || typeof value !== "object" || isList(value)) throw new TypeError("not a map of the protocol");
  return value;
}

function mapFromWire(map: object): ConfigMap {
  const result: { [key: string]: ConfigValue } = Object.create(null);
  for (const [key, member] of Object.entries(map)) result[key] = fromWire(member);
  return result;
}

function isList(value: object): value is readonly ConfigValue[] {
  return Array.isArray(value);
}
