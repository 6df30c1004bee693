import assert from "node:assert/strict";
import { DuckDBInstance } from "@duckdb/node-api";

/** A DuckDB of the tests' own, in memory, which shares no code with pz. */
export class Duck implements Disposable {
  private constructor(
    private readonly instance: DuckDBInstance,
    private readonly connection: Awaited<ReturnType<DuckDBInstance["connect"]>>,
  ) {}

  static async open(): Promise<Duck> {
    const instance = await DuckDBInstance.create(":memory:", { threads: "2", autoinstall_known_extensions: "false" });
    const connection = await instance.connect();
    await connection.run("SET TimeZone = 'UTC'");
    return new Duck(instance, connection);
  }

  async run(sql: string): Promise<void> {
    await this.connection.run(sql);
  }

  /** Every value as DuckDB's own text, NULL as null. */
  async rows(sql: string): Promise<(string | null)[][]> {
    const reader = await this.connection.runAndReadAll(
      `SELECT COLUMNS(*)::VARCHAR FROM (${sql})`,
    );
    return reader.getRows().map((row) => row.map((value) => value === null ? null : String(value)));
  }

  /** Names and types of a query's columns. */
  async shape(sql: string): Promise<string[]> {
    return (await this.rows(`SELECT column_name || ' ' || column_type FROM (DESCRIBE ${sql})`)).map(([text]) =>
      text ?? ""
    );
  }

  /** Asserts that two queries have the same columns and types and the same rows, each as often, in whatever order. */
  async assertSame(actual: string, expected: string): Promise<void> {
    assert.deepEqual(await this.shape(actual), await this.shape(expected));
    const missing = await this.rows(`(${expected}) EXCEPT ALL (${actual})`);
    const extra = await this.rows(`(${actual}) EXCEPT ALL (${expected})`);
    assert.deepEqual({ missing, extra }, { missing: [], extra: [] });
  }

  [Symbol.dispose](): void {
    this.connection.closeSync();
    this.instance.closeSync();
  }
}
