import type { Schema } from "../../../util/arrow.ts";
import { ConnectorError, type OutputSpec, type WriteResult } from "../../contract/mod.ts";
import { namedTable, ownTable, refuseEvolve } from "../shared/output_table.ts";
import type { ConnectorHost, Sink, WriteSession } from "../../sdk/connector.ts";
import { LandedWrite } from "../shared/landed_write.ts";
import { ATTEMPTS_TABLE, ensureAttempts, recordAttempt } from "./attempts.ts";
import type { MysqlConfig } from "./config.ts";
import { ident, literal, tableOf } from "./name.ts";
import { RowInserts } from "./row_inserts.ts";
import { MysqlSession } from "./session.ts";
import { TableWrite } from "./table_write.ts";
import {
  createTable,
  describeTarget,
  keyFields,
  mismatch,
  refuseNames,
  type Standing,
  standingAt,
  type Target,
} from "./target.ts";
import { takeBack } from "./take_back.ts";
import { toTrouble } from "./trouble.ts";
import { directWay, mergeWay, swapWay, type Way } from "./ways.ts";
import type { ServerFacts } from "./write_types.ts";

type Request = {
  readonly spec: OutputSpec;
  readonly table: string;
  readonly schema: Schema;
  readonly facts: ServerFacts;
};

/**
 * Writes to tables. An aborted write leaves no row; the server commits every CREATE TABLE at once, so one that is killed may
 * leave a new table without rows, or a table beside the target that the next write of that target drops.
 */
export class MysqlSink implements Sink {
  readonly abortSemantics = "discards_all";
  readonly #config: MysqlConfig;
  readonly #host: ConnectorHost;

  constructor(config: MysqlConfig, host: ConnectorHost) {
    this.#config = config;
    this.#host = host;
  }

  async begin(spec: OutputSpec, schema: Schema, signal: AbortSignal): Promise<WriteSession> {
    const table = targetTable(spec);
    refuseNames(schema);
    const doing = `Writing "${table}"`;
    const stop = new AbortController();
    const abort = () => stop.abort(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    let session: MysqlSession | undefined;
    try {
      signal.throwIfAborted();
      session = await MysqlSession.connect(this.#config, "write", stop.signal);
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
    session: MysqlSession,
    stop: AbortController,
    { doing, ...given }: Omit<Request, "facts"> & { readonly doing: string },
  ): Promise<WriteSession> {
    const { spec } = given;
    const isMarked = spec.mode === "append" && await this.#canMark(session);
    const [row] = await session.query("SELECT @@max_allowed_packet, VERSION()");
    const request = { ...given, facts: factsOf(session, row?.[1] ?? "") };
    const { target, way } = await this.#wayOf(session, request);
    let isBegun = false;
    try {
      await way.begin();
      const landed: WriteResult | undefined = isMarked ? await recordAttempt(session, spec.attempt) : undefined;
      if (landed !== undefined) {
        await session[Symbol.asyncDispose]();
        this.#host.log("info", `${doing}: an earlier attempt has landed already`);
        return new LandedWrite(landed);
      }
      isBegun = true;
    } finally {
      if (!isBegun) await takeBack(way, session, this.#config);
    }
    const inserts = new RowInserts(session, {
      table: way.into,
      columns: target.columns,
      maxPacket: Number(row?.[0]),
      ...(way.number === undefined ? {} : { number: way.number }),
    });
    return new TableWrite({ config: this.#config, session, stop, way, inserts, spec, isMarked, doing });
  }

  async #wayOf(session: MysqlSession, request: Request): Promise<{ readonly target: Target; readonly way: Way }> {
    const { spec, table, schema, facts } = request;
    const keys = keyFields(schema, spec);
    const shape = { schema, keys, facts };
    const standing = await standingAt(session, table);
    if (standing.kind === "other") {
      throw mismatch(table, "it is no table", "name a table, or a name that nothing has yet");
    }
    const isNew = standing.kind === "nothing";
    if (spec.mode === "replace") {
      return isNew
        ? await this.#replaceNothing(session, request)
        : await this.#replaceTable(session, request, standing);
    }
    if (!standing.isTransactional) throw withoutTransactions(table, standing.engine);
    if (isNew) await createTable(session, table, shape);
    try {
      const target = await describeTarget(session, table, shape);
      if (!isNew) this.#tellInstants(target);
      if (spec.mode === "merge") return { target, way: await mergeWay(session, target, isNew) };
      return { target, way: directWay(session, table, { isNew, empty: false }) };
    } catch (error) {
      if (isNew) await takeBack(directWay(session, table, { isNew, empty: false }), session, this.#config);
      throw error;
    }
  }

  async #replaceTable(
    session: MysqlSession,
    { table, schema, facts }: Request,
    { engine, isTransactional }: Standing,
  ): Promise<{ readonly target: Target; readonly way: Way }> {
    const target = await describeTarget(session, table, { schema, keys: [], facts });
    this.#tellInstants(target);
    const { isBound, referrer } = await bondsOf(session, table);
    if (referrer !== undefined) {
      throw mismatch(
        table,
        `it can't be replaced, since foreign keys of "${referrer}" refer to it`,
        "use the strategy merge, or drop the foreign keys",
      );
    }
    if (isBound && !isTransactional) throw withoutTransactions(table, engine);
    if (isBound) return { target, way: directWay(session, table, { isNew: false, empty: true }) };
    return await this.#swap(session, table, async (name) => {
      await session.query(`CREATE TABLE ${ident(name)} LIKE ${ident(table)}`);
      return target;
    });
  }

  async #replaceNothing(
    session: MysqlSession,
    { table, schema, facts }: Request,
  ): Promise<{ readonly target: Target; readonly way: Way }> {
    const shape = { schema, keys: [], facts };
    return await this.#swap(session, table, async (name) => {
      await createTable(session, name, shape);
      return await describeTarget(session, name, shape);
    });
  }

