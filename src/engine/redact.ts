import type { ValueMap } from "../project/mod.ts";

const SECRET_KEY_REGEXP =
  /pass|pwd|secret|token|api_?key|access_?key|private|credential|authorization|connection_?string|dsn|sas|signature/i;

/** The values of a connection's settings whose keys say that they are secret, however deep they stand. */
export function secretValues(config: ValueMap): readonly string[] {
  const secrets: string[] = [];
  const visit = (value: ValueMap[string], secret: boolean) => {
    if (typeof value === "string") {
      if (secret) secrets.push(value);
    } else if (typeof value === "number" || typeof value === "bigint") {
      if (secret) secrets.push(String(value));
    } else if (typeof value === "object" && value !== null) {
      for (const [key, member] of Object.entries(value)) visit(member, secret || SECRET_KEY_REGEXP.test(key));
    }
  };
  visit(config, false);
  return secrets;
}
