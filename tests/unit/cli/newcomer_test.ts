import assert from "node:assert/strict";
import { join } from "node:path";
import { cli, TempFolder } from "./test_io.ts";

type Change = { readonly [path: string]: (text: string) => string };

/** Runs a command line on the sample project with some files changed; gives all that was printed. */
async function mistake(args: readonly string[], change: Change = {}): Promise<string> {
  await using temp = new TempFolder();
  await cli(["init", "shop", "-t", "sample"], { cwd: temp.path });
  const cwd = join(temp.path, "shop");
  for (const [path, edit] of Object.entries(change)) {
    const file = join(cwd, ...path.split("/"));
    await Deno.writeTextFile(file, edit(await Deno.readTextFile(file)));
  }
  const { code, stdout, stderr } = await cli(args, { cwd });
  assert.notEqual(code, 0);
  return `${stderr}${stdout}`;
}

/** The sample with one more connection and a pipeline that writes through it. */
function writeTo(connection: string): Change {
  return {
    "connections.yml": (text) => `${text}\nmart:\n  connector: ${connection.replaceAll(", ", "\n  ")}\n`,
    "pipelines/product_catalog.sql": (text) => text.replace(/sink\([^)]*\)/, "sink('mart', 't')"),
  };
}

for (
  const { title, args, change, told } of [
    {
      title: "a connection string in place of host and database",
      args: ["plan"],
      change: writeTo("postgres, url: postgres://me:hunter2-hunter2@db/mart"),
      told: /option 'url' .* hint: give host, port, database, user and password one by one$/m,
    },
    {
      title: "names that other tools have for user and database",
      args: ["plan"],
      change: writeTo("postgres, host: db, dbname: x, username: me"),
      told: /'dbname' .* did you mean 'database'\?\n.*'username' .* did you mean 'user'\?/,
    },
    {
      title: "a schema as an option of the connection",
      args: ["plan"],
      change: writeTo("postgres, host: db, database: x, user: me, schema: sales"),
      told: /'schema' .* hint: name it in the entity, as in 'sales\.orders'$/m,
    },
    {
      title: "a DuckDB file by another name",
      args: ["plan"],
      change: writeTo("duckdb, database: shop.db"),
      told: /'database' .* hint: did you mean 'path'\?$/m,
    },
    {
      title: "a home folder as in a shell",
      args: ["validate", "--connect"],
      change: { "connections.yml": (text: string) => text.replace("root: data", "root: ~/data") },
      told: /error PZ0330: .* hint: pz does not know '~': write the whole path, or \$\{HOME\} in its place$/m,
    },
    {
      title: "types of other databases",
      args: ["validate"],
      change: {
        "connections.yml": (text: string) => text.replace("id: bigint", "id: int8").replace("date\n", "datetime\n"),
      },
      told: /"int8" .* did you mean "bigint"\?\n(.*\n)*.*"datetime" .* did you mean "timestamp"\?/,
    },
    {
      title: "semicolons between the fields",
      args: ["run", "order_totals"],
      change: { "data/orders.csv": (text: string) => text.replaceAll(",", ";") },
      told: /PZ0353: raw\.orders: The header .* is one name, .* hint: its fields .*: add delimiter: ";" to the read\n$/,
    },
    {
      title: "a comma in decimals",
      args: ["run", "order_totals"],
      change: { "data/orders.csv": (text: string) => text.replace("42.50", '"42,50"') },
      told: /orders\.csv:2\)\n.* write in the pipeline replace\(amount, ',', '\.'\)::DECIMAL\(12,2\)$/m,
    },
    {
      title: "days before months",
      args: ["run", "order_totals"],
      change: { "data/orders.csv": (text: string) => text.replace("2026-03-01", "01/03/2026") },
      told: /orders\.csv:2\)\n.* strptime\(ordered_on, '%d\/%m\/%Y'\)::DATE, or with %m before %d$/m,
    },
    {
      title: "a template without its option",
      args: ["init", "mine", "sample"],
      change: {},
      told: /'sample' is one argument too many — hint: `pz init mine --template sample` chooses a template$/m,
    },
    {
      title: "--connect of another verb",
      args: ["plan", "--connect"],
      change: {},
      told: /unknown option '--connect' — hint: `pz validate --connect` reaches the connections$/m,
    },
  ]
) {
  Deno.test(`a newcomer is told the next step: ${title}`, async () => {
    const printed = await mistake(args, change);
    assert.match(printed, told);
    assert.ok(!printed.includes("hunter2"));
  });
}
