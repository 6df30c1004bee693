import { writeFileAtomically } from "../util/mod.ts";
import { isObject, numberOf, parseObject, readIfPresent, textOf } from "./json_read.ts";

/** One try of one write, of whichever run. */
export type Try = {
  readonly run: string;
  readonly ordinal: number;
  /** Its output was declared otherwise then, so that the target can't be asked for it. */
  readonly changed?: true | undefined;
};

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
  } | undefined;
  /** Tries of a write whose rows may stand in the target, or do where it is done, oldest first. */
  readonly tries: readonly Try[];
  /** Hash of the settings of the connection that an output was last written by, where that is known. */
  readonly target?: string | undefined;
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
  /** The run that this one is a retry of, and what it takes over from that one and those before it. */
  readonly retryOf?: string | undefined;
  readonly inherited?: readonly NodeFact[] | undefined;
};

/** Writes a run's intent.json, readable by its owner only. */
export function writeRunIntent(path: string, intent: RunIntent): void {
  writeFileAtomically(path, `${JSON.stringify(intent, null, 2)}\n`, 0o600);
}

/** Reads an intent.json; undefined when it is missing or is none that this pz knows. */
export async function readRunIntent(path: string): Promise<RunIntent | undefined> {
  const value = parseObject(await readIfPresent(path) ?? "");
  if (value === undefined || value["version"] !== 1 || !isObject(value["selection"])) return undefined;
  const { names, select, all } = value["selection"];
  const { connections, inherited } = value;
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
    done: !isObject(done) || run === undefined
      ? undefined
      : { run, rows: numberOf(done["rows"]) ?? 0, connection: textOf(done["connection"]) },
    tries: Array.isArray(tries) ? tries.flatMap((one: unknown) => readTry(one) ?? []) : [],
    target: textOf(value["target"]),
  };
}

function readTry(value: unknown): Try | undefined {
  if (!isObject(value)) return undefined;
  const [run, ordinal] = [textOf(value["run"]), numberOf(value["ordinal"])];
  if (run === undefined || ordinal === undefined) return undefined;
  return { run, ordinal, ...(value["changed"] === true ? { changed: true } : {}) };
}

function texts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((text: unknown) => typeof text === "string") : [];
}
