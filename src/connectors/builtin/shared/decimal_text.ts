/** The whole number of units of the last decimal place that a text means; undefined: it is no decimal, or has more places or digits. */
export function parseDecimal(text: string, precision: number, scale: number): bigint | undefined {
  const parts = /^([+-]?)(\d*)(?:\.(\d*))?$/.exec(text);
  if (parts === null) return undefined;
  const [, sign, whole = "", fraction = ""] = parts;
  if (whole === "" && fraction === "") return undefined;
  const kept = fraction.replace(/0+$/, "");
  if (kept.length > scale) return undefined;
  const value = BigInt(`${whole}${kept.padEnd(scale, "0")}` || "0");
  if (value >= 10n ** BigInt(precision)) return undefined;
  return sign === "-" ? -value : value;
}

/** The shortest text of a finite number in floating point, without an exponent. */
export function plainNumber(value: number): string {
  const text = String(value);
  const parts = /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(text);
  if (parts === null) return text;
  const [, sign, first = "", more = "", exponent] = parts;
  const digits = first + more;
  const point = 1 + Number(exponent);
  if (point <= 0) return `${sign}0.${"0".repeat(-point)}${digits}`;
  return point >= digits.length
    ? `${sign}${digits.padEnd(point, "0")}`
    : `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}
