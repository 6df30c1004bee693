import { join } from "node:path";
import type { DatasetSpec, NativeOutcome, OutputSpec } from "../contract/mod.ts";
import type { OperationGate } from "../host/operation_gate.ts";
import type { StorePlace } from "../host/store_stream.ts";
import type { StoreResult } from "../sdk/connector.ts";
import { type ConformanceRead, expect, Skipped } from "./target.ts";
import type { Trial } from "./trial.ts";

const NEVER = new AbortController().signal;

/** A file that was fetched. */
export class Fetched {
  readonly path: string;
  readonly content: string;

  constructor(path: string, content: string) {
    this.path = path;
    this.content = content;
  }

  /** One text for one file. */
  toString(): string {
    return JSON.stringify([this.path, this.content]);
  }
}

/** All files of a dataset, in their order; each must have the size that is told. */
export async function fetchAll(
  trial: Trial,
  { read, gate, signal = NEVER }: {
    readonly read?: ConformanceRead;
    readonly gate?: OperationGate;
    readonly signal?: AbortSignal;
  } = {},
): Promise<readonly Fetched[]> {
  const spec = datasetOf(trial, read);
  const session = gate === undefined ? trial.session : trial.session.through(gate);
  const folder = await trial.emptyFolder();
  const files: Fetched[] = [];
  for await (const { path, bytes } of session.fetchFiles(spec, { folder, signal, onBytes: () => {} })) {
    const content = await Deno.readFile(join(folder, ...path.split("/")));
    expect(content.length === bytes, `a file has ${content.length} bytes, and ${bytes} are told`);
    files.push(new Fetched(path, new TextDecoder().decode(content)));
  }
  return files;
}

/** Stores one file; undefined where that is given up. */
export async function storeFile(
  trial: Trial,
  content: string,
  { end = "commit", changes = {}, gate }: {
    readonly end?: "commit" | "abort";
    readonly changes?: Partial<Pick<OutputSpec, "mode" | "keys">>;
    readonly gate?: OperationGate;
  } = {},
): Promise<StoreResult | undefined> {
  const { spec, file, place } = await storePlace(trial, content, changes);
  const session = gate === undefined ? trial.session : trial.session.through(gate);
  const store = await session.storeFiles(spec, place, NEVER);
  try {
    store.grew({ path: file, bytes: new TextEncoder().encode(content).length, isWhole: true });
    if (end === "commit") await store.sent(NEVER);
  } catch (error) {
    await store.abort();
    throw error;
  }
  if (end === "commit") return await store.commit();
  await store.abort();
  return undefined;
}

/** A file that lies ready to be stored, and what to ask for. */
export async function storePlace(
  trial: Trial,
  content: string,
  changes: Partial<Pick<OutputSpec, "mode" | "keys">> = {},
): Promise<{ readonly spec: OutputSpec; readonly file: string; readonly place: StorePlace }> {
  const { connector, root } = trial.target;
  const spec = trial.output(changes);
  const { options, copy } = valueOf(connector.stagedWrite?.(spec, { projectRoot: root }));
  const folder = await trial.emptyFolder();
  const { file } = copy(folder);
  if (file === undefined) throw new Skipped("the output is no single file");
  await Deno.writeTextFile(join(folder, file), content);
  return { spec: { ...spec, options }, file, place: { folder, journal: `${folder}.journal` } };
}

function datasetOf(trial: Trial, read: ConformanceRead | undefined): DatasetSpec {
  const { connector, root } = trial.target;
  const spec = trial.dataset(undefined, read);
  return { ...spec, options: valueOf(connector.stagedRead?.(spec, { projectRoot: root })).options };
}

/** @throws {Error} with all that was said against it */
function valueOf<T>(asked: NativeOutcome<T> | undefined): T {
  if (asked?.ok === true) return asked.value;
  throw new Error(asked?.problems.map(({ message }) => message).join("; ") ?? "its process moves no files");
}
