import { createHash } from "node:crypto";

/** SHA-512 of bytes in the form that npm's registries and lock files have. */
export function integrityOf(bytes: Uint8Array): string {
  return `sha512-${createHash("sha512").update(bytes).digest("base64")}`;
}

/** Whether a text is such a hash. */
export function isIntegrity(text: unknown): text is string {
  return typeof text === "string" && /^sha512-[A-Za-z0-9+/]{86}==$/.test(text);
}
