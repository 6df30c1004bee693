/** The longest duration that is accepted, in milliseconds (some 29,000 years). */
const MAX_DURATION_MS = 922_337_203_685_477n;
const UNIT_MS: { readonly [unit: string]: bigint } = { ms: 1n, s: 1_000n, m: 60_000n, h: 3_600_000n, d: 86_400_000n };

/** What a duration looks like, for messages. */
export const DURATION_TEXT = "a duration such as 500ms, 30s, 5m, 2h or 7d";

/** The pattern of a duration, for JSON Schemas. */
export const DURATION_PATTERN = "^[0-9]+(ms|s|m|h|d)$";

/** Milliseconds of a duration (`<whole number><ms|s|m|h|d>`), or undefined where the text is none or overflows. */
export function parseDuration(text: string): number | undefined {
  const match = /^([0-9]+)(ms|s|m|h|d)$/.exec(text);
  const unit = UNIT_MS[match?.[2] ?? ""];
  if (match === null || unit === undefined || match[1] === undefined || match[1].length > 18) return undefined;
  const milliseconds = BigInt(match[1]) * unit;
  return milliseconds > MAX_DURATION_MS ? undefined : Number(milliseconds);
}
