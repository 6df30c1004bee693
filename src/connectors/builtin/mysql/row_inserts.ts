import type { RecordBatch } from "../../../util/arrow.ts";
import { ConnectorError } from "../../contract/mod.ts";
import { columnReader } from "../../sdk/mod.ts";
import { BadValue, refusedValue } from "../shared/bad_value.ts";
import { statementPayload } from "./commands.ts";
import { encoder, type Put } from "./encode.ts";
import { ident } from "./name.ts";
import type { MysqlSession } from "./session.ts";
import { SqlWriter } from "./sql_writer.ts";
import type { TargetColumn } from "./target.ts";
import { newColumnType } from "./write_types.ts";

/** Statements of about this size: longer ones gain little. */
const STATEMENT_BYTES = 1024 * 1024;
/** What the server counts besides the statement. */
const PACKET_MARGIN = 1024;
const OPEN = 0x28;
const CLOSE = 0x29;
const COMMA = 0x2c;

/** Inserts rows into one table by statements of many rows each. */
export class RowInserts {
  readonly #session: MysqlSession;
  readonly #columns: readonly TargetColumn[];
  readonly #start: string;
  readonly #mostBytes: number;
  readonly #isNumbered: boolean;
  readonly #writer = new SqlWriter();
  #rows = 0n;
  #inStatement = 0n;

  /** With `number`, the name of a column, each row gets its number there. */
  constructor(session: MysqlSession, { table, columns, maxPacket, number }: {
    readonly table: string;
    readonly columns: readonly TargetColumn[];
    readonly maxPacket: number;
    readonly number?: string;
  }) {
    this.#session = session;
    this.#columns = columns;
    this.#mostBytes = maxPacket - PACKET_MARGIN;
    this.#isNumbered = number !== undefined;
    const names = [...columns.map(({ name }) => name), ...(number === undefined ? [] : [number])];
    this.#start = `INSERT INTO ${ident(table)} (${names.map(ident).join(", ")}) VALUES `;
  }

  /** Rows so far. */
  get rows(): bigint {
    return this.#rows;
  }

  /** Sends the rows of a batch, all of them. */
  async write(batch: RecordBatch): Promise<void> {
    const puts = this.#encoders(batch);
    const { numRows } = batch;
    const writer = this.#writer;
    for (let row = 0; row < numRows; row++) {
      if (writer.size === 0) writer.sql(this.#start);
      const before = writer.size;
      if (this.#inStatement > 0n) writer.byte(COMMA);
      this.#putRow(puts, row);
      if (writer.size > this.#mostBytes) await this.#flushLarge(before);
      else this.#inStatement++;
      if (writer.size >= STATEMENT_BYTES) await this.#flush();
    }
    await this.#flush();
    this.#rows += BigInt(numRows);
  }

  #putRow(puts: readonly Put[], row: number): void {
    const writer = this.#writer;
    writer.byte(OPEN);
    for (let column = 0; column < puts.length; column++) {
      if (column > 0) writer.byte(COMMA);
      try {
        puts[column]?.(row, writer);
      } catch (error) {
        throw this.#explain(error, column, row);
      }
    }
    if (this.#isNumbered) {
      writer.byte(COMMA);
      writer.ascii(String(this.#rows + BigInt(row)));
    }
    writer.byte(CLOSE);
  }

  #encoders(batch: RecordBatch): readonly Put[] {
    return this.#columns.map(({ field, type }, index) => {
      const data = batch.data.children[index];
      if (data === undefined) throw new TypeError("a batch with fewer columns than its schema");
      return encoder(columnReader(field, data), type);
    });
  }

  #explain(error: unknown, column: number, row: number): unknown {
    const target = this.#columns[column];
    if (!(error instanceof BadValue) || target === undefined) return error;
    const type = newColumnType(target.field, { facts: { isMariaDb: this.#session.isMariaDb, hasUuid: false } });
    return refusedValue(error, { column: target.name, row: this.#rows + BigInt(row + 1), type });
  }

  /** The last row made the statement too long for the server: it goes into one of its own. */
  async #flushLarge(before: number): Promise<void> {
    const writer = this.#writer;
    if (this.#inStatement > 0n) {
      const statement = writer.take(before);
      const row = writer.text().slice(1); // without its comma
      writer.clear();
      await this.#send(statement);
      writer.sql(this.#start);
      writer.raw(row);
    }
    this.#inStatement = 1n;
    if (writer.size > this.#mostBytes) {
      throw new ConnectorError(
        `A row takes ${writer.size} bytes as a statement, and the server takes at most ${this.#mostBytes}`,
        { transient: false, hint: "raise max_allowed_packet of the server" },
      );
    }
  }

  async #flush(): Promise<void> {
    if (this.#inStatement === 0n) return this.#writer.clear();
    await this.#send(this.#writer.take());
  }

  async #send(statement: Uint8Array): Promise<void> {
    const sent = this.#inStatement;
    this.#inStatement = 0n;
    const inserted = await this.#session.change(statementPayload(statement));
    if (inserted === sent) return;
    throw new ConnectorError(`The server took ${inserted} of ${sent} rows`, { transient: false });
  }
}
