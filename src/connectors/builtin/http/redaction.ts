import { secretForms } from "../../../util/mod.ts";
import type { HttpConfig } from "./config.ts";

const SHOWN_BYTES = 4096;
const SHOWN = 200;
const MASK = "***";

/** The texts of a connection that no message may hold. */
export function secretsOf({ auth, headers }: HttpConfig): readonly string[] {
  const texts = [...headers.map(([, value]) => value), ...(auth === undefined ? [] : [auth.value])];
  const words = texts.flatMap((text) => [text, ...text.split(" ").slice(1)]);
  const basic = /^Basic (.+)$/.exec(auth?.value ?? "")?.[1];
  if (basic !== undefined) words.push(atob(basic).split(":").slice(1).join(":"));
  return [...new Set(words.flatMap(secretForms))].filter((word) => word.length > 3).sort((a, b) => b.length - a.length);
}

/** The beginning of an answer as one line for a message, without secrets; undefined where there is nothing to show. */
export function excerpt(bytes: Uint8Array, secrets: readonly string[]): string | undefined {
  let text = new TextDecoder().decode(bytes.subarray(0, SHOWN_BYTES));
  for (const secret of secrets) text = text.replaceAll(secret, MASK);
  const line = text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\ufffd\s]+/gu, " ").trim();
  if (line === "") return undefined;
  return line.length > SHOWN ? `${line.slice(0, SHOWN)}…` : line;
}
