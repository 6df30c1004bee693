import { type DuckDbConnection, DuckDbError } from "../duckdb/mod.ts";
import type { ColumnContract } from "../project/mod.ts";
import { contractDdl } from "./contract_types.ts";

/** DuckDB's texts of the types of contracts. It asks DuckDB once for each type. */
export class ContractTypes {
  readonly #connection: DuckDbConnection;
  readonly #known = new Map<string, string | undefined>();

  constructor(connection: DuckDbConnection) {
    this.#connection = connection;
  }

  /** The columns of a contract with DuckDB's own text of their types, and those whose type DuckDB does not know. */
  async columns(
    contract: readonly ColumnContract[],
  ): Promise<{ readonly columns: readonly ColumnContract[]; readonly unknown: readonly ColumnContract[] }> {
    const columns: ColumnContract[] = [];
    const unknown: ColumnContract[] = [];
    for (const column of contract) {
      const type = await this.#resolve(contractDdl(column.type));
      if (type === undefined) unknown.push(column);
      else columns.push({ name: column.name, type });
    }
    return { columns, unknown };
  }

  async #resolve(type: string): Promise<string | undefined> {
    if (!this.#known.has(type)) this.#known.set(type, await resolveType(this.#connection, type));
    return this.#known.get(type);
  }
}

/** DuckDB's text of a type, or undefined where the text is anything but one type. */
async function resolveType(connection: DuckDbConnection, type: string): Promise<string | undefined> {
  // The line end keeps a comment in the type from hiding the bracket.
  const sql = `SELECT CAST(NULL AS ${type}\n)`;
  try {
    if (await connection.statementCount(sql) !== 1 || !isPlainCast(await connection.serializeSql(sql))) {
      return undefined;
    }
    return (await connection.prepare(sql)).columns[0]?.type;
  } catch (error) {
    if (error instanceof DuckDbError) return undefined;
    throw error;
  }
}

/** Whether a tree is `SELECT CAST(NULL AS …)` and nothing else. */
function isPlainCast(tree: unknown): boolean {
  const node = at(tree, "statements", 0, "node");
  const list = at(node, "select_list");
  const child = at(list, 0, "child");
  return Array.isArray(list) && list.length === 1 && at(list, 0, "class") === "CAST" &&
    at(child, "class") === "CONSTANT" && at(node, "from_table", "type") === "EMPTY" &&
    at(node, "where_clause") === null;
}

/** A member of nested objects and lists; undefined where there is none. */
function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  for (const key of path) {
    if (typeof value !== "object" || value === null) return undefined;
    value = Object.hasOwn(value, key) ? Object.entries(value).find(([name]) => name === String(key))?.[1] : undefined;
  }
  return value;
}
