import { DatabaseSync } from "node:sqlite";
import { connector } from "../../src/connectors/builtin/sqlite/connector.ts";
import type { ConfigMap, DatasetSpec, ReadHints } from "../../src/connectors/mod.ts";
import { TempDir } from "../harness/temp_dir.ts";
import { OpenedConnector } from "./database_support.ts";

/** A database file of a test's own. */
export class TestDatabase implements AsyncDisposable {
  readonly #folder: TempDir;
  readonly path: string;

  private constructor(folder: TempDir) {
    this.#folder = folder;
    this.path = folder.join("test.db");
  }

  static async create(sql = ""): Promise<TestDatabase> {
    const database = new TestDatabase(await TempDir.create());
    if (sql !== "") database.run(sql);
    return database;
  }

  get folder(): string {
    return this.#folder.path;
  }

  run(sql: string): void {
    const database = new DatabaseSync(this.path);
    try {
      database.exec(sql);
    } finally {
      database.close();
    }
  }

  /** Rows as SQLite's texts, NULL as null. */
  rows(sql: string): (string | null)[][] {
    const database = new DatabaseSync(this.path);
    try {
      const statement = database.prepare(sql);
      statement.setReturnArrays(true);
      statement.setReadBigInts(true);
      const rows: unknown = statement.all();
      if (!Array.isArray(rows)) throw new Error("no rows");
      return rows.map((row: readonly unknown[]) => row.map((value) => value === null ? null : String(value)));
    } finally {
      database.close();
    }
  }

  open(): OpenedConnector {
    return new OpenedConnector(connector, { path: this.path });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#folder[Symbol.asyncDispose]();
  }
}

export function dataset(entity: string, options: ConfigMap = {}, hints?: ReadHints): DatasetSpec {
  return { connection: "lite", entity, config: {}, options, ...(hints === undefined ? {} : { hints }) };
}
