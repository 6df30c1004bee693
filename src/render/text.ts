const UNITS = ["KB", "MB", "GB", "TB"] as const;

/** A size for a person: bytes as they are, else one decimal with KB, MB, GB or TB of 1024 each. */
export function formatSize(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  let value = bytes / 1024;
  let unit = 0;
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${value.toFixed(1)} ${UNITS[unit] ?? ""}`;
}

/** Bytes as GB of 1024³ with two decimals. */
export function formatGigabytes(bytes: number): string {
  return `${(bytes / 1024 ** 3).toFixed(2)} GB`;
}

/** Milliseconds as seconds with up to three decimals and no trailing zeros. */
export function formatSeconds(ms: number): string {
  return `${Number((ms / 1000).toFixed(3))}s`;
}

/** Rows a second to three digits: `950/s`, `78.1k/s`, `1.23M/s`. */
export function formatRate(rows: number, ms: number): string {
  const rate = (rows * 1000) / ms;
  if (rate < 999.5) return `${Math.round(rate)}/s`;
  const [scaled, unit] = rate < 999_500 ? [rate / 1e3, "k"] : [rate / 1e6, "M"];
  return `${Number(scaled.toPrecision(3))}${unit}/s`;
}

const DURATION_UNITS = [["d", 86_400_000], ["h", 3_600_000], ["m", 60_000], ["s", 1000]] as const;

/** Milliseconds in the largest unit that divides them exactly: `90s`, `2m`, `1500ms`. */
export function formatDuration(ms: number): string {
  for (const [unit, size] of DURATION_UNITS) {
    if (ms >= size && ms % size === 0) return `${ms / size}${unit}`;
  }
  return `${ms}ms`;
}

/** A row of columns, each padded with blanks to its width (negative: to the right) and never cut; no blanks at the end. */
export function tableRow(widths: readonly number[], cells: readonly string[]): string {
  return cells
    .map((cell, index) => {
      const width = widths[index] ?? 0;
      return width < 0 ? cell.padStart(-width) : cell.padEnd(width);
    })
    .join(" ")
    .trimEnd();
}

/**
 * Text from data or a foreign system, safe to put on a terminal: control characters other than line ends and tabs
 * become `\xNN`, so that no value can move the cursor or change colours. Carriage returns are dropped.
 */
export function printable(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, (char) => {
    if (char === "\n" || char === "\t") return char;
    if (char === "\r") return "";
    return `\\x${char.charCodeAt(0).toString(16).padStart(2, "0")}`;
  });
}
