const TOKENS = ["yyyy", "yy", "MM", "dd", "HH", "mm"];

/** How fine each token is; neighbours in a path must differ by one. */
const RANKS: { readonly [token: string]: number } = { yyyy: 0, yy: 0, MM: 1, dd: 2, HH: 3, mm: 4 };

/** The date tokens of a path, in their order; also misspelt ones such as `{YYYY}`, but no globs such as `{a,b}`. */
export function dateTokens(path: string): readonly string[] {
  return [...path.matchAll(/\{([yYmMdDhHsS]{1,4})\}/g)].map((match) => match[1] ?? "");
}

/** What is wrong with a sequence of date tokens, or undefined: they go from the year down, without a gap. */
export function tokenProblem(tokens: readonly string[]): string | undefined {
  const unknown = tokens.find((token) => !TOKENS.includes(token));
  if (unknown !== undefined) {
    return `'{${unknown}}' is no date token; use ${TOKENS.map((token) => `{${token}}`).join(" ")}`;
  }
  for (const [index, token] of tokens.entries()) {
    if (RANKS[token] !== index) {
      return index === 0
        ? `date tokens start with {yyyy} or {yy}, not with '{${token}}'`
        : `'{${token}}' can't follow '{${tokens[index - 1]}}'; tokens go from coarse to fine without a gap`;
    }
  }
  return undefined;
}
