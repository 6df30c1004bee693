/** How many columns of a terminal a text takes; an estimate that never counts too few for common scripts and emoji. */
export function textWidth(text: string): number {
  let width = 0;
  for (const char of text) width += charWidth(char);
  return width;
}

/** The text cut so that it fits into `columns`, with `…` for what is missing. */
export function cutToWidth(text: string, columns: number): string {
  if (textWidth(text) <= columns) return text;
  let kept = "";
  let width = 0;
  for (const char of text) {
    width += charWidth(char);
    if (width > columns - 1) break;
    kept += char;
  }
  return columns < 1 ? "" : `${kept}…`;
}

function charWidth(char: string): number {
  if (/^[\p{Mn}\p{Me}\p{Cf}]$/u.test(char)) return 0;
  if (/^[\p{Emoji_Presentation}\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}]$/u.test(char)) {
    return 2;
  }
  const code = char.codePointAt(0) ?? 0;
  // CJK punctuation and full-width forms.
  return (code >= 0x3000 && code <= 0x303f) || (code >= 0xff01 && code <= 0xff60) ? 2 : 1;
}
