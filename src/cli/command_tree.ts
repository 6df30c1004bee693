import { Command, type CommanderError } from "@commander-js/extra-typings";
import type { ExitCode } from "./exit_codes.ts";
import type { Io } from "./io.ts";
import { VERSION } from "./version.ts";

/** A command line that commander refused, with the command that it was meant for. */
export class UsageError extends Error {
  override readonly name = "UsageError";
  readonly command: Command;
  readonly error: CommanderError;

  constructor(command: Command, error: CommanderError) {
    super(error.message);
    this.command = command;
    this.error = error;
  }
}

const PROJECT = ["--project <dir>", "the project's folder (default: the current folder)"] as const;
const VARS = ["--vars <json>", "a JSON object whose members override vars: of project.yml"] as const;
const SELECT = [
  "--select <selector>",
  "nodes by name, tag:t or source:c.e; +x and x+ add what is before and after; given again, it adds nodes",
  (text: string, former: string | undefined) => former === undefined ? text : `${former} ${text}`,
] as const;
const ALL = ["--all", "the whole project"] as const;
const LOG_FORMAT = [
  "--log-format <format>",
  "text, or json: one event a line on stdout, all else on stderr",
] as const;

const collect = (text: string, former: readonly string[] | undefined) => [...former ?? [], text];
const ASSUME_DELIVERED = [
  "--assume-delivered <output>",
  "take an output as delivered of which that is not known; given again, more of them",
  collect,
] as const;
const REDELIVER = ["--redeliver <output>", "write an output again, whatever is known of it", collect] as const;

/**
 * The verbs and their options. Each verb's code is loaded when it runs, so that help and version load none of it.
 *
 * @param done takes the exit code of the verb that ran
 */
