import assert from "node:assert/strict";
import { needsMariaDb, startMariaDb } from "../harness/mariadb.ts";
import { startPostgres } from "../harness/postgres.ts";
import { type AnySystem, runMatrix, SYSTEMS, tableOf } from "./types_matrix_run.ts";

/**
 * What becomes of each type on its way into MySQL and SQLite, and from there into each system, as the matrix of the others
 * tells it; what stands in the two is read back by their connectors. Neither has a negative zero.
 */
const EXPECTED: { readonly [source in AnySystem]: string } = {
  duckdb: String.raw`
                     | to mysql       | to sqlite
boolean              | same           | same
tinyint              | same           | as BIGINT
smallint             | same           | as BIGINT
integer              | same           | as BIGINT
bigint               | same           | same
utinyint             | same           | as BIGINT
usmallint            | same           | as BIGINT
uinteger             | same           | as BIGINT
ubigint              | same           | as DECIMAL(20,0)
hugeint              | as VARCHAR     | as VARCHAR
hugeint_38           | as VARCHAR     | as VARCHAR
uhugeint             | as VARCHAR     | as VARCHAR
decimal_4_4          | same           | same
decimal_18_2         | same           | same
decimal_38_0         | same           | same
decimal_38_10        | same           | same
float                | same           | as DOUBLE
float_special        | refused PZ0501 | refused PZ0501
double               | same           | same
double_special       | refused PZ0501 | refused PZ0501
date                 | same           | same
date_infinite        | refused PZ0501 | refused PZ0501
date_far             | refused PZ0501 | refused PZ0501
time                 | same           | same
timetz               | refused PZ0501 | refused PZ0501
timestamp_s          | as TIMESTAMP   | as TIMESTAMP
timestamp_ms         | as TIMESTAMP   | as TIMESTAMP
timestamp            | same           | same
timestamp_infinite   | refused PZ0501 | refused PZ0501
timestamp_ns         | refused PZ0501 | refused PZ0501
timestamp_ns_us      | as TIMESTAMP   | as TIMESTAMP
timestamptz          | refused PZ0501 | same
timestamptz_infinite | refused PZ0501 | refused PZ0501
interval             | refused PZ0501 | refused PZ0501
interval_fine        | refused PZ0501 | refused PZ0501
varchar              | same           | same
varchar_1mb          | same           | same
varchar_nul          | same           | same
blob                 | same           | same
uuid                 | same           | same
json                 | same           | same
json_digits          | same           | same
json_null            | same           | same
enum                 | as VARCHAR     | as VARCHAR
list                 | refused PZ0501 | refused PZ0501
list_varchar         | refused PZ0501 | refused PZ0501
list_list            | refused PZ0501 | refused PZ0501
array                | refused PZ0501 | refused PZ0501
struct               | refused PZ0501 | refused PZ0501
map                  | refused PZ0501 | refused PZ0501
`,
  parquet: String.raw`
                     | to mysql       | to sqlite
boolean              | same           | same
tinyint              | same           | as BIGINT
smallint             | same           | as BIGINT
integer              | same           | as BIGINT
bigint               | same           | same
utinyint             | same           | as BIGINT
usmallint            | same           | as BIGINT
uinteger             | same           | as BIGINT
ubigint              | same           | as DECIMAL(20,0)
decimal_4_4          | same           | same
decimal_18_2         | same           | same
decimal_38_0         | same           | same
decimal_38_10        | same           | same
float                | same           | as DOUBLE
float_special        | refused PZ0501 | refused PZ0501
double               | same           | same
double_special       | refused PZ0501 | refused PZ0501
date                 | same           | same
date_infinite        | refused PZ0501 | refused PZ0501
date_far             | refused PZ0501 | refused PZ0501
time                 | same           | same
timestamp_s          | as TIMESTAMP   | as TIMESTAMP
timestamp_ms         | as TIMESTAMP   | as TIMESTAMP
timestamp            | same           | same
timestamp_infinite   | refused PZ0501 | refused PZ0501
timestamp_ns         | refused PZ0501 | refused PZ0501
timestamp_ns_us      | as TIMESTAMP   | as TIMESTAMP
timestamptz          | refused PZ0501 | same
timestamptz_infinite | refused PZ0501 | refused PZ0501
interval             | refused PZ0501 | refused PZ0501
varchar              | same           | same
varchar_1mb          | same           | same
varchar_nul          | same           | same
blob                 | same           | same
uuid                 | same           | same
json                 | same           | same
json_digits          | same           | same
json_null            | same           | same
enum                 | as VARCHAR     | as VARCHAR
list                 | refused PZ0501 | refused PZ0501
list_varchar         | refused PZ0501 | refused PZ0501
list_list            | refused PZ0501 | refused PZ0501
array                | refused PZ0501 | refused PZ0501
struct               | refused PZ0501 | refused PZ0501
map                  | refused PZ0501 | refused PZ0501
`,
  ndjson: String.raw`
                     | to mysql       | to sqlite
boolean              | same           | same
tinyint              | same           | as BIGINT
smallint             | same           | as BIGINT
integer              | same           | as BIGINT
bigint               | same           | same
utinyint             | same           | as BIGINT
usmallint            | same           | as BIGINT
uinteger             | same           | as BIGINT
ubigint              | same           | as DECIMAL(20,0)
hugeint              | as VARCHAR     | as VARCHAR
hugeint_38           | as VARCHAR     | as VARCHAR
decimal_4_4          | same           | same
decimal_18_2         | refused PZ0501 | refused PZ0501
decimal_38_0         | same           | same
decimal_38_10        | refused PZ0501 | refused PZ0501
float                | same           | as DOUBLE
float_special        | refused PZ0501 | refused PZ0501
double               | same           | same
double_special       | refused PZ0501 | refused PZ0501
date                 | same           | same
date_infinite        | refused PZ0501 | refused PZ0501
date_far             | refused PZ0501 | refused PZ0501
time                 | same           | same
timetz               | as VARCHAR     | as VARCHAR
timestamp_s          | as TIMESTAMP   | as TIMESTAMP
timestamp_ms         | as TIMESTAMP   | as TIMESTAMP
timestamp            | same           | same
timestamp_infinite   | refused PZ0501 | refused PZ0501
timestamp_ns         | as VARCHAR     | as VARCHAR
timestamp_ns_us      | as TIMESTAMP   | as TIMESTAMP
timestamptz          | refused PZ0501 | same
timestamptz_infinite | refused PZ0501 | refused PZ0501
interval             | as VARCHAR     | as VARCHAR
interval_fine        | as VARCHAR     | as VARCHAR
varchar              | same           | same
varchar_1mb          | same           | same
varchar_nul          | same           | same
blob                 | same           | same
uuid                 | same           | same
json                 | same           | same
enum                 | as VARCHAR     | as VARCHAR
list                 | refused PZ0501 | refused PZ0501
list_varchar         | refused PZ0501 | refused PZ0501
list_list            | refused PZ0501 | refused PZ0501
array                | refused PZ0501 | refused PZ0501
struct               | refused PZ0501 | refused PZ0501
map                  | refused PZ0501 | refused PZ0501
`,
  postgres: String.raw`
                     | to mysql       | to sqlite
boolean              | same           | same
smallint             | same           | as BIGINT
integer              | same           | as BIGINT
bigint               | same           | same
decimal_4_4          | same           | same
decimal_18_2         | same           | same
decimal_38_0         | same           | same
decimal_38_10        | same           | same
float                | same           | as DOUBLE
float_special        | refused PZ0501 | refused PZ0501
double               | same           | same
double_special       | refused PZ0501 | refused PZ0501
date                 | same           | same
date_infinite        | refused PZ0501 | refused PZ0501
date_far             | refused PZ0501 | refused PZ0501
time                 | same           | same
timestamp            | same           | same
timestamp_infinite   | refused PZ0501 | refused PZ0501
timestamptz          | refused PZ0501 | same
timestamptz_infinite | refused PZ0501 | refused PZ0501
interval             | refused PZ0501 | refused PZ0501
interval_fine        | refused PZ0501 | refused PZ0501
varchar              | same           | same
varchar_1mb          | same           | same
blob                 | same           | same
uuid                 | same           | same
json                 | same           | same
json_digits          | same           | same
json_null            | same           | same
enum                 | as VARCHAR     | as VARCHAR
list                 | refused PZ0501 | refused PZ0501
list_varchar         | refused PZ0501 | refused PZ0501
`,
  mysql: String.raw`
                | to duckdb    | to parquet   | to ndjson                   | to postgres                    | to mysql     | to sqlite
boolean         | same         | same         | as boolean                  | same                           | same         | same
tinyint         | same         | same         | as number                   | as smallint                    | same         | as BIGINT
smallint        | same         | same         | as number                   | same                           | same         | as BIGINT
integer         | same         | same         | as number                   | same                           | same         | as BIGINT
bigint          | same         | same         | as number                   | same                           | same         | same
utinyint        | same         | same         | as number                   | as smallint                    | same         | as BIGINT
usmallint       | same         | same         | as number                   | as integer                     | same         | as BIGINT
uinteger        | same         | same         | as number                   | as bigint                      | same         | as BIGINT
ubigint         | same         | same         | as number                   | as numeric(20,0)               | same         | as DECIMAL(20,0)
decimal_4_4     | same         | same         | as number                   | same                           | same         | same
decimal_18_2    | same         | same         | as number                   | same                           | same         | same
decimal_38_0    | same         | same         | as number                   | same                           | same         | same
decimal_38_10   | same         | same         | as number                   | same                           | same         | same
float           | same         | same         | as number                   | same                           | same         | as DOUBLE
double          | same         | same         | as number                   | same                           | same         | same
date            | same         | same         | as text                     | same                           | same         | same
time            | same         | same         | as text                     | same                           | same         | same
timestamp_s     | as TIMESTAMP | as TIMESTAMP | as text                     | as timestamp without time zone | as TIMESTAMP | as TIMESTAMP
timestamp_ms    | as TIMESTAMP | as TIMESTAMP | as text                     | as timestamp without time zone | as TIMESTAMP | as TIMESTAMP
timestamp       | same         | same         | as text                     | same                           | same         | same
timestamp_ns_us | as TIMESTAMP | as TIMESTAMP | as text                     | as timestamp without time zone | as TIMESTAMP | as TIMESTAMP
varchar         | same         | same         | as text                     | same                           | same         | same
varchar_1mb     | same         | same         | as text                     | same                           | same         | same
varchar_nul     | same         | same         | as text                     | refused PZ0501                 | same         | same
blob            | same         | same         | as text                     | same                           | same         | same
uuid            | same         | same         | as text                     | same                           | same         | same
json            | same         | same         | as object or text or number | same                           | same         | same
json_digits     | same         | same         | refused PZ0501              | same                           | same         | same
json_null       | same         | same         | as null                     | same                           | same         | same
enum            | as VARCHAR   | as VARCHAR   | as text                     | as text                        | as VARCHAR   | as VARCHAR
`,
  sqlite: String.raw`
                | to duckdb        | to parquet       | to ndjson                   | to postgres                    | to mysql         | to sqlite
boolean         | same             | same             | as boolean                  | same                           | same             | same
tinyint         | as BIGINT        | as BIGINT        | as number                   | as bigint                      | as BIGINT        | as BIGINT
smallint        | as BIGINT        | as BIGINT        | as number                   | as bigint                      | as BIGINT        | as BIGINT
integer         | as BIGINT        | as BIGINT        | as number                   | as bigint                      | as BIGINT        | as BIGINT
bigint          | same             | same             | as number                   | same                           | same             | same
utinyint        | as BIGINT        | as BIGINT        | as number                   | as bigint                      | as BIGINT        | as BIGINT
usmallint       | as BIGINT        | as BIGINT        | as number                   | as bigint                      | as BIGINT        | as BIGINT
uinteger        | as BIGINT        | as BIGINT        | as number                   | as bigint                      | as BIGINT        | as BIGINT
ubigint         | as DECIMAL(20,0) | as DECIMAL(20,0) | as number                   | as numeric(20,0)               | as DECIMAL(20,0) | as DECIMAL(20,0)
decimal_4_4     | same             | same             | as number                   | same                           | same             | same
decimal_18_2    | same             | same             | as number                   | same                           | same             | same
decimal_38_0    | same             | same             | as number                   | same                           | same             | same
decimal_38_10   | same             | same             | as number                   | same                           | same             | same
float           | as DOUBLE        | as DOUBLE        | as number                   | as double precision            | as DOUBLE        | as DOUBLE
double          | same             | same             | as number                   | same                           | same             | same
date            | same             | same             | as text                     | same                           | same             | same
time            | same             | same             | as text                     | same                           | same             | same
timestamp_s     | as TIMESTAMP     | as TIMESTAMP     | as text                     | as timestamp without time zone | as TIMESTAMP     | as TIMESTAMP
timestamp_ms    | as TIMESTAMP     | as TIMESTAMP     | as text                     | as timestamp without time zone | as TIMESTAMP     | as TIMESTAMP
timestamp       | same             | same             | as text                     | same                           | same             | same
timestamp_ns_us | as TIMESTAMP     | as TIMESTAMP     | as text                     | as timestamp without time zone | as TIMESTAMP     | as TIMESTAMP
timestamptz     | same             | same             | as text                     | same                           | refused PZ0501   | same
varchar         | same             | same             | as text                     | same                           | same             | same
varchar_1mb     | same             | same             | as text                     | same                           | same             | same
varchar_nul     | same             | same             | as text                     | refused PZ0501                 | same             | same
blob            | same             | same             | as text                     | same                           | same             | same
uuid            | same             | same             | as text                     | same                           | same             | same
json            | same             | same             | as object or text or number | same                           | same             | same
json_digits     | same             | same             | refused PZ0501              | same                           | same             | same
json_null       | same             | same             | as null                     | same                           | same             | same
enum            | as VARCHAR       | as VARCHAR       | as text                     | as text                        | as VARCHAR       | as VARCHAR
`,
};

if (needsMariaDb("the matrix of types with MySQL and SQLite")) await suite();

async function suite(): Promise<void> {
  const server = await startPostgres();
  const mariadb = await startMariaDb();
  await server.sql(`CREATE TYPE mood AS ENUM ('sad', 'it\'\'s', 'glücklich')`);
  const databases: readonly AnySystem[] = ["mysql", "sqlite"];
  for (const source of [...SYSTEMS, ...databases]) {
    const sinks = databases.includes(source) ? [...SYSTEMS, ...databases] : databases;
    Deno.test(`every type goes from ${source} into ${sinks.join(", ")} the same, mapped by a rule, or is refused`, async () => {
      const outcomes = await runMatrix({ server, mariadb, sinks }, source);
      assert.equal(`\n${tableOf(outcomes, sinks).join("\n")}\n`, EXPECTED[source]);
    });
  }
}
