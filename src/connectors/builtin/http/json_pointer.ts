/** The steps of a JSON pointer (RFC 6901), such as `/data/0/id`; undefined for a text that is none. `""` is the whole. */
export function pointerOf(text: string): readonly string[] | undefined {
  if (text === "") return [];
  if (!text.startsWith("/") || /~(?![01])/.test(text)) return undefined;
  return text.slice(1).split("/").map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
}
