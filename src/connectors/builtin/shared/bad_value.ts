/** A value that can't go where it should; the message says why, in words that follow a column's name and a colon. */
export class BadValue extends Error {
  override readonly name = "BadValue";
}
