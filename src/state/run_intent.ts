import { writeAllSync, writeFileAtomically } from "../util/mod.ts";
import { isObject, numberOf, parseObject, readIfPresent, textOf } from "./json_read.ts";

/** One try of one write, of whichever run. */
export type Try = {
  readonly run: string;
  readonly ordinal: number;
  /** Hash of the settings of the connection that it wrote to, where that is known. */
  readonly place?: string | undefined;
  /** It was made under another declaration of the output: what it left can't be recognised by its name or marker. */
  readonly foreign?: true | undefined;
};

/** An output that a run was going to write. */
export type IntendedOutput = { readonly id: string; readonly name: string; readonly append: boolean };

/** What is known of a node by a run and those that it is a retry of. */
export type NodeFact = {
  readonly id: string;
  readonly kind: string;
  readonly name: string;
  /** How it ended when it was last run; undefined: it began and nobody knows more. */
  readonly status?: "success" | "failed" | "skipped" | undefined;
  /** What was done of it with success, by which run, however it ended later. */
  readonly done?: {
    readonly run: string;
    readonly rows: number;
    /** Hash of the settings of its connection, where that is known. */
    readonly connection?: string | undefined;
    /** All tries of a write up to the one that did it, oldest first. Absent: they are not known. */
    readonly tries?: readonly Try[] | undefined;
  } | undefined;
  /** Tries of a write whose rows may stand in the target, oldest first. */
  readonly tries: readonly Try[];
};

/** What a run was asked to do, so that a retry repeats it. It may hold secrets: it is never printed. */
export type RunIntent = {
  readonly version: 1;
  readonly selection: {
    readonly names: readonly string[];
    readonly select?: string | undefined;
    readonly all: boolean;
  };
  /** The text of `--vars`, as it was given. */
  readonly vars?: string | undefined;
  readonly failFast: boolean;
  /** Whether the run was one of checks, without outputs. */
  readonly checksOnly?: boolean | undefined;
  /** Hashes of the settings of connections by name, without those that are secret. */
  readonly connections?: { readonly [name: string]: string } | undefined;
  /** The outputs that it is about to write, so that one is known of which no record is left. */
  readonly outputs?: readonly IntendedOutput[] | undefined;
  /** Names of the outputs that the user told a retry to write again, whatever was known of them. */
  readonly redelivered?: readonly string[] | undefined;
  /** The run that this one is a retry of, and what it takes over from that one and those before it. */
  readonly retryOf?: string | undefined;
  readonly inherited?: readonly NodeFact[] | undefined;
};

/** Writes a run's intent.json, readable by its owner only. */
export function writeRunIntent(path: string, intent: RunIntent): void {
  writeFileAtomically(path, `${JSON.stringify(intent, null, 2)}\n`, 0o600);
}

/**
 * Begins the records of a run: the first line of its journal, then its intent. Whoever finds the intent and no line in the
 * journal knows that the journal is not what it was.
 */
export function beginRunRecords(
  paths: { readonly journal: string; readonly intent: string },
  intent: RunIntent,
): void {
  try {
    using journal = Deno.openSync(paths.journal, { write: true, append: true, create: true });
    writeAllSync(journal, new TextEncoder().encode(`{"journal":1}\n`));
    journal.syncDataSync();
  } catch { /* whoever keeps the journal tells what is wrong with it */ }
  writeRunIntent(paths.intent, intent);
}

/** Reads an intent.json; undefined when it is missing or is none that this pz knows. */
export async function readRunIntent(path: string): Promise<RunIntent | undefined> {
  const value = parseObject(await readIfPresent(path) ?? "");
  if (value === undefined || value["version"] !== 1 || !isObject(value["selection"])) return undefined;
  const { names, select, all } = value["selection"];
  const { connections, inherited, outputs, redelivered } = value;
  return {
    version: 1,
    selection: { names: texts(names), select: textOf(select), all: all === true },
    vars: textOf(value["vars"]),
    failFast: value["failFast"] === true,
    checksOnly: value["checksOnly"] === true,
    connections: isObject(connections)
      ? Object.fromEntries(
        Object.entries(connections).flatMap(([name, hash]) => typeof hash === "string" ? [[name, hash]] : []),
      )
      : undefined,
    outputs: Array.isArray(outputs) ? outputs.flatMap((output: unknown) => readOutput(output) ?? []) : undefined,
    redelivered: texts(redelivered),
    retryOf: textOf(value["retryOf"]),
    inherited: Array.isArray(inherited) ? inherited.flatMap((fact: unknown) => readFact(fact) ?? []) : undefined,
  };
}

const STATUSES = ["success", "failed", "skipped"] as const;

function readFact(value: unknown): NodeFact | undefined {
  if (!isObject(value)) return undefined;
  const { tries, done } = value;
  const id = textOf(value["id"]);
  if (id === undefined) return undefined;
  const run = isObject(done) ? textOf(done["run"]) : undefined;
  return {
    id,
    kind: textOf(value["kind"]) ?? "",
    name: textOf(value["name"]) ?? id,
    status: STATUSES.find((known) => known === value["status"]),
    done: !isObject(done) || run === undefined ? undefined : {
      run,
      rows: numberOf(done["rows"]) ?? 0,
      connection: textOf(done["connection"]),
      ...(Array.isArray(done["tries"]) ? { tries: readTries(done["tries"]) } : {}),
    },
    tries: readTries(tries),
  };
}

function readOutput(value: unknown): IntendedOutput | undefined {
  const id = isObject(value) ? textOf(value["id"]) : undefined;
  if (!isObject(value) || id === undefined) return undefined;
  return { id, name: textOf(value["name"]) ?? id, append: value["append"] === true };
}

function readTries(value: unknown): readonly Try[] {
  return Array.isArray(value) ? value.flatMap((one: unknown) => readTry(one) ?? []) : [];
}

function readTry(value: unknown): Try | undefined {
  if (!isObject(value)) return undefined;
  const [run, ordinal] = [textOf(value["run"]), numberOf(value["ordinal"])];
  if (run === undefined || ordinal === undefined) return undefined;
  const place = textOf(value["place"]);
  return {
    run,
    ordinal,
    ...(place === undefined ? {} : { place }),
    ...(value["foreign"] === true ? { foreign: true } : {}),
  };
}

function texts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((text: unknown) => typeof text === "string") : [];
}