  async #swap(
    session: MysqlSession,
    table: string,
    make: (name: string) => Promise<Target>,
  ): Promise<{ readonly target: Target; readonly way: Way }> {
    const way = await swapWay(session, table);
    try {
      return { target: await make(way.into), way };
    } catch (error) {
      await takeBack(way, session, this.#config);
      throw error;
    }
  }

  /** A datetime has no time zone; what stands there afterwards is the time in UTC. */
  #tellInstants({ table, columns }: Target): void {
    for (const { name, type, field } of columns) {
      if (type.name !== "datetime" || !("timezone" in field.type) || typeof field.type.timezone !== "string") continue;
      this.#host.notice(`Table "${table}": column "${name}" is ${type.spelled}, and gets the times in UTC`);
    }
  }

  async #canMark(session: MysqlSession): Promise<boolean> {
    if (await ensureAttempts(session)) return true;
    this.#host.notice(
      `The user of the connection may not use "${ATTEMPTS_TABLE}": whether an append landed whose commit was interrupted ` +
        "can't be told",
    );
    return false;
  }
}

function withoutTransactions(table: string, engine: string): ConnectorError {
  return mismatch(
    table,
    `its engine ${engine} has no transactions, so that a failed write would leave a part of the rows`,
    `run: ALTER TABLE ${ident(table)} ENGINE=InnoDB, or use the strategy replace`,
  );
}

function factsOf(session: MysqlSession, version: string): ServerFacts {
  const [, major = "0", minor = "0"] = /^(\d+)\.(\d+)/.exec(version) ?? [];
  const { isMariaDb } = session;
  return { isMariaDb, hasUuid: isMariaDb && Number(major) * 100 + Number(minor) >= 1007 };
}

/** What would be lost if another table took the place of this one: triggers, its own foreign keys, and those of others. */
async function bondsOf(
  session: MysqlSession,
  table: string,
): Promise<{ readonly isBound: boolean; readonly referrer: string | undefined }> {
  const name = literal(table);
  const [row] = await session.query(
    "SELECT (SELECT COUNT(*) FROM information_schema.TRIGGERS WHERE EVENT_OBJECT_SCHEMA = DATABASE() " +
      `AND EVENT_OBJECT_TABLE = ${name}) + (SELECT COUNT(*) FROM information_schema.REFERENTIAL_CONSTRAINTS ` +
      `WHERE CONSTRAINT_SCHEMA = DATABASE() AND TABLE_NAME = ${name}), ` +
      "(SELECT MIN(TABLE_NAME) FROM information_schema.REFERENTIAL_CONSTRAINTS " +
      `WHERE UNIQUE_CONSTRAINT_SCHEMA = DATABASE() AND REFERENCED_TABLE_NAME = ${name} AND TABLE_NAME <> ${name})`,
  );
  return { isBound: row?.[0] !== "0", referrer: row?.[1] ?? undefined };
}

function targetTable(spec: OutputSpec): string {
  const table = namedTable(spec, tableOf(spec.entity));
  if (table.toLowerCase() === ATTEMPTS_TABLE) throw ownTable(ATTEMPTS_TABLE);
  refuseEvolve(spec, "mysql");
  return table;
}
