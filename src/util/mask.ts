/** Takes secrets out of a text. */
export type Mask = (text: string) => string;

const STARS = "***";

/**
 * Replaces every one of the given texts by `***`, longer ones first, so that one inside another leaves nothing behind.
 * A short text would turn up in ordinary words and positions: it is replaced only where it stands as a value, which is
 * in quotes, after `=`, or as the password of a URL.
 *
 * @param anywhereFrom from which length on a text is replaced wherever it stands
 */
export function maskOf(secrets: Iterable<string>, anywhereFrom = 4): Mask {
  const sorted = [...new Set(secrets)].filter((text) => text !== "").sort((a, b) => b.length - a.length);
  const steps = sorted.map((secret): Mask => {
    if (secret.length >= anywhereFrom) return (text) => text.replaceAll(secret, STARS);
    const value = asValue(secret);
    return (text) => text.replace(value, STARS);
  });
  return (text) => steps.reduce((masked, step) => step(masked), text);
}

function asValue(secret: string): RegExp {
  const exact = secret.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
  return new RegExp(`(?<=['"\`])${exact}(?=['"\`])|(?<==)${exact}(?![\\p{L}\\p{N}_])|(?<=:)${exact}(?=@)`, "gu");
}
