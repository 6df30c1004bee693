const MAX_WAIT_MS = 24 * 3600 * 1000;
/** A number of seconds beyond this is a point in time, not a span. */
const SPAN_SECONDS = 366 * 86_400;
const MILLISECONDS_FROM = 100_000_000_000;

/** What a server says is left of its own limit, and when that is renewed, in ms since 1970. */
export type Budget = { readonly remaining: number; readonly resetAtMs: number };

/** How long a `Retry-After` asks to wait, in ms: seconds, or a date. Undefined where there is none that can be read. */
export function retryAfterMs(headers: Headers, now: number): number | undefined {
  const text = headers.get("retry-after")?.trim();
  if (text === undefined || text === "") return undefined;
  if (/^\d{1,9}(?:\.\d+)?$/.test(text)) return bounded(Math.ceil(Number(text) * 1000));
  // A date of HTTP always names its day and is in GMT.
  const at = /^[A-Z][a-z]+, .* GMT$/.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(at) ? undefined : bounded(at - now);
}

/** The budget that an answer's headers tell, in any of their usual forms; undefined where they tell none. */
export function budgetOf(headers: Headers, now: number): Budget | undefined {
  const combined = headers.get("ratelimit") ?? "";
  const remaining = count(headers.get("ratelimit-remaining")) ?? count(headers.get("x-ratelimit-remaining")) ??
    count(headers.get("x-rate-limit-remaining")) ?? count(/(?:^|[;,\s])(?:r|remaining)=(\d+)/.exec(combined)?.[1]);
  const reset = count(headers.get("ratelimit-reset")) ?? count(headers.get("x-ratelimit-reset")) ??
    count(headers.get("x-rate-limit-reset")) ?? count(/(?:^|[;,\s])(?:t|reset)=(\d+)/.exec(combined)?.[1]);
  if (remaining === undefined || reset === undefined) return undefined;
  const resetAtMs = reset >= MILLISECONDS_FROM ? reset : reset > SPAN_SECONDS ? reset * 1000 : now + reset * 1000;
  return { remaining, resetAtMs: Math.min(resetAtMs, now + MAX_WAIT_MS) };
}

function count(text: string | null | undefined): number | undefined {
  const digits = /^\s*(\d{1,15})(?:\.\d+)?\s*(?:[,;]|$)/.exec(text ?? "")?.[1];
  return digits === undefined ? undefined : Number(digits);
}

function bounded(ms: number): number {
  return Math.min(Math.max(0, ms), MAX_WAIT_MS);
}
