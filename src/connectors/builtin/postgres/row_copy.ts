import type { Data, RecordBatch } from "../../../util/arrow.ts";
import { ConnectorError } from "../../contract/mod.ts";
import { BadValue, refusedValue } from "./bad_value.ts";
import type { CopyIn } from "./copy_in.ts";
import { CopyWriter } from "./copy_writer.ts";
import { encoder } from "./encode.ts";
import type { Put } from "./encode_parts.ts";
import { ident } from "./name.ts";
import type { PgSession } from "./session.ts";
import type { Target, TargetColumn } from "./target.ts";
import { newColumnType } from "./write_types.ts";

/** Rows of batches on their way into one COPY. */
export class RowCopy {
  readonly #copy: CopyIn;
  readonly #columns: readonly TargetColumn[];
  readonly #writer = new CopyWriter();
  #sent: Uint8Array<ArrayBuffer> | undefined;
  readonly #before: bigint;
  #rows = 0n;

  /** @param before how many rows of the same write went before, by other COPYs */
  constructor(copy: CopyIn, columns: readonly TargetColumn[], before: bigint) {
    this.#copy = copy;
    this.#before = before;
    this.#columns = columns;
  }

  /** How many rows were sent. */
  get rows(): bigint {
    return this.#rows;
  }

  /** Sends the rows of a batch from `from` up to `to`. */
  async send(batch: RecordBatch, from: number, to: number): Promise<void> {
    const puts = this.#encoders(batch);
    const writer = this.#writer;
    for (let row = from; row < to; row++) {
      writer.row(puts.length);
      for (let column = 0; column < puts.length; column++) this.#put(puts, column, row, from);
      if (writer.isFull) await this.#flush();
    }
    await this.#flush();
    this.#rows += BigInt(to - from);
  }

  /** Ends the COPY; the server has taken every row then. */
  async finish(doing: string): Promise<void> {
    this.#writer.end();
    await this.#flush();
    const taken = await this.#copy.finish();
    if (taken === this.#rows) return;
    throw new ConnectorError(`${doing} failed: the server took ${taken} of ${this.#rows} rows`, { transient: false });
  }

  /** Makes the server throw the rows away. */
  async fail(): Promise<void> {
    await this.#copy.fail();
  }

  #encoders(batch: RecordBatch): readonly Put[] {
    return this.#columns.map(({ field, type }, index) => {
      const data: Data | undefined = batch.data.children[index];
      if (data === undefined) throw new TypeError("a batch with fewer columns than its schema");
      return encoder(field, data, type);
    });
  }

  #put(puts: readonly Put[], column: number, row: number, from: number): void {
    try {
      puts[column]?.(row, this.#writer);
    } catch (error) {
      if (!(error instanceof BadValue)) throw error;
      const { name = "", field } = this.#columns[column] ?? {};
      throw refusedValue(error, {
        column: name,
        row: this.#before + this.#rows + BigInt(row - from + 1),
        type: field === undefined ? undefined : newColumnType(field),
      });
    }
  }

  async #flush(): Promise<void> {
    const piece = this.#writer.take();
    if (piece === undefined) return;
    await this.#copy.send(piece);
    // By now the one before is on its way.
    if (this.#sent !== undefined) this.#writer.reuse(this.#sent);
    this.#sent = piece;
  }
}

/** Starts a COPY of a target's columns, after so many rows of the same write. */
export async function copyInto(
  session: PgSession,
  into: string,
  { columns }: Target,
  before: bigint = 0n,
): Promise<RowCopy> {
  const names = columns.map(({ name }) => ident(name)).join(", ");
  return new RowCopy(await session.copyIn(`COPY ${into} (${names}) FROM STDIN (FORMAT binary)`), columns, before);
}
