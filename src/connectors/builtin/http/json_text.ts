import { JsonError } from "./json_tokens.ts";

const DECODER = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * The text that a JSON string means; `start` and `end` are the places of its quotes and what is behind.
 *
 * @throws {JsonError} for half of a surrogate pair, which no text in UTF-8 can hold
 */
export function stringOf(bytes: Uint8Array, start: number, end: number, isEscaped: boolean): string {
  if (!isEscaped) return DECODER.decode(bytes.subarray(start + 1, end - 1));
  const text: unknown = JSON.parse(DECODER.decode(bytes.subarray(start, end)));
  if (typeof text !== "string" || !text.isWellFormed()) throw new JsonError("a text holds half of a surrogate pair");
  return text;
}

/** Bytes as they stand, as a text. */
export function rawText(bytes: Uint8Array, start: number, end: number): string {
  return DECODER.decode(bytes.subarray(start, end));
}
