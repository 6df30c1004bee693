/** Takes secrets out of a text. */
export type Mask = (text: string) => string;

const STARS = "***";

/** Texts that everybody may see, which a secret may happen to equal. */
export type Shown = {
  /** Names of the project's own things: connections, nodes, files. */
  readonly names?: readonly string[];
  /** Values of settings that are never secret. */
  readonly plain?: readonly string[];
};

/**
 * Replaces every one of the given texts by `***`, longer ones first, so that one inside another leaves nothing behind.
 * A short text would turn up in ordinary words and positions: it is replaced only where it stands as a value, which is
 * in quotes, after `=`, or as the password of a URL.
 *
 * So is one that a name holds or a plain value equals, and one that equals a name is left alone in single quotes, in
 * which names stand.
 *
 * @param anywhereFrom from which length on a text is replaced wherever it stands
 */
export function maskOf(
  secrets: Iterable<string>,
  anywhereFrom = 4,
  { names = [], plain = [] }: Shown = {},
): Mask {
  const sorted = [...new Set(secrets)].filter((text) => text !== "").sort((a, b) => b.length - a.length);
  const steps = sorted.map((secret): Mask => {
    const ordinary = plain.includes(secret) || names.some((name) => name.includes(secret));
    if (secret.length >= anywhereFrom && !ordinary) return (text) => text.replaceAll(secret, STARS);
    const value = asValue(secret, names.includes(secret) ? '"`' : `'"\``);
    return (text) => text.replace(value, STARS);
  });
  return (text) => steps.reduce((masked, step) => step(masked), text);
}

function asValue(secret: string, quotes: string): RegExp {
  const exact = secret.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
  return new RegExp(
    `(?<=[${quotes}])${exact}(?=[${quotes}])|(?<==)${exact}(?![\\p{L}\\p{N}_])|(?<=:)${exact}(?=@)`,
    "gu",
  );
}
