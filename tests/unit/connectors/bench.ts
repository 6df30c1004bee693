import assert from "node:assert/strict";
import { dirname } from "node:path";
import {
  type ConfigMap,
  type ConfigProblem,
  type ConnectorDescription,
  type DatasetSpec,
  findConnector,
  type NativeCopy,
  type NativeScan,
  type OutputSpec,
} from "../../../src/connectors/mod.ts";
import { type DuckDbConnection, openDuckDb } from "../../../src/duckdb/mod.ts";
import { TempDir } from "../../harness/temp_dir.ts";

/** A project folder with a DuckDB that may touch nothing else, and the connector under test. */
export class Bench implements AsyncDisposable {
  private constructor(
    readonly dir: TempDir,
    readonly connection: DuckDbConnection,
    private readonly database: AsyncDisposable,
    private readonly connector: ConnectorDescription,
  ) {}

  /** `more` are patterns of folders that DuckDB may open besides, below the project's own. */
  static async open(connectorName = "localfiles", more: readonly string[] = []): Promise<Bench> {
    const connector = findConnector(connectorName);
    assert.ok(connector !== undefined && connector !== "planned");
    const dir = await TempDir.create();
    const database = await openDuckDb({
      threads: 2,
      allowedPaths: { files: [], folders: [dir.path, ...more.map((name) => dir.join(name))] },
    });
    return new Bench(dir, await database.connect(), database, connector);
  }

  scan(
    entity: string,
    options: ConfigMap = {},
    columns?: { readonly [name: string]: string },
    config: ConfigMap = {},
  ): NativeScan {
    const outcome = this.tryScan(entity, options, columns, config);
    assert.deepEqual(outcome, []);
    const native = this.connector.nativeScan(spec(entity, options, columns, config), { projectRoot: this.dir.path });
    assert.ok(native?.ok === true);
    return native.value;
  }

  /** The problems of a scan. */
  tryScan(
    entity: string,
    options: ConfigMap = {},
    columns?: { readonly [name: string]: string },
    config: ConfigMap = {},
  ): readonly ConfigProblem[] {
    const native = this.connector.nativeScan(spec(entity, options, columns, config), { projectRoot: this.dir.path });
    assert.ok(native !== undefined);
    return native.ok ? [] : native.problems;
  }

  /** The rows of a scan, in the order of all their columns. */
  async read(scan: NativeScan): Promise<readonly (readonly (string | null)[])[]> {
    for (const statement of scan.setup) await this.connection.run(statement);
    return await this.connection.rows(`SELECT * FROM ${scan.fragment} ORDER BY ALL`);
  }

  async types(scan: NativeScan): Promise<readonly string[]> {
    const rows = await this.connection.rows(`DESCRIBE SELECT * FROM ${scan.fragment}`);
    return rows.map(([name, type]) => `${name} ${type}`);
  }

  copy(entity: string, options: ConfigMap, more: Partial<OutputSpec> = {}): NativeCopy {
    const native = this.connector.nativeCopy(output(entity, options, more), { projectRoot: this.dir.path });
    assert.ok(native?.ok === true, JSON.stringify(native));
    return native.value;
  }

  /** The problems of a write. */
  tryCopy(entity: string, options: ConfigMap, more: Partial<OutputSpec> = {}): readonly ConfigProblem[] {
    const native = this.connector.nativeCopy(output(entity, options, more), { projectRoot: this.dir.path });
    assert.ok(native !== undefined);
    return native.ok ? [] : native.problems;
  }

  /** Does what the engine does with a copy. */
  async write(copy: NativeCopy, relation: string): Promise<void> {
    for (const statement of copy.setup) await this.connection.run(statement);
    for (const folder of copy.folders) await Deno.mkdir(folder, { recursive: true });
    const columns = (await this.connection.rows(`DESCRIBE SELECT * FROM ${relation}`))
      .map(([name, type]) => ({ name: name ?? "", type: type ?? "" }));
    await this.connection.run(copy.statement(relation, columns));
    for (const { from, to } of copy.moves) {
      await Deno.mkdir(dirname(to), { recursive: true });
      await Deno.rename(from, to);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.database[Symbol.asyncDispose]();
    await this.dir[Symbol.asyncDispose]();
  }
}

function spec(
  entity: string,
  options: ConfigMap,
  columns: { readonly [name: string]: string } | undefined,
  config: ConfigMap,
): DatasetSpec {
  return {
    connection: "files",
    entity,
    config,
    options,
    ...(columns === undefined ? {} : { columns: Object.entries(columns).map(([name, type]) => ({ name, type })) }),
  };
}

function output(entity: string, options: ConfigMap, more: Partial<OutputSpec>): OutputSpec {
  return {
    connection: "files",
    entity,
    config: {},
    options,
    mode: "replace",
    schemaPolicy: "fail_on_change",
    keys: [],
    attempt: { node: "0123456789abcdef", run: "run1", ordinal: 1 },
    ...more,
  };
}

/** Code and message of each problem, and the hint where there is one. */
export function texts(problems: readonly ConfigProblem[]): readonly string[] {
  return problems.map(({ code, message, hint }) => `${code} ${message}${hint === undefined ? "" : ` (${hint})`}`);
}
