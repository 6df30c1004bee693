const UNITS: { readonly [unit: string]: number } = {
  "": 1,
  b: 1,
  kb: 1000,
  mb: 1000 ** 2,
  gb: 1000 ** 3,
  tb: 1000 ** 4,
  kib: 1024,
  mib: 1024 ** 2,
  gib: 1024 ** 3,
  tib: 1024 ** 4,
};

/** The bytes that a size such as `1.5GiB`, `500 MB` or `1024` means, rounded half away from zero, or undefined. */
export function parseByteSize(text: string): number | undefined {
  const match = /^\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*$/.exec(text);
  const unit = (match?.[2] ?? "?").toLowerCase();
  if (match === null || !Object.hasOwn(UNITS, unit)) return undefined;
  return Math.round(Number(match[1]) * (UNITS[unit] ?? 1));
}

/** The share of a total that a percentage such as `50%` means, or undefined. */
export function parsePercentage(text: string, total: number): number | undefined {
  const match = /^\s*(\d+(?:\.\d+)?)\s*%\s*$/.exec(text);
  return match === null ? undefined : Math.floor((Number(match[1]) / 100) * total);
}
