import { join } from "node:path";
import type { RecordBatch, Schema } from "../../util/arrow.ts";
import type { ConfigMap, DatasetSpec, Grant, OutputSpec, ReadHints, WriteResult } from "../contract/mod.ts";
import { ConnectorChild } from "../host/child.ts";
import { childCommand } from "../host/command.ts";
import type { OperationGate } from "../host/operation_gate.ts";
import { DEFAULT_PATIENCE } from "../host/patience.ts";
import { Redactor } from "../host/redact.ts";
import { ConnectorSession } from "../host/session.ts";
import { childOf } from "../packages/child_of.ts";
import { collectRows, type Rows } from "./rows.ts";
import { type ConformanceRead, type ConformanceTarget, type ConformanceWrite, Skipped } from "./target.ts";

/** The name of the connection of which all is asked. */
const CONNECTION = "conformance";
const RUN = "conformance";
/** Small, so that little data makes several batches. */
const BATCH_BYTES = 4096;
/** On the little data of a trial nobody is busy for long. */
const PATIENCE = { pingMs: 5_000, spinMs: 20_000 };
const NEVER = new AbortController().signal;

/** A connector that is being tried out: its processes, and the usual ways to ask it. */
export class Trial implements AsyncDisposable {
  readonly target: ConformanceTarget;
  readonly #grant: Grant;
  #sessions = new AsyncDisposableStack();
  #session: ConnectorSession | undefined;
  /** Those that can be spoken to in raw messages. */
  readonly #children = new Set<ConnectorChild>();
  #writes = 0;
  /** That files lie in on their way; undefined: the connector moves none. */
  readonly #folder: string | undefined;
  #folders = 0;

