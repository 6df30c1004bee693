/** Orders texts by UTF-16 code unit, whatever the locale. */
export function ordinal(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
