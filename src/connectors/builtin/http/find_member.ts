import { rawText, stringOf } from "./json_text.ts";
import { JsonTokens, TOKEN, type Token } from "./json_tokens.ts";

/**
 * The text of the value that the steps lead to inside a complete JSON value: a string's meaning, anything else as it
 * stands; undefined where it is missing or null.
 */
export function findMember(json: Uint8Array, steps: readonly string[]): string | undefined {
  const tokens = new JsonTokens({ limit: json.length });
  tokens.push(json);
  tokens.finish();
  let token: Token | undefined = tokens.next();
  for (const step of steps) {
    token = enter(tokens, token, step);
    if (token === undefined) return undefined;
  }
  if (token === TOKEN.null) return undefined;
  const { start } = tokens;
  if (token === TOKEN.string) return stringOf(tokens.bytes, start, tokens.end, tokens.isEscaped);
  complete(tokens, token);
  return rawText(tokens.bytes, start, tokens.end);
}

/** The first token of the member of this name or number inside a value; undefined: there is none. */
function enter(tokens: JsonTokens, token: Token, step: string): Token | undefined {
  if (token === TOKEN.objectStart) {
    while (tokens.next() === TOKEN.key) {
      const isMeant = stringOf(tokens.bytes, tokens.start, tokens.end, tokens.isEscaped) === step;
      const value = tokens.next();
      if (isMeant) return value;
      complete(tokens, value);
    }
  } else if (token === TOKEN.arrayStart) {
    for (let index = 0;; index++) {
      const value = tokens.next();
      if (value === TOKEN.arrayEnd) return undefined;
      if (String(index) === step) return value;
      complete(tokens, value);
    }
  }
  return undefined;
}

/** Goes to the end of the value of which this is the first token. */
function complete(tokens: JsonTokens, token: Token): void {
  if (token !== TOKEN.objectStart && token !== TOKEN.arrayStart) return;
  const { depth } = tokens;
  while (tokens.depth >= depth) tokens.next();
}
