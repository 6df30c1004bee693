import type { Schema } from "../../../util/arrow.ts";
import { ConnectorError, type OutputSpec, type WriteResult } from "../../contract/mod.ts";
import type { ConnectorHost, Sink, WriteSession } from "../../sdk/connector.ts";
import { ATTEMPTS_TABLE, ensureAttempts, recordAttempt } from "./attempts.ts";
import type { PostgresConfig } from "./config.ts";
import { ident, qualified, type TableName, tableOf } from "./name.ts";
import { PgSession } from "./session.ts";
import { ensureTarget, type Target } from "./target.ts";
import { toTrouble } from "./trouble.ts";
import { LandedWrite, TableWrite } from "./table_write.ts";

/** Writes to tables: one transaction from begin to commit, so that an aborted write leaves nothing. */
export class PostgresSink implements Sink {
  readonly abortSemantics = "discards_all";
  readonly #config: PostgresConfig;
  readonly #host: ConnectorHost;

  constructor(config: PostgresConfig, host: ConnectorHost) {
    this.#config = config;
    this.#host = host;
  }

  async begin(spec: OutputSpec, schema: Schema, signal: AbortSignal): Promise<WriteSession> {
    const table = targetTable(spec);
    const doing = `Writing "${table.schema}.${table.table}"`;
    const stop = new AbortController();
    const abort = () => stop.abort(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    let session: PgSession | undefined;
    try {
      signal.throwIfAborted();
      session = await PgSession.connect(this.#config, stop.signal);
      return await this.#begin(session, stop, { spec, table, schema, doing });
    } catch (error) {
      await session?.[Symbol.asyncDispose]();
      if (signal.aborted) throw signal.reason;
      throw toTrouble(error, doing);
    } finally {
      signal.removeEventListener("abort", abort);
    }
  }

  async #begin(
    session: PgSession,
    stop: AbortController,
    { spec, table, schema, doing }: {
      readonly spec: OutputSpec;
      readonly table: TableName;
      readonly schema: Schema;
      readonly doing: string;
    },
  ): Promise<WriteSession> {
    const isMarked = spec.mode === "append" && await this.#canMark(session, table);
    await session.begin("write");
    if (isMarked) {
      const landed: WriteResult | undefined = await recordAttempt(session, table, spec.attempt);
      if (landed !== undefined) {
        await session[Symbol.asyncDispose]();
        this.#host.log("info", `${doing}: an earlier attempt has landed already`);
        return new LandedWrite(landed);
      }
    }
    const target = await ensureTarget(session, table, spec, schema);
    const into = await this.#copyTarget(session, spec, target);
    const columns = target.columns.map(({ name }) => ident(name)).join(", ");
    const copy = await session.copyIn(`COPY ${into} (${columns}) FROM STDIN (FORMAT binary)`);
    return new TableWrite({ session, stop, copy, target, into, spec, isMarked, doing });
  }

  /** Rows go straight into the table where all that is there stays or nothing is there; else beside it first. */
  async #copyTarget(session: PgSession, { mode }: OutputSpec, target: Target): Promise<string> {
    const table = qualified(target.table);
    if (mode === "append" || (mode === "replace" && target.isNew)) return table;
    const beside = `pg_temp.${ident(`pz_tmp_${crypto.randomUUID().slice(0, 8)}`)}`;
    const columns = target.columns.map(({ name }) => ident(name)).join(", ");
    await session.query(
      `CREATE TEMP TABLE ${
        beside.slice("pg_temp.".length)
      } ON COMMIT DROP AS SELECT ${columns} FROM ${table} WITH NO DATA`,
    );
    return beside;
  }

  async #canMark(session: PgSession, table: TableName): Promise<boolean> {
    if (await ensureAttempts(session, table)) return true;
    this.#host.notice(
      `The role of the connection may not use "${table.schema}.${ATTEMPTS_TABLE}": whether an append landed whose ` +
        "commit was interrupted can't be told",
    );
    return false;
  }
}

function targetTable(spec: OutputSpec): TableName {
  const { table, problems: [problem] } = tableOf(spec.entity);
  if (table === undefined || problem !== undefined) {
    throw new ConnectorError(problem?.message ?? `Entity "${spec.entity}" is no name of a table`, {
      transient: false,
      code: problem?.code,
      hint: problem?.hint,
    });
  }
  if (table.table === ATTEMPTS_TABLE) {
    throw new ConnectorError(`"${ATTEMPTS_TABLE}" is the connector's own table`, {
      transient: false,
      code: "PZ0301",
      hint: "write to another table",
    });
  }
  if (/^(?:pg_|information_schema$)/.test(table.schema)) {
    throw new ConnectorError(`The schema "${table.schema}" is the server's own, and what stands there may not last`, {
      transient: false,
      code: "PZ0301",
      hint: "write to a table of another schema",
    });
  }
  if (spec.schemaPolicy === "evolve") {
    throw new ConnectorError(`schema_policy "evolve" is not supported by connector 'postgres'`, {
      transient: false,
      code: "PZ0301",
      hint: "use fail_on_change, and change the table yourself",
    });
  }
  return table;
}
