import type { Schema } from "../../../util/arrow.ts";
import { ConnectorError, type OutputSpec } from "../../contract/mod.ts";
import { namedTable, ownTable, refuseEvolve } from "../shared/output_table.ts";
import type { ConnectorHost, Sink, WriteSession } from "../../sdk/connector.ts";
import { LandedWrite } from "../shared/landed_write.ts";
import { ATTEMPTS_TABLE, claimAttempt, ensureAttempts } from "./attempts.ts";
import { CheckpointedWrite } from "./checkpointed_write.ts";
import type { PostgresConfig } from "./config.ts";
import { ident, qualified, type TableName, tableOf } from "./name.ts";
import { copyInto } from "./row_copy.ts";
import { PgSession } from "./session.ts";
import { ensureTarget, type Target, type TargetColumn } from "./target.ts";
import { toTrouble } from "./trouble.ts";
import { TableWrite } from "./table_write.ts";
import { TEXTS } from "./write_types.ts";

/** Writes to tables: one transaction from begin to commit, so that an aborted write leaves nothing. */
export class PostgresSink implements Sink {
  readonly abortSemantics = "discards_all";
  readonly #config: PostgresConfig;
  readonly #host: ConnectorHost;

  constructor(config: PostgresConfig, host: ConnectorHost) {
    this.#config = config;
    this.#host = host;
  }

  async begin(
    spec: OutputSpec,
    schema: Schema,
    signal: AbortSignal,
    acknowledge?: (rows: bigint) => Promise<void>,
  ): Promise<WriteSession> {
    const table = targetTable(spec);
    const doing = `Writing "${table.schema}.${table.table}"`;
    const stop = new AbortController();
    const abort = () => stop.abort(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    let session: PgSession | undefined;
    try {
      signal.throwIfAborted();
      session = await PgSession.connect(this.#config, stop.signal);
      return await this.#begin(session, stop, { spec, table, schema, doing, acknowledge });
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
    { spec, table, schema, doing, acknowledge }: {
      readonly spec: OutputSpec;
      readonly table: TableName;
      readonly schema: Schema;
      readonly doing: string;
      readonly acknowledge: ((rows: bigint) => Promise<void>) | undefined;
    },
  ): Promise<WriteSession> {
    const isMarked = spec.mode === "append" && await this.#canMark(session, table);
    await session.begin("write");
    if (isMarked) {
      const claim = await claimAttempt(session, table, spec.attempt);
      if ("landed" in claim) {
        await session[Symbol.asyncDispose]();
        this.#host.log("info", `${doing}: an earlier attempt has landed already`);
        return new LandedWrite(claim.landed);
      }
      // Also where checkpoints were asked for before and are not any more.
      if (spec.checkpointRows !== undefined || claim.rows > 0n) {
        const every = spec.checkpointRows ?? Infinity;
        return await CheckpointedWrite.begin({
          session,
          stop,
          table,
          spec,
          schema,
          doing,
          every,
          acknowledge,
          committed: claim.rows,
        });
      }
    }
    const target = await ensureTarget(session, table, spec, schema);
    const into = await this.#copyTarget(session, spec, target);
    const copy = await copyInto(session, into, target);
    return new TableWrite({ session, stop, copy, target, into, spec, isMarked, doing });
  }

  /** Rows go straight into the table where all that is there stays or nothing is there; else beside it first. */
  async #copyTarget(session: PgSession, { mode }: OutputSpec, target: Target): Promise<string> {
    const table = qualified(target.table);
    if (mode === "append" || (mode === "replace" && target.isNew)) return table;
    const beside = `pg_temp.${ident(`pz_tmp_${crypto.randomUUID().slice(0, 8)}`)}`;
    const columns = target.columns.map((column) => besideColumn(column, target.keys)).join(", ");
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

/** Keys are compared as DuckDB does, texts by their bytes: no two of them may become one before they are told apart. */
function besideColumn({ name, type }: TargetColumn, keys: readonly string[]): string {
  return keys.includes(name) && TEXTS.includes(type.name)
    ? `${ident(name)}::text COLLATE "C" AS ${ident(name)}`
    : ident(name);
}

function targetTable(spec: OutputSpec): TableName {
  const table = namedTable(spec, tableOf(spec.entity));
  if (table.table === ATTEMPTS_TABLE) throw ownTable(ATTEMPTS_TABLE);
  if (/^(?:pg_|information_schema$)/.test(table.schema)) {
    throw new ConnectorError(`The schema "${table.schema}" is the server's own, and what stands there may not last`, {
      transient: false,
      code: "PZ0301",
      hint: "write to a table of another schema",
    });
  }
  refuseEvolve(spec, "postgres");
  return table;
}
