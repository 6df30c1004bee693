import type { EventDefinition, EventField, EventShape } from "../src/events/mod.ts";

type Fields = { readonly [name: string]: EventField };

const LINE_WIDTH = 120;

/** The README's chapter on events, as `deno fmt` would write it; it ends with a line feed. */
export function eventsChapter(
  envelope: Fields,
  events: readonly (EventDefinition & { readonly name: string })[],
  schemaFile: string,
): string {
  const seen = new Set<EventField>();
  const blocks = [
    "## Events",
    wrapped(
      "With `--log-format json` a run writes one JSON object a line to stdout, and everything else to " +
        `stderr. [${schemaFile}](${schemaFile}) is the JSON Schema of a line. Events and fields may be added; none is ` +
        "renamed, removed or given another type, so ignore what you do not know. Fields stand in the order below; an " +
        "optional one is left out where it does not apply.",
    ),
    wrapped(
      "`run_started` comes first; `run_completed` last, with at most `retention_swept` behind it. Every node has " +
        "exactly one `node_completed`. It comes last of the node's events and `node_started` first; a node that is " +
        "skipped before it starts, or carried forward by a retry, has no `node_started`. Events of different nodes " +
        "mix freely, with `breaker_state_changed` and `connector_log` anywhere between. Every event begins with:",
    ),
    bullets(envelope, seen, ""),
    ...events.flatMap(({ name, doc, fields }) => [wrapped(`**\`${name}\`**: ${doc}`), bullets(fields, seen, "")]),
  ];
  return `${blocks.join("\n\n")}\n`;
}

/** One item a field. Fields that an earlier event has described are only named. */
function bullets(fields: Fields, seen: Set<EventField>, indent: string): string {
  const items: string[] = [];
  const known: string[] = [];
  const flush = (): void => {
    if (known.length > 0) items.push(item(`${known.splice(0).join(", ")}: as above.`, indent));
  };
  for (const [name, field] of Object.entries(fields)) {
    if (seen.has(field)) {
      known.push(`\`${name}\``);
      continue;
    }
    flush();
    seen.add(field);
    items.push(item(`\`${name}\` (${kindOf(field)}${presenceOf(field)}): ${field.doc}`, indent));
    const members = membersOf(field);
    if (members !== undefined) items.push(bullets(members, seen, `${indent}  `));
  }
  flush();
  return items.join("\n");
}

function kindOf(shape: EventShape): string {
  switch (shape.type) {
    case "count":
      return "whole number";
    case "flag":
      return "true or false";
    case "word":
      return alternatives(Object.keys(shape.words).map((word) => `\`${word}\``));
    case "list":
      return shape.of.type === "object" ? "list of objects" : `list of ${kindOf(shape.of)}`;
    case "text":
    case "object":
      return shape.type;
  }
}

function presenceOf({ optional, nullable, setWhen }: EventField): string {
  if (setWhen !== undefined) return `, null unless \`${setWhen.field}\` is \`${setWhen.is}\``;
  return `${nullable === true ? " or null" : ""}${optional === true ? "; optional" : ""}`;
}

function membersOf(shape: EventShape): Fields | undefined {
  if (shape.type === "list") return membersOf(shape.of);
  return shape.type === "object" ? shape.members : undefined;
}

function item(text: string, indent: string): string {
  return wrapped(text, `${indent}- `, `${indent}  `);
}

/** Text in lines of at most 120 characters; what stands in backticks is not broken. */
function wrapped(text: string, first = "", rest = ""): string {
  const [start = "", ...words] = text.match(/(?:`[^`]*`|[^\s`])+/g) ?? [];
  const lines: string[] = [];
  let line = first + start;
  for (const word of words) {
    if (line.length + 1 + word.length > LINE_WIDTH) {
      lines.push(line);
      line = rest + word;
    } else line += ` ${word}`;
  }
  return [...lines, line].join("\n");
}

/** `a, b or c`. */
function alternatives(words: readonly string[]): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
}
