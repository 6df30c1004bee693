/** How the values of a JSON file are laid out, in the words of DuckDB's reader. */
export type JsonLayout = "newline_delimited" | "array" | "unstructured" | "auto";

const FIRST_BYTES = 65_536;

/**
 * The layout of files that do not say it: one array, an object a line, or objects over several lines, by the start of
 * each file. `auto`, the slowest, where the files differ. What can't be told, as in a compressed file, counts as an
 * object a line.
 */
export function detectLayout(files: readonly string[]): JsonLayout {
  const layouts = new Set(files.map(layoutOfStart));
  const [layout = "newline_delimited"] = layouts;
  return layouts.size > 1 ? "auto" : layout;
}

function layoutOfStart(path: string): JsonLayout {
  const start = readStart(path).trimStart();
  if (start.startsWith("[")) return "array";
  const end = start.search(/[\r\n]/);
  if (!start.startsWith("{") || end < 0) return "newline_delimited";
  return isJson(start.slice(0, end)) ? "newline_delimited" : "unstructured";
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    // DuckDB also knows numbers such as NaN; a line that ends like an object is one.
    return text.trimEnd().endsWith("}");
  }
}

function readStart(path: string): string {
  try {
    using file = Deno.openSync(path);
    const bytes = new Uint8Array(FIRST_BYTES);
    return new TextDecoder().decode(bytes.subarray(0, file.readSync(bytes) ?? 0));
  } catch {
    return ""; // the read itself will say why
  }
}
