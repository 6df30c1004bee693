/** The UTF-16 offset in a text at which as many UTF-8 bytes lie before it as given; the text's end if there are fewer. */
export function offsetOfByte(text: string, bytes: number): number {
  let at = 0;
  for (let seen = 0; at < text.length && seen < bytes;) {
    const code = text.codePointAt(at) ?? 0;
    seen += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    at += code < 0x10000 ? 1 : 2;
  }
  return at;
}
