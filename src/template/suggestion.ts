import { nearMiss } from "../util/mod.ts";

/** The known name that a misspelt one most likely meant; none for names too short to tell. */
export function suggestion(name: string, known: Iterable<string>): string | undefined {
  return name.length < 3 ? undefined : nearMiss(name, known);
}
