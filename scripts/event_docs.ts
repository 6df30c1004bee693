/**
 * Writes what is made of the definition of the run events: the README's chapter on them, and their JSON Schema.
 *
 *     deno run --allow-read --allow-write scripts/event_docs.ts
 *     deno run --allow-read --allow-write scripts/event_docs.ts --release    the schema becomes that of the last release
 */
import { join } from "node:path";
import { EVENT_ENVELOPE, eventDefinition, type EventField, eventNames, eventSchema } from "../src/events/mod.ts";
import { eventsChapter } from "./event_chapter.ts";

/** The schema of the events as they are now, from the project's folder. */
export const SCHEMA_FILE = "fixtures/schemas/run_event.json";

/** The schema of the last release, which today's must keep. */
export const RELEASED_FILE = "fixtures/events/released_schema.json";

const BEGIN = "<!-- events: written by scripts/event_docs.ts -->";
const END = "<!-- end of events -->";

/** The text of the schema's file. */
export function schemaText(): string {
  return `${JSON.stringify(eventSchema(), undefined, 2)}\n`;
}

/**
 * The README with its chapter on events as it should be.
 *
 * @throws {Error} when the README lacks the comments between which the chapter stands
 */
export function withChapter(readme: string): string {
  const begin = readme.indexOf(BEGIN);
  const end = readme.indexOf(END, begin);
  if (begin < 0 || end < 0) throw new Error(`README.md lacks '${BEGIN}' and '${END}'`);
  const events = eventNames().map((name) => ({ name, ...eventDefinition(name) }));
  const envelope: { readonly [name: string]: EventField } = EVENT_ENVELOPE;
  return `${readme.slice(0, begin)}${BEGIN}\n\n${eventsChapter(envelope, events, SCHEMA_FILE)}\n${readme.slice(end)}`;
}

if (import.meta.main) {
  const root = join(import.meta.dirname ?? ".", "..");
  const readme = join(root, "README.md");
  await Deno.writeTextFile(readme, withChapter(await Deno.readTextFile(readme)));
  await Deno.writeTextFile(join(root, SCHEMA_FILE), schemaText());
  if (Deno.args.includes("--release")) await Deno.writeTextFile(join(root, RELEASED_FILE), schemaText());
}
