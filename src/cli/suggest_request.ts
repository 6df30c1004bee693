const REQUEST = /^\[suggest:(\d+)\]$/;

/** The cursor's position when the arguments are a shell's question for suggestions, otherwise undefined. */
export function suggestPosition(args: readonly string[]): number | undefined {
  const position = REQUEST.exec(args[0] ?? "")?.[1];
  return position === undefined ? undefined : Number(position);
}
