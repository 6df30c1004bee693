import assert from "node:assert/strict";
import { startPostgres } from "../harness/postgres.ts";
import { runMatrix, type System, SYSTEMS, tableOf } from "./types_matrix_run.ts";

/**
 * What becomes of each type on its way from one system through pz into another: `same` type and values; `as T`: the same
 * values in the type T, as the target has none of the source's; `refused`: by a message with that code that names the
 * column. In JSON a value is a number or a text; NULL and the JSON value null are both null there, a FLOAT is its exact
 * number, and numbers of JSON that have a dot or an exponent are doubles. What has no name in a contract is read from
 * JSON as DuckDB guesses it.
 */
const EXPECTED: { readonly [source in System]: string } = {
  duckdb: String.raw`
                     | to duckdb | to parquet       | to ndjson                   | to postgres
boolean              | same      | same             | as boolean                  | same
tinyint              | same      | same             | as number                   | as smallint
smallint             | same      | same             | as number                   | same
integer              | same      | same             | as number                   | same
bigint               | same      | same             | as number                   | same
utinyint             | same      | same             | as number                   | as smallint
usmallint            | same      | same             | as number                   | as integer
uinteger             | same      | same             | as number                   | as bigint
ubigint              | same      | same             | as number                   | as numeric(20,0)
hugeint              | same      | refused PZ0501   | as number                   | as numeric(39,0)
hugeint_38           | same      | as DECIMAL(38,0) | as number                   | as numeric(39,0)
uhugeint             | same      | refused PZ0501   | as number                   | as numeric(39,0)
decimal_4_4          | same      | same             | as number                   | same
decimal_18_2         | same      | same             | as number                   | same
decimal_38_0         | same      | same             | as number                   | same
decimal_38_10        | same      | same             | as number                   | same
float                | same      | same             | as number                   | same
float_special        | same      | same             | refused PZ0501              | same
double               | same      | same             | as number                   | same
double_special       | same      | same             | refused PZ0501              | same
date                 | same      | same             | as text                     | same
date_infinite        | same      | same             | as text                     | same
date_far             | same      | same             | as text                     | same
time                 | same      | same             | as text                     | same
timetz               | same      | refused PZ0501   | as text                     | refused PZ0501
timestamp_s          | same      | as TIMESTAMP     | as text                     | as timestamp without time zone
timestamp_ms         | same      | as TIMESTAMP     | as text                     | as timestamp without time zone
timestamp            | same      | same             | as text                     | same
timestamp_infinite   | same      | same             | as text                     | same
timestamp_ns         | same      | same             | as text                     | refused PZ0501
timestamp_ns_us      | same      | same             | as text                     | as timestamp without time zone
timestamptz          | same      | same             | as text                     | same
timestamptz_infinite | same      | same             | as text                     | same
interval             | same      | same             | as text                     | same
interval_fine        | same      | refused PZ0501   | as text                     | same
varchar              | same      | same             | as text                     | same
varchar_1mb          | same      | same             | as text                     | same
varchar_nul          | same      | same             | as text                     | refused PZ0501
blob                 | same      | same             | as text                     | same
uuid                 | same      | same             | as text                     | same
json                 | same      | same             | as object or text or number | same
json_digits          | same      | same             | refused PZ0501              | same
json_null            | same      | same             | as null                     | same
enum                 | same      | as VARCHAR       | as text                     | as text
list                 | same      | same             | as array                    | same
list_varchar         | same      | same             | as array                    | same
list_list            | same      | same             | as array                    | refused PZ0501
array                | same      | as INTEGER[]     | as array                    | refused PZ0501
struct               | same      | same             | as object                   | refused PZ0501
map                  | same      | same             | as object                   | refused PZ0501
`,
  parquet: String.raw`
                     | to duckdb    | to parquet   | to ndjson                   | to postgres
boolean              | same         | same         | as boolean                  | same
tinyint              | same         | same         | as number                   | as smallint
smallint             | same         | same         | as number                   | same
integer              | same         | same         | as number                   | same
bigint               | same         | same         | as number                   | same
utinyint             | same         | same         | as number                   | as smallint
usmallint            | same         | same         | as number                   | as integer
uinteger             | same         | same         | as number                   | as bigint
ubigint              | same         | same         | as number                   | as numeric(20,0)
decimal_4_4          | same         | same         | as number                   | same
decimal_18_2         | same         | same         | as number                   | same
decimal_38_0         | same         | same         | as number                   | same
decimal_38_10        | same         | same         | as number                   | same
float                | same         | same         | as number                   | same
float_special        | same         | same         | refused PZ0501              | same
double               | same         | same         | as number                   | same
double_special       | same         | same         | refused PZ0501              | same
date                 | same         | same         | as text                     | same
date_infinite        | same         | same         | as text                     | same
date_far             | same         | same         | as text                     | same
time                 | same         | same         | as text                     | same
timestamp_s          | as TIMESTAMP | as TIMESTAMP | as text                     | as timestamp without time zone
timestamp_ms         | as TIMESTAMP | as TIMESTAMP | as text                     | as timestamp without time zone
timestamp            | same         | same         | as text                     | same
timestamp_infinite   | same         | same         | as text                     | same
timestamp_ns         | same         | same         | as text                     | refused PZ0501
timestamp_ns_us      | same         | same         | as text                     | as timestamp without time zone
timestamptz          | same         | same         | as text                     | same
timestamptz_infinite | same         | same         | as text                     | same
interval             | same         | same         | as text                     | same
varchar              | same         | same         | as text                     | same
varchar_1mb          | same         | same         | as text                     | same
varchar_nul          | same         | same         | as text                     | refused PZ0501
blob                 | same         | same         | as text                     | same
uuid                 | same         | same         | as text                     | same
json                 | same         | same         | as object or text or number | same
json_digits          | same         | same         | refused PZ0501              | same
json_null            | same         | same         | as null                     | same
enum                 | as VARCHAR   | as VARCHAR   | as text                     | as text
list                 | same         | same         | as array                    | same
list_varchar         | same         | same         | as array                    | same
list_list            | same         | same         | as array                    | refused PZ0501
array                | as INTEGER[] | as INTEGER[] | as array                    | as integer[]
struct               | same         | same         | as object                   | refused PZ0501
map                  | same         | same         | as object                   | refused PZ0501
`,
  ndjson: String.raw`
                     | to duckdb                          | to parquet                         | to ndjson                   | to postgres
boolean              | same                               | same                               | as boolean                  | same
tinyint              | same                               | same                               | as number                   | as smallint
smallint             | same                               | same                               | as number                   | same
integer              | same                               | same                               | as number                   | same
bigint               | same                               | same                               | as number                   | same
utinyint             | same                               | same                               | as number                   | as smallint
usmallint            | same                               | same                               | as number                   | as integer
uinteger             | same                               | same                               | as number                   | as bigint
ubigint              | same                               | same                               | as number                   | as numeric(20,0)
hugeint              | same                               | refused PZ0501                     | as number                   | as numeric(39,0)
hugeint_38           | same                               | as DECIMAL(38,0)                   | as number                   | as numeric(39,0)
decimal_4_4          | same                               | same                               | as number                   | same
decimal_18_2         | refused PZ0501                     | refused PZ0501                     | refused PZ0501              | refused PZ0501
decimal_38_0         | same                               | same                               | as number                   | same
decimal_38_10        | refused PZ0501                     | refused PZ0501                     | refused PZ0501              | refused PZ0501
float                | same                               | same                               | as number                   | same
float_special        | same                               | same                               | refused PZ0501              | same
double               | same                               | same                               | as number                   | same
double_special       | same                               | same                               | refused PZ0501              | same
date                 | same                               | same                               | as text                     | same
date_infinite        | same                               | same                               | as text                     | same
date_far             | same                               | same                               | as text                     | same
time                 | same                               | same                               | as text                     | same
timetz               | as VARCHAR                         | as VARCHAR                         | as text                     | as text
timestamp_s          | as TIMESTAMP                       | as TIMESTAMP                       | as text                     | as timestamp without time zone
timestamp_ms         | as TIMESTAMP                       | as TIMESTAMP                       | as text                     | as timestamp without time zone
timestamp            | same                               | same                               | as text                     | same
timestamp_infinite   | same                               | same                               | as text                     | same
timestamp_ns         | as VARCHAR                         | as VARCHAR                         | as text                     | as text
timestamp_ns_us      | as TIMESTAMP                       | as TIMESTAMP                       | as text                     | as timestamp without time zone
timestamptz          | same                               | same                               | as text                     | same
timestamptz_infinite | same                               | same                               | as text                     | same
interval             | as VARCHAR                         | as VARCHAR                         | as text                     | as text
interval_fine        | as VARCHAR                         | as VARCHAR                         | as text                     | as text
varchar              | same                               | same                               | as text                     | same
varchar_1mb          | same                               | same                               | as text                     | same
varchar_nul          | same                               | same                               | as text                     | refused PZ0501
blob                 | same                               | same                               | as text                     | same
uuid                 | same                               | same                               | as text                     | same
json                 | same                               | same                               | as object or text or number | same
enum                 | as VARCHAR                         | as VARCHAR                         | as text                     | as text
list                 | as HUGEINT[]                       | as DECIMAL(38,0)[]                 | as array                    | as numeric(39,0)[]
list_varchar         | same                               | same                               | as array                    | same
list_list            | as BIGINT[][]                      | as BIGINT[][]                      | as array                    | refused PZ0501
array                | as BIGINT[]                        | as BIGINT[]                        | as array                    | as bigint[]
struct               | as STRUCT(a BIGINT, "b c" VARCHAR) | as STRUCT(a BIGINT, "b c" VARCHAR) | as object                   | refused PZ0501
map                  | as STRUCT(a BIGINT, "b c" BIGINT)  | as STRUCT(a BIGINT, "b c" BIGINT)  | as object                   | refused PZ0501
`,
  postgres: String.raw`
                     | to duckdb  | to parquet     | to ndjson                   | to postgres
boolean              | same       | same           | as boolean                  | same
smallint             | same       | same           | as number                   | same
integer              | same       | same           | as number                   | same
bigint               | same       | same           | as number                   | same
decimal_4_4          | same       | same           | as number                   | same
decimal_18_2         | same       | same           | as number                   | same
decimal_38_0         | same       | same           | as number                   | same
decimal_38_10        | same       | same           | as number                   | same
float                | same       | same           | as number                   | same
float_special        | same       | same           | refused PZ0501              | same
double               | same       | same           | as number                   | same
double_special       | same       | same           | refused PZ0501              | same
date                 | same       | same           | as text                     | same
date_infinite        | same       | same           | as text                     | same
date_far             | same       | same           | as text                     | same
time                 | same       | same           | as text                     | same
timestamp            | same       | same           | as text                     | same
timestamp_infinite   | same       | same           | as text                     | same
timestamptz          | same       | same           | as text                     | same
timestamptz_infinite | same       | same           | as text                     | same
interval             | same       | same           | as text                     | same
interval_fine        | same       | refused PZ0501 | as text                     | same
varchar              | same       | same           | as text                     | same
varchar_1mb          | same       | same           | as text                     | same
blob                 | same       | same           | as text                     | same
uuid                 | same       | same           | as text                     | same
json                 | same       | same           | as object or text or number | same
json_digits          | same       | same           | refused PZ0501              | same
json_null            | same       | same           | as null                     | same
enum                 | as VARCHAR | as VARCHAR     | as text                     | as text
list                 | same       | same           | as array                    | same
list_varchar         | same       | same           | as array                    | same
`,
};

const server = await startPostgres();
await server.sql(`CREATE TYPE mood AS ENUM ('sad', 'it''s', 'glücklich')`);

for (const source of ["duckdb", "parquet", "ndjson", "postgres"] as const) {
  Deno.test(`every type goes from ${source} into each system the same, mapped by a rule, or is refused by name`, async () => {
    const outcomes = await runMatrix({ server, sinks: SYSTEMS }, source);
    assert.equal(`\n${tableOf(outcomes, SYSTEMS).join("\n")}\n`, EXPECTED[source]);
  });
}
