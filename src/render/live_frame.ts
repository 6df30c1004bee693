import type { Importance, Tone, TreeLine } from "./live_tree.ts";
import { cutToWidth } from "./text_width.ts";

const COLOURS: { readonly [T in Tone]: string } = { plain: "", good: "32", bad: "31", caution: "33", faint: "90" };
const IMPORTANCES: readonly Importance[] = [0, 1, 2];

export type FrameSize = { readonly columns: number; readonly rows: number };

/** The lines as a terminal gets them, without any cut. */
export function paint(lines: readonly TreeLine[], colour: boolean): readonly string[] {
  return lines.map((line) => paintLine(line, colour));
}

/**
 * The lines cut to a terminal: none wider than it, and no more of them than fit above the cursor's line. Finished nodes
 * give way first, then those that run; the last line says how many are hidden.
 */
export function fitFrame(lines: readonly TreeLine[], size: FrameSize): readonly TreeLine[] {
  const room = Math.max(1, size.rows - 1);
  const kept = lines.length <= room ? lines : mostImportant(lines, room - 1);
  return kept.map((line) => ({ ...line, text: cutToWidth(line.text, Math.max(0, size.columns - line.indent * 2)) }));
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
  const blanks = "  ".repeat(indent);
  const code = COLOURS[tone];
  if (!colour || code === "") return `${blanks}${text}`;
  const toned = text.slice(0, tonedLength ?? text.length);
  return `${blanks}\x1b[${code}m${toned}\x1b[0m${text.slice(toned.length)}`;
}
