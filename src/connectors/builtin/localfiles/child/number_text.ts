/** A whole number in DuckDB's text goes without an exponent below this power of ten. */
const FIRST_POWER_WITH_EXPONENT = 16;
const LAST_POWER_WITHOUT_EXPONENT = -4;
const MAX_FLOAT_DIGITS = 9;

/** The shortest text that gives the same DOUBLE, in DuckDB's form: 1.0, 1e+16, 1e-05, nan, -inf. */
export function doubleText(value: number): string {
  return Number.isFinite(value) ? laidOut(value.toExponential(), value) : specialText(value);
}

/** The shortest text that gives the same FLOAT, in the same form; DuckDB gives a few of them more digits. */
export function floatText(value: number): string {
  if (!Number.isFinite(value)) return specialText(value);
  for (let digits = 0; digits < MAX_FLOAT_DIGITS; digits++) {
    const text = value.toExponential(digits);
    if (Math.fround(Number(text)) === value) return laidOut(text, value);
  }
  return laidOut(value.toExponential(), value);
}

function specialText(value: number): string {
  return Number.isNaN(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

/** The text of a number as `toExponential` gives it, which leaves out the sign of a zero. */
function laidOut(exponential: string, value: number): string {
  const sign = value < 0 || Object.is(value, -0) ? "-" : "";
  const [mantissa = "", exponent = ""] = exponential.replace(/^-/, "").split("e");
  const digits = mantissa.replace(".", "");
  const power = Number(exponent);
  if (power >= FIRST_POWER_WITH_EXPONENT || power < LAST_POWER_WITHOUT_EXPONENT) {
    const rest = digits.length > 1 ? `.${digits.slice(1)}` : "";
    const size = String(Math.abs(power)).padStart(2, "0");
    return `${sign}${digits.slice(0, 1)}${rest}e${power < 0 ? "-" : "+"}${size}`;
  }
  if (power < 0) return `${sign}0.${"0".repeat(-power - 1)}${digits}`;
  const whole = digits.slice(0, power + 1).padEnd(power + 1, "0");
  return `${sign}${whole}.${digits.slice(power + 1) || "0"}`;
}