export function commandTree(io: Io, done: (code: ExitCode) => void): Command {
  const program = new Command("pz");
  program
    .description("pz runs batch data pipelines written in SQL: extract, transform, check and load with DuckDB inside.")
    .version(VERSION, "--version", "print the version")
    .helpOption("-h, --help", "print this help (also -?)")
    .configureOutput({
      writeOut: (text) => io.console.outRaw(text),
      writeErr: (text) => io.console.errRaw(text),
      outputError: () => {},
      getOutHasColors: () => false,
      getErrHasColors: () => false,
      getOutHelpWidth: () => 100,
      getErrHelpWidth: () => 100,
    })
    .showSuggestionAfterError(false);
  const verb = (name: string, description: string): Command => {
    const command = program.command(name).description(description);
    return command.exitOverride((error) => {
      throw new UsageError(command, error);
    });
  };

  verb("init", "make a new project")
    .argument("[name]", "the folder to make; . for the current folder")
    .option("-t, --template <id>", "the template to start from (default: minimal)")
    .option("--list-templates", "list the templates and make nothing")
    .action(async (name, options) => done(await (await import("./verbs/init.ts")).init(io, { name, ...options })));

  verb("run", "run the pipelines")
    .argument("[names...]", "nodes to run, each with all that it needs and all that follows from it")
    .option(...PROJECT)
    .option(...VARS)
    .option(...SELECT)
    .option(...ALL)
    .option("--fail-fast", "stop everything at the first failure")
    .option("--full-refresh", "read everything, whatever earlier runs have read")
    .option(...LOG_FORMAT)
    .action(async (names, options) => done(await (await import("./verbs/run.ts")).run(io, { names, ...options })));

  verb("retry", "run what an earlier run did not get done, and take over what it did")
    .argument("[run]", "the run, as `pz runs` lists it (default: the newest)")
    .option(...PROJECT)
    .option("--fail-fast", "stop everything at the first failure")
    .option("--full-refresh", "read everything anew instead of taking over what is staged")
    .option(...ASSUME_DELIVERED)
    .option(...REDELIVER)
    .option(...LOG_FORMAT)
    .action(async (runId, options) => done(await (await import("./verbs/retry.ts")).retry(io, { runId, ...options })));

  verb("test", "run the checks with all that they need, and no sink")
    .option(...PROJECT)
    .option(...VARS)
    .option(...SELECT)
    .option(...LOG_FORMAT)
    .action(async (options) => done(await (await import("./verbs/test.ts")).test(io, options)));

  verb("compile", "write the graph and each pipeline's SQL to .pz/target")
    .option(...PROJECT)
    .option(...VARS)
    .option(...SELECT)
    .action(async (options) => done(await (await import("./verbs/compile.ts")).compile(io, options)));

  verb("plan", "show how every byte will move, and why")
    .argument("[names...]", "nodes to show, as for run")
    .option(...PROJECT)
    .option(...VARS)
    .option(...SELECT)
    .option(...ALL)
    .action(async (names, options) => done(await (await import("./verbs/plan.ts")).plan(io, { names, ...options })));

  verb("validate", "check everything that can be checked without moving data")
    .option(...PROJECT)
    .option(...VARS)
    .option("--connect", "also reach every connection, and compare the columns there with their contracts")
    .action(async (options) => done(await (await import("./verbs/validate.ts")).validate(io, options)));

  verb("ls", "list the nodes of the project")
    .option(...PROJECT)
    .option(...VARS)
    .option(...SELECT)
    .action(async (options) => done(await (await import("./verbs/ls.ts")).ls(io, options)));

  const runs = verb("runs", "list past runs, newest first")
    .option(...PROJECT)
    .option("--json", "one JSON object a line")
    .option("--limit <n>", "list at most so many")
    .action(async (options) => done(await (await import("./verbs/runs.ts")).runs(io, options)));
  const show = runs.command("show").description("show one run with its nodes").exitOverride((error) => {
    throw new UsageError(show, error);
  });
  show.argument("<run>", "the run, as `pz runs` lists it")
    .option(...PROJECT)
    .option("--json", "one JSON object")
    .action(async (runId) =>
      done(await (await import("./verbs/runs_show.ts")).runsShow(io, { runId, ...runs.opts(), ...show.opts() }))
    );

  verb("clean", "delete what old runs left behind")
    .option(...PROJECT)
    .option("--keep-last <n>", "leave the newest n runs alone (default: 1)")
    .option("--older-than <duration>", "only runs that are older, such as 7d or 12h")
    .option("--purge", "whole run folders instead of staging databases")
    .option("--dry-run", "say what would go and delete nothing")
    .action(async (options) => done(await (await import("./verbs/clean.ts")).clean(io, options)));

  verb("connectors", "list the connectors, and in a project what each connection may touch")
    .option(...PROJECT)
    .option(...VARS)
    .action(async (options) => done(await (await import("./verbs/connectors.ts")).connectors(io, options)));

  verb("restore", "install the connector packages that project.yml lists, as pz.lock.json pins them")
    .option(...PROJECT)
    .option(...VARS)
    .option("--feeds <url...>", "npm registries in order (default: PZ_FEEDS, else npm's own)")
    .option("--update", "look for versions anew, and write the lock anew")
    .action(async (options) => done(await (await import("./verbs/restore.ts")).restore(io, options)));

  const connector = verb("connector", "make, build and test a connector of your own");
  const sub = (name: string, description: string): Command => {
    const command = connector.command(name).description(description);
    return command.exitOverride((error) => {
      throw new UsageError(command, error);
    });
  };
  sub("new", "make a folder with a connector that works, its test and its README")
    .argument("<name>", "the folder to make; its name is the connector's")
    .action(async (name) => done(await (await import("./verbs/connector_new.ts")).connectorNew(io, name)));
  sub("build", "bundle a connector into the one module that its manifest names")
    .argument("[folder]", "the connector's folder (default: the current folder)")
    .action(async (folder) => done(await (await import("./verbs/connector_build.ts")).connectorBuild(io, folder)));
  sub("test", "try out every promise that a connector makes")
    .argument("<target>", "a connector's folder, or the name of one inside pz")
    .option("--config <file>", "what to ask (default: connector_test.yml in its folder)")
    .action(async (target, options) => {
      done(await (await import("./verbs/connector_try.ts")).connectorTest(io, { target, ...options }));
    });
  sub("sdk", "write the SDK of this pz into a connector's folder")
    .argument("[folder]", "the connector's folder (default: the current folder)")
    .action(async (folder) => done(await (await import("./verbs/connector_new.ts")).connectorSdk(io, folder)));

  verb("completion", "print a completion script for bash, zsh, fish or pwsh")
    .argument("<shell>", "the shell")
    .action(async (shell) => done((await import("./verbs/completion.ts")).completion(io, shell)));

  program.exitOverride((error) => {
    throw new UsageError(program, error);
  });
  return program;
}
