/** Takes secrets out of a text. */
export type Mask = (text: string) => string;

/**
 * Replaces every one of the given texts by `***`, longer ones first, so that one inside another leaves nothing behind.
 *
 * @param minLength shorter texts are left alone, since they would mask ordinary words
 */
export function maskOf(secrets: Iterable<string>, minLength = 4): Mask {
  const sorted = [...new Set(secrets)]
    .filter((text) => text !== "" && text.length >= minLength)
    .sort((a, b) => b.length - a.length);
  return (text) => sorted.reduce((masked, secret) => masked.replaceAll(secret, "***"), text);
}