  constructor(target: ConformanceTarget) {
    this.target = target;
    const grant = grantOf(target);
    const { stagedRead, stagedWrite } = target.connector;
    const movesFiles = stagedRead !== undefined || stagedWrite !== undefined;
    this.#folder = movesFiles ? Deno.makeTempDirSync({ prefix: "pz-conformance-" }) : undefined;
    this.#grant = this.#folder === undefined
      ? grant
      : { ...grant, read: [...grant.read, this.#folder], write: [...grant.write, this.#folder] };
  }

  /** One process for all that leaves it alive. */
  get session(): ConnectorSession {
    return this.#session ??= this.another();
  }

  /** A process of its own; it lives as long as the trial. */
  another(config: ConfigMap = this.target.config): ConnectorSession {
    return this.#sessions.use(new ConnectorSession(this.#options(config)));
  }

  /**
   * A process that can be spoken to in raw messages; the caller closes it, or the end of all processes so far.
   *
   * @param asItIs whether the process gets these settings without what its description makes of them
   */
  async child(
    config: ConfigMap = this.target.config,
    { asItIs }: { readonly asItIs: boolean } = { asItIs: false },
  ): Promise<ConnectorChild> {
    const options = { ...this.#options(config), ...(asItIs ? { config } : {}) };
    const child = await ConnectorChild.start({
      ...options,
      command: options.command ?? childCommand(),
      onNotice: () => {},
      redactor: new Redactor(options.config),
      patience: { ...DEFAULT_PATIENCE, ...PATIENCE, shutdownMs: 10_000 },
    }, NEVER);
    this.#children.add(child);
    void child.status.then(() => this.#children.delete(child));
    return child;
  }

  /** What a read is asked for; for another dataset than the target's, by the same options. */
  dataset(hints?: ReadHints, read: ConformanceRead | undefined = this.target.read): DatasetSpec {
    if (read === undefined) throw new Skipped("no read: in the config");
    const { connector, config, root } = this.target;
    const spec = {
      connection: CONNECTION,
      entity: read.dataset,
      config,
      options: read.options,
      ...(read.columns === undefined ? {} : { columns: read.columns }),
      ...(hints === undefined ? {} : { hints }),
    };
    const asked = connector.universalRead?.(spec, { projectRoot: root });
    if (asked === undefined) return spec;
    if (!asked.ok) throw new Error(asked.problems.map(({ message }) => message).join("; "));
    return { ...spec, options: asked.value.options };
  }

  /** What a write is asked for; each one is an attempt of its own. */
  output(changes: Partial<Pick<OutputSpec, "mode" | "keys" | "entity">> = {}): OutputSpec {
    const { write, connector, config, root } = this.target;
    if (write === undefined) throw new Skipped("no write: in the config");
    const mode = changes.mode ?? write.mode;
    const spec: OutputSpec = {
      connection: CONNECTION,
      entity: write.output,
      config,
      options: write.options,
      mode,
      schemaPolicy: write.schemaPolicy,
      keys: mode === "merge" ? ["id"] : [],
      attempt: { node: CONNECTION, run: `${RUN}-${++this.#writes}`, ordinal: 1 },
      ...changes,
    };
    const asked = connector.universalWrite?.(spec, { projectRoot: root });
    if (asked === undefined) return spec;
    if (!asked.ok) throw new Error(asked.problems.map(({ message }) => message).join("; "));
    return { ...spec, options: asked.value.options };
  }

  /** All rows of a dataset. */
  async read(
    { hints, gate, session = this.session, read }: {
      readonly hints?: ReadHints;
      readonly gate?: OperationGate;
      readonly session?: ConnectorSession;
      readonly read?: ConformanceRead;
    } = {},
  ): Promise<Rows> {
    const spec = this.dataset(hints, read);
    const asking = gate === undefined ? session : session.through(gate);
    const schema = await asking.getSchema(spec, NEVER);
    const streams = (await asking.planRead(spec, NEVER))
      .map((partition) => asking.read(spec, partition, { batchBytes: BATCH_BYTES, signal: NEVER }));
    return await collectRows(schema, streams);
  }

  /** Writes and commits. */
  async write(
    spec: OutputSpec,
    schema: Schema,
    batches: readonly RecordBatch[],
    gate?: OperationGate,
  ): Promise<WriteResult> {
    const asking = gate === undefined ? this.session : this.session.through(gate);
    const handle = await asking.beginWrite(spec, schema, NEVER);
    try {
      for (const batch of batches) await handle.write(batch, NEVER);
    } catch (error) {
      await handle.abort();
      throw error;
    }
    return await handle.commit();
  }

  /** What stands in the output, where it can be read. */
  async readBack(): Promise<Rows> {
    return await this.read({ read: this.readable() });
  }

  /** @throws {Skipped} where the output can't be read */
  readable(): ConformanceRead {
    const read = this.target.write?.readBack;
    if (read === undefined) throw new Skipped("no read_back: in write:");
    return read;
  }

  /** A new folder that the connector's process may fill. */
  async emptyFolder(): Promise<string> {
    if (this.#folder === undefined) throw new Error("the connector moves no files");
    const path = join(this.#folder, String(++this.#folders));
    await Deno.mkdir(path);
    return path;
  }

  /** Ends the processes so far, with all that they hold: the next question starts a new one. */
  async release(): Promise<void> {
    const former = this.#sessions;
    this.#sessions = new AsyncDisposableStack();
    this.#session = undefined;
    await Promise.all([former.disposeAsync(), ...this.#closeChildren()]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#sessions.disposeAsync(), ...this.#closeChildren()]);
    if (this.#folder !== undefined) await Deno.remove(this.#folder, { recursive: true });
  }

  #closeChildren(): Promise<void>[] {
    return [...this.#children].map((child) => child.close());
  }

  #options(config: ConfigMap) {
    const { connector, root } = this.target;
    return {
      ...childOf(connector, config, { projectRoot: root }, { grant: this.#grant }),
      connector: connector.name,
      connection: CONNECTION,
      grant: this.#grant,
      runId: RUN,
      onLog: () => {},
      patience: PATIENCE,
    };
  }
}

/** What the connection and what is asked of it may touch. */
function grantOf({ connector, config, root, read, write }: ConformanceTarget): Grant {
  const context = { projectRoot: root };
  const grant = connector.grant(config, context);
  const place = { connection: CONNECTION, config };
  const reads = [read, write?.readBack].filter((one) => one !== undefined).map((one) =>
    connector.universalRead?.({ ...place, entity: one.dataset, options: one.options }, context)
  );
  const writes = write === undefined ? undefined : connector.universalWrite?.(specOf(place, write), context);
  const more = [...reads, writes].flatMap((asked) => asked?.ok === true ? [asked.value.grant] : []);
  const reached = [
    ...[read, write?.readBack].filter((one) => one !== undefined).map((one) =>
      connector.stagedRead?.({ ...place, entity: one.dataset, options: one.options }, context)
    ),
    write === undefined ? undefined : connector.stagedWrite?.(specOf(place, write), context),
  ].flatMap((asked) => asked?.ok === true ? asked.value.net : []);
  return {
    ...grant,
    net: [...new Set([...grant.net, ...reached])],
    read: [...new Set([...grant.read, ...more.flatMap((one) => one.read)])],
    write: [...new Set([...grant.write, ...more.flatMap((one) => one.write)])],
  };
}

function specOf(place: Pick<OutputSpec, "connection" | "config">, write: ConformanceWrite): OutputSpec {
  const { output, options, mode, schemaPolicy } = write;
  const attempt = { node: CONNECTION, run: RUN, ordinal: 1 };
  return { ...place, entity: output, options, mode, schemaPolicy, keys: mode === "merge" ? ["id"] : [], attempt };
}
