import type { Command } from "@commander-js/extra-typings";
import { COMPLETION_SCRIPTS } from "./completion_scripts.ts";
import { EXIT, type ExitCode } from "./exit_codes.ts";
import type { Io } from "./io.ts";
import { TEMPLATES } from "./templates/mod.ts";

const VERBS_WITH_NODE_NAMES: ReadonlySet<string> = new Set(["run", "plan"]);
/** Values of an option that has only a few. */
const OPTION_VALUES: { readonly [option: string]: readonly string[] } = {
  "--log-format": ["text", "json"],
  "--template": TEMPLATES.map(({ id }) => id),
};

/** Prints what could stand at the cursor, one a line; nothing where the shell should offer files. */
export async function suggest(io: Io, program: Command, line: string, position: number): Promise<ExitCode> {
  const [, ...words] = splitWords(line.slice(0, position));
  const current = words.pop() ?? "";
  for (const candidate of await candidates(io, program, words, current)) {
    if (candidate.startsWith(current)) io.console.out(candidate);
  }
  return EXIT.ok;
}

/** The words of a command line up to the cursor; the last one, maybe empty, is the one being typed. */
export function splitWords(line: string): string[] {
  const words = [""];
  let quote = "";
  for (const char of line) {
    const last = words.length - 1;
    if (quote !== "") {
      if (char === quote) quote = "";
      else words[last] += char;
    } else if (char === '"' || char === "'") {
      quote = char;
    } else if (/\s/.test(char)) {
      if (words[last] !== "") words.push("");
    } else {
      words[last] += char;
    }
  }
  return words;
}

async function candidates(
  io: Io,
  program: Command,
  words: readonly string[],
  current: string,
): Promise<readonly string[]> {
  const verb = program.commands.find((command) => command.name() === words[0]);
  const options = (verb ?? program).options;
  const previous = options.find(({ short, long }) => words.length > 0 && [short, long].includes(words.at(-1)));
  if (previous?.required) return OPTION_VALUES[previous.long ?? ""] ?? [];
  if (current.startsWith("-")) return [...options.flatMap(({ long }) => long ?? []), "--help"];
  if (verb === undefined) return words.length === 0 ? program.commands.map((command) => command.name()) : [];
  if (verb.name() === "completion") return Object.keys(COMPLETION_SCRIPTS);
  return VERBS_WITH_NODE_NAMES.has(verb.name()) ? await nodeNames(io, words) : [];
}

/** Names of the project's nodes; none when it does not compile. */
async function nodeNames(io: Io, words: readonly string[]): Promise<readonly string[]> {
  const { compileQuietly } = await import("./phases.ts");
  const option = words.indexOf("--project");
  const dag = await compileQuietly(io, { project: option < 0 ? undefined : words[option + 1] });
  return dag?.nodes.map((node) => node.name) ?? [];
}
