import { PzError } from "../errors/mod.ts";
import { nearMiss } from "../util/mod.ts";
import type { UsageError } from "./command_tree.ts";
import { EXIT, type ExitCode } from "./exit_codes.ts";
import type { Io } from "./io.ts";
import { reportErrors, reportUsage } from "./report.ts";

/** Verbs that take node names, where a misspelt option looks like a name. */
const VERBS_WITH_NAMES: ReadonlySet<string> = new Set(["run", "plan"]);

/** Options of other tools, with pz's own. */
const OTHER_OPTIONS: ReadonlyMap<string, string> = new Map([
  ["-s", "--select"],
  ["-m", "--select"],
  ["--models", "--select"],
  ["--model", "--select"],
  ["-x", "--fail-fast"],
  ["-f", "--full-refresh"],
  ["--project-dir", "--project"],
  ["--target", "--vars"],
  ["-v", "--version"],
  ["-V", "--version"],
]);

/** Verbs of other tools, with pz's own. */
const OTHER_VERBS: ReadonlyMap<string, string> = new Map([
  ["build", "run"],
  ["start", "run"],
  ["exec", "run"],
  ["check", "validate"],
  ["debug", "validate"],
  ["lint", "validate"],
  ["parse", "compile"],
  ["list", "ls"],
  ["new", "init"],
  ["create", "init"],
  ["history", "runs"],
  ["version", "--version"],
]);

/** Says what is wrong with a command line; help and version are no errors. */
export function reportUsageError(io: Io, { command, error }: UsageError): ExitCode {
  if (error.exitCode === 0) return EXIT.ok;
  const path = pathOf(command);
  const text = error.message.replace(/^error: /, "");
  switch (error.code) {
    case "commander.unknownOption": {
      const option = /'([^']*)'/.exec(text)?.[1] ?? "";
      const known = command.options.flatMap(({ long }) => long ?? []);
      const other = OTHER_OPTIONS.get(option) ?? "";
      const meant = known.includes(other) ? other : nearMiss(option, known);
      const help = `${meant === undefined ? "" : `did you mean '${meant}'? `}run \`${path} --help\` for the options`;
      const hint = option === "--connect" ? "`pz validate --connect` reaches the connections" : help;
      const message = `unknown option '${option}'`;
      if (!VERBS_WITH_NAMES.has(command.name())) return reportUsage(io.console, `${message} — hint: ${hint}`);
      return reportErrors(io.console, [new PzError("PZ0210", message, { hint })]);
    }
    case "commander.unknownCommand": {
      const verb = /'([^']*)'/.exec(text)?.[1] ?? "";
      const meant = OTHER_VERBS.get(verb) ?? nearMiss(verb, command.commands.map((known) => known.name()));
      const hint = `${meant === undefined ? "" : `did you mean '${meant}'? `}run \`pz --help\` for the verbs`;
      return reportUsage(io.console, `unknown verb '${verb}' — hint: ${hint}`);
    }
    case "commander.excessArguments": {
      const extra = command.args[command.registeredArguments.length] ?? "";
      const templates = command.name() === "init";
      const selects = command.options.some(({ long }) => long === "--select");
      const hint = templates
        ? `\`${path} ${command.args[0] ?? ""} --template ${extra}\` chooses a template`
        : selects
        ? `\`${path} --select ${extra}\` chooses nodes`
        : `run \`${path} --help\``;
      return reportUsage(io.console, `'${extra}' is one argument too many — hint: ${hint}`);
    }
    case "commander.help":
      return EXIT.invalid;
    default:
      return reportUsage(io.console, `${text} — hint: run \`${path} --help\``);
  }
}

/** A command with those above it, as it is typed. */
function pathOf(command: Named): string {
  return command.parent === null ? "pz" : `${pathOf(command.parent)} ${command.name()}`;
}

type Named = { readonly parent: Named | null; readonly name: () => string };
