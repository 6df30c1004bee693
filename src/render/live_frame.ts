import type { Importance, Tone, TreeLine } from "./live_tree.ts";
import { cutToWidth, textWidth } from "./text_width.ts";

const COLOURS: { readonly [T in Tone]: string } = { plain: "", good: "32", bad: "31", caution: "33", faint: "90" };
const IMPORTANCES: readonly Importance[] = [0, 1, 2];
const INDENT = "  ";
/** Columns of a name below which it says nothing any more. */
const MIN_NAME_WIDTH = 6;

export type FrameSize = { readonly columns: number; readonly rows: number };

/** A line as a terminal gets it, and the columns that it takes. */
export type PaintedLine = { readonly text: string; readonly width: number };

/** The lines as a terminal gets them, without any cut. */
export function paint(lines: readonly TreeLine[], colour: boolean): readonly PaintedLine[] {
  return lines.map((line) => ({
    text: paintLine(line, colour),
    width: INDENT.length * line.indent + textWidth(line.text),
  }));
}

/**
 * The lines cut to a terminal: each leaves its last column free, where a character would leave the cursor between two
 * lines, and there are no more than fit above the cursor's line. Finished nodes give way first, then those that run; the
 * last line says how many are hidden.
 */
export function fitFrame(lines: readonly TreeLine[], size: FrameSize): readonly TreeLine[] {
  const room = Math.max(1, size.rows - 1);
  const kept = lines.length <= room ? lines : mostImportant(lines, room - 1);
  return kept.map((line) => {
    const columns = size.columns - 1 - INDENT.length * line.indent;
    return { ...line, text: cutLine(withExtras(line, columns), columns) };
  });
}

/** The lines for good: whole, with as many of their extras as fit beside them. */
export function lastFrame(lines: readonly TreeLine[], size: FrameSize): readonly TreeLine[] {
  return lines.map((line) => withExtras(line, size.columns - INDENT.length * line.indent));
}

function withExtras(line: TreeLine, columns: number): TreeLine {
  let { text } = line;
  for (const extra of line.extras ?? []) {
    const longer = `${text} · ${extra}`;
    if (textWidth(longer) > columns) break;
    text = longer;
  }
  return { ...line, text };
}

/** Shortens a row's name first, so that its numbers stay. */
function cutLine({ text, name }: TreeLine, columns: number): string {
  const excess = textWidth(text) - columns;
  if (excess <= 0 || name === undefined) return cutToWidth(text, Math.max(0, columns));
  const [start, end] = name;
  const width = Math.max(MIN_NAME_WIDTH, textWidth(text.slice(start, end)) - excess);
  const shorter = text.slice(0, start) + cutToWidth(text.slice(start, end), width) + text.slice(end);
  return cutToWidth(shorter, Math.max(0, columns));
}

function mostImportant(lines: readonly TreeLine[], count: number): readonly TreeLine[] {
  const chosen = new Set<TreeLine>();
  for (const importance of IMPORTANCES) {
    for (const line of lines) {
      if (chosen.size < count && line.importance === importance) chosen.add(line);
    }
  }
  const hidden = lines.length - chosen.size;
  const note: TreeLine = {
    text: `… ${hidden} more line${hidden === 1 ? "" : "s"}`,
    tone: "faint",
    indent: 1,
    importance: 0,
  };
  return [...lines.filter((line) => chosen.has(line)), note];
}

function paintLine({ text, tone, tonedLength, indent }: TreeLine, colour: boolean): string {
  const blanks = INDENT.repeat(indent);
  const code = COLOURS[tone];
  if (!colour || code === "" || text === "") return `${blanks}${text}`;
  const toned = text.slice(0, tonedLength ?? text.length);
  return `${blanks}\x1b[${code}m${toned}\x1b[0m${text.slice(toned.length)}`;
}
