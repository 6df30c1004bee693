import type { Schema } from "../../../util/arrow.ts";
import type { OutputSpec } from "../../contract/mod.ts";
import { namedTable, ownTable, refuseEvolve } from "../shared/output_table.ts";
import type { ConnectorHost, Sink, WriteSession } from "../../sdk/mod.ts";
import { LandedWrite } from "../shared/landed_write.ts";
import { ATTEMPTS_TABLE, landedAttempt } from "./attempts.ts";
import { Database } from "./database.ts";
import { ident, tableOf } from "./name.ts";
import { rollBack, TableWrite } from "./table_write.ts";
import { ensureTarget, newColumns } from "./target.ts";
import { toTrouble } from "./trouble.ts";

/**
 * Writes to tables: one transaction from begin to commit, so that an aborted write leaves nothing but, where there was no
 * file, an empty one: another program may have begun to write to it.
 */
export class SqliteSink implements Sink {
  readonly abortSemantics = "discards_all";
  readonly #path: string;
  readonly #host: ConnectorHost;
  /** Settles when the write that began last has ended: SQLite takes one at a time, and waiting for a lock would block this thread. */
  #last: Promise<void> = Promise.resolve();

  constructor(path: string, host: ConnectorHost) {
    this.#path = path;
    this.#host = host;
  }

  async begin(spec: OutputSpec, schema: Schema, signal: AbortSignal): Promise<WriteSession> {
    const table = targetTable(spec);
    const doing = `Writing "${table}"`;
    const ended = Promise.withResolvers<void>();
    const before = this.#last;
    this.#last = before.then(() => ended.promise);
    let database: Database | undefined;
    const release = () => {
      database?.[Symbol.dispose]();
      ended.resolve();
    };
    try {
      await Promise.race([before, aborted(signal)]);
      signal.throwIfAborted();
      if (!exists(this.#path)) newColumns(schema); // nothing is made for rows that no table can hold
      database = new Database(this.#path, "write");
      database.run("BEGIN IMMEDIATE");
      const landed = spec.mode === "append" ? landedAttempt(database, spec.attempt) : undefined;
      if (landed !== undefined) {
        rollBack(database);
        release();
        this.#host.log("info", `${doing}: an earlier attempt has landed already`);
        return new LandedWrite(landed);
      }
      const target = ensureTarget(database, table, spec, schema);
      if (spec.mode === "replace") database.run(`DELETE FROM ${ident(table)}`);
      return new TableWrite({ database, target, spec, doing, release });
    } catch (error) {
      if (database !== undefined) rollBack(database);
      release();
      if (signal.aborted) throw signal.reason;
      throw toTrouble(error, doing);
    }
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

function exists(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}

function targetTable(spec: OutputSpec): string {
  const table = namedTable(spec, tableOf(spec.entity));
  if (table.toLowerCase() === ATTEMPTS_TABLE) throw ownTable(ATTEMPTS_TABLE);
  refuseEvolve(spec, "sqlite");
  return table;
}
