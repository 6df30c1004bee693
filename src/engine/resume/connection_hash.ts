import type { Connection } from "../../project/mod.ts";
import { type Canonical, canonicalJson, isSecretKey, sha256Hex } from "../../util/mod.ts";

/**
 * A hash of where a connection leads: its connector and its settings without those that are secret, so that a new
 * password changes nothing and another host does.
 */
export function connectionHash({ connector, config }: Pick<Connection, "connector" | "config">): string {
  return sha256Hex(canonicalJson([connector, openPart(config)])).slice(0, 16);
}

/** The hashes of connections by their names. */
export function connectionHashes(connections: Iterable<Connection>): { readonly [name: string]: string } {
  return Object.fromEntries([...connections].map((connection) => [connection.name, connectionHash(connection)]));
}

function openPart(value: Canonical): Canonical {
  if (typeof value === "string") return withoutCredentials(value);
  if (typeof value !== "object" || value === null) return value;
  if (isList(value)) return value.map(openPart);
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, member]) =>
      member === undefined || isSecretKey(key) ? [] : [[key, openPart(member)]]
    ),
  );
}

/** A URL without its user and its parameters, where secrets may stand; any other text as it is. */
function withoutCredentials(text: string): string {
  return text.replace(/^([a-z][a-z0-9+.-]*:\/\/)(?:[^/?#]*@)?([^?#]*).*$/is, "$1$2");
}

function isList(value: object): value is readonly Canonical[] {
  return Array.isArray(value);
}
