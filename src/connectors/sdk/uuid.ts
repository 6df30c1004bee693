/** The 16 bytes of a UUID's text, in any case, with or without dashes and braces; undefined for another text. */
export function uuidBytes(text: string): Uint8Array | undefined {
  const digits = text.replace(/^\{(.*)\}$/, "$1").replaceAll("-", "");
  if (!/^[0-9a-fA-F]{32}$/.test(digits)) return undefined;
  return Uint8Array.from({ length: 16 }, (_, index) => Number.parseInt(digits.slice(2 * index, 2 * index + 2), 16));
}

/** The text of 16 bytes that begin here, in the usual form. */
export function uuidText(bytes: Uint8Array, start = 0): string {
  let text = "";
  for (let index = 0; index < 16; index++) {
    if (index === 4 || index === 6 || index === 8 || index === 10) text += "-";
    text += (bytes[start + index] ?? 0).toString(16).padStart(2, "0");
  }
  return text;
}
