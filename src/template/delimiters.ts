/**
 * The offset behind the `}}` that closes the `{{` at `begin`; undefined if there is none. Quotes and maps are followed,
 * so that `'}}'` and `{a: {b: 1}}` stay whole; where they don't match, the first `}}` counts.
 */
export function outputEnd(text: string, begin: number): number | undefined {
  const balanced = balancedEnd(text, begin + 2);
  if (balanced !== undefined) return balanced;
  const plain = text.indexOf("}}", begin + 2);
  return plain === -1 ? undefined : plain + 2;
}

/** The offset of the quote that closes the one at `begin`; undefined if there is none before `end`. */
export function closingQuote(text: string, begin: number, end: number = text.length): number | undefined {
  const quote = text[begin];
  for (let index = begin + 1; index < end; index++) {
    const c = text[index];
    if (c === "\\") index++;
    else if (c === quote) return index;
  }
  return undefined;
}

function balancedEnd(text: string, from: number): number | undefined {
  let depth = 0;
  for (let index = from; index < text.length; index++) {
    const c = text[index];
    if (c === "'" || c === '"') {
      const close = closingQuote(text, index);
      if (close === undefined) return undefined;
      const quoted = text.slice(index, close);
      // A forgotten quote would otherwise run on into the SQL behind the call.
      if (quoted.includes("\n") && quoted.includes("}}")) return undefined;
      index = close;
    } else if (c === "{") {
      if (text[index + 1] === "{" || text[index + 1] === "%") return undefined;
      depth++;
    } else if (c === "}") {
      if (depth > 0) depth--;
      else return text[index + 1] === "}" ? index + 2 : undefined;
    }
  }
  return undefined;
}
