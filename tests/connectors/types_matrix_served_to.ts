/**
 * What becomes of each type on its way from the systems of this machine and the databases into objects of a store and
 * into an API. The text of a CSV is that of DuckDB. What is sent as JSON is as exact as its text: moments in the form of
 * ISO 8601 and UTC, numbers with all their digits, blobs and what JSON has no form for as DuckDB's text; of NaN and the
 * infinities an API gets null, which is told.
 */
export const TO_SERVED = {
  duckdb: String.raw`
                     | to s3_parquet    | to s3_csv | to s3_json                  | to http
boolean              | same             | as text   | as boolean                  | as boolean
tinyint              | same             | as text   | as number                   | as number
smallint             | same             | as text   | as number                   | as number
integer              | same             | as text   | as number                   | as number
bigint               | same             | as text   | as number                   | as number
utinyint             | same             | as text   | as number                   | as number
usmallint            | same             | as text   | as number                   | as number
uinteger             | same             | as text   | as number                   | as number
ubigint              | same             | as text   | as number                   | as number
hugeint              | refused PZ0501   | as text   | as number                   | as number
hugeint_38           | as DECIMAL(38,0) | as text   | as number                   | as number
uhugeint             | refused PZ0501   | as text   | as number                   | as number
decimal_4_4          | same             | as text   | as number                   | as number
decimal_18_2         | same             | as text   | as number                   | as number
decimal_38_0         | same             | as text   | as number                   | as number
decimal_38_10        | same             | as text   | as number                   | as number
float                | same             | as text   | as number                   | as number
float_special        | same             | as text   | refused PZ0501              | as null, and told
double               | same             | as text   | as number                   | as number
double_special       | same             | as text   | refused PZ0501              | as null, and told
date                 | same             | as text   | as text                     | as text
date_infinite        | same             | as text   | as text                     | as text
date_far             | same             | as text   | as text                     | as text
time                 | same             | as text   | as text                     | as text
timetz               | refused PZ0501   | as text   | as text                     | refused PZ0501
timestamp_s          | as TIMESTAMP     | as text   | as text                     | as text
timestamp_ms         | as TIMESTAMP     | as text   | as text                     | as text
timestamp            | same             | as text   | as text                     | as text
timestamp_infinite   | same             | as text   | as text                     | as text
timestamp_ns         | same             | as text   | as text                     | as text
timestamp_ns_us      | same             | as text   | as text                     | as text
timestamptz          | same             | as text   | as text                     | as text
timestamptz_infinite | same             | as text   | as text                     | as text
interval             | same             | as text   | as text                     | as text
interval_fine        | refused PZ0501   | as text   | as text                     | as text
varchar              | same             | as text   | as text                     | as text
varchar_1mb          | same             | as text   | as text                     | as text
varchar_nul          | same             | as text   | as text                     | as text
blob                 | same             | as text   | as text                     | as text
uuid                 | same             | as text   | as text                     | as text
json                 | same             | as text   | as object or text or number | as object or text or number
json_digits          | same             | as text   | refused PZ0501              | as object
json_null            | same             | as text   | as null                     | as null
enum                 | as VARCHAR       | as text   | as text                     | as text
list                 | same             | as text   | as array                    | as array
list_varchar         | same             | as text   | as array                    | as array
list_list            | same             | as text   | as array                    | as array
array                | as INTEGER[]     | as text   | as array                    | as array
struct               | same             | as text   | as object                   | as object
map                  | same             | as text   | as object                   | as object
`,
  parquet: String.raw`
                     | to s3_parquet | to s3_csv | to s3_json                  | to http
boolean              | same          | as text   | as boolean                  | as boolean
tinyint              | same          | as text   | as number                   | as number
smallint             | same          | as text   | as number                   | as number
integer              | same          | as text   | as number                   | as number
bigint               | same          | as text   | as number                   | as number
utinyint             | same          | as text   | as number                   | as number
usmallint            | same          | as text   | as number                   | as number
uinteger             | same          | as text   | as number                   | as number
ubigint              | same          | as text   | as number                   | as number
decimal_4_4          | same          | as text   | as number                   | as number
decimal_18_2         | same          | as text   | as number                   | as number
decimal_38_0         | same          | as text   | as number                   | as number
decimal_38_10        | same          | as text   | as number                   | as number
float                | same          | as text   | as number                   | as number
float_special        | same          | as text   | refused PZ0501              | as null, and told
double               | same          | as text   | as number                   | as number
double_special       | same          | as text   | refused PZ0501              | as null, and told
date                 | same          | as text   | as text                     | as text
date_infinite        | same          | as text   | as text                     | as text
date_far             | same          | as text   | as text                     | as text
time                 | same          | as text   | as text                     | as text
timestamp_s          | as TIMESTAMP  | as text   | as text                     | as text
timestamp_ms         | as TIMESTAMP  | as text   | as text                     | as text
timestamp            | same          | as text   | as text                     | as text
timestamp_infinite   | same          | as text   | as text                     | as text
timestamp_ns         | same          | as text   | as text                     | as text
timestamp_ns_us      | same          | as text   | as text                     | as text
timestamptz          | same          | as text   | as text                     | as text
timestamptz_infinite | same          | as text   | as text                     | as text
interval             | same          | as text   | as text                     | as text
varchar              | same          | as text   | as text                     | as text
varchar_1mb          | same          | as text   | as text                     | as text
varchar_nul          | same          | as text   | as text                     | as text
blob                 | same          | as text   | as text                     | as text
uuid                 | same          | as text   | as text                     | as text
json                 | same          | as text   | as object or text or number | as object or text or number
json_digits          | same          | as text   | refused PZ0501              | as object
json_null            | same          | as text   | as null                     | as null
enum                 | as VARCHAR    | as text   | as text                     | as text
list                 | same          | as text   | as array                    | as array
list_varchar         | same          | as text   | as array                    | as array
list_list            | same          | as text   | as array                    | as array
array                | as INTEGER[]  | as text   | as array                    | as array
struct               | same          | as text   | as object                   | as object
map                  | same          | as text   | as object                   | as object
`,
  ndjson: String.raw`
                     | to s3_parquet                      | to s3_csv      | to s3_json                  | to http
boolean              | same                               | as text        | as boolean                  | as boolean
tinyint              | same                               | as text        | as number                   | as number
smallint             | same                               | as text        | as number                   | as number
integer              | same                               | as text        | as number                   | as number
bigint               | same                               | as text        | as number                   | as number
utinyint             | same                               | as text        | as number                   | as number
usmallint            | same                               | as text        | as number                   | as number
uinteger             | same                               | as text        | as number                   | as number
ubigint              | same                               | as text        | as number                   | as number
hugeint              | refused PZ0501                     | as text        | as number                   | as number
hugeint_38           | as DECIMAL(38,0)                   | as text        | as number                   | as number
decimal_4_4          | same                               | as text        | as number                   | as number
decimal_18_2         | refused PZ0501                     | refused PZ0501 | refused PZ0501              | refused PZ0501
decimal_38_0         | same                               | as text        | as number                   | as number
decimal_38_10        | refused PZ0501                     | refused PZ0501 | refused PZ0501              | refused PZ0501
float                | same                               | as text        | as number                   | as number
float_special        | same                               | as text        | refused PZ0501              | as null, and told
double               | same                               | as text        | as number                   | as number
double_special       | same                               | as text        | refused PZ0501              | as null, and told
date                 | same                               | as text        | as text                     | as text
date_infinite        | same                               | as text        | as text                     | as text
date_far             | same                               | as text        | as text                     | as text
time                 | same                               | as text        | as text                     | as text
timetz               | as VARCHAR                         | as text        | as text                     | as text
timestamp_s          | as TIMESTAMP                       | as text        | as text                     | as text
timestamp_ms         | as TIMESTAMP                       | as text        | as text                     | as text
timestamp            | same                               | as text        | as text                     | as text
timestamp_infinite   | same                               | as text        | as text                     | as text
timestamp_ns         | as VARCHAR                         | as text        | as text                     | as text
timestamp_ns_us      | as TIMESTAMP                       | as text        | as text                     | as text
timestamptz          | same                               | as text        | as text                     | as text
timestamptz_infinite | same                               | as text        | as text                     | as text
interval             | as VARCHAR                         | as text        | as text                     | as text
interval_fine        | as VARCHAR                         | as text        | as text                     | as text
varchar              | same                               | as text        | as text                     | as text
varchar_1mb          | same                               | as text        | as text                     | as text
varchar_nul          | same                               | as text        | as text                     | as text
blob                 | same                               | as text        | as text                     | as text
uuid                 | same                               | as text        | as text                     | as text
json                 | same                               | as text        | as object or text or number | as object or text or number
enum                 | as VARCHAR                         | as text        | as text                     | as text
list                 | as DECIMAL(38,0)[]                 | as text        | as array                    | as array
list_varchar         | same                               | as text        | as array                    | as array
list_list            | as BIGINT[][]                      | as text        | as array                    | as array
array                | as BIGINT[]                        | as text        | as array                    | as array
struct               | as STRUCT(a BIGINT, "b c" VARCHAR) | as text        | as object                   | as object
map                  | as STRUCT(a BIGINT, "b c" BIGINT)  | as text        | as object                   | as object
`,
  postgres: String.raw`
                     | to s3_parquet  | to s3_csv | to s3_json                  | to http
boolean              | same           | as text   | as boolean                  | as boolean
smallint             | same           | as text   | as number                   | as number
integer              | same           | as text   | as number                   | as number
bigint               | same           | as text   | as number                   | as number
decimal_4_4          | same           | as text   | as number                   | as number
decimal_18_2         | same           | as text   | as number                   | as number
decimal_38_0         | same           | as text   | as number                   | as number
decimal_38_10        | same           | as text   | as number                   | as number
float                | same           | as text   | as number                   | as number
float_special        | same           | as text   | refused PZ0501              | as null, and told
double               | same           | as text   | as number                   | as number
double_special       | same           | as text   | refused PZ0501              | as null, and told
date                 | same           | as text   | as text                     | as text
date_infinite        | same           | as text   | as text                     | as text
date_far             | same           | as text   | as text                     | as text
time                 | same           | as text   | as text                     | as text
timestamp            | same           | as text   | as text                     | as text
timestamp_infinite   | same           | as text   | as text                     | as text
timestamptz          | same           | as text   | as text                     | as text
timestamptz_infinite | same           | as text   | as text                     | as text
interval             | same           | as text   | as text                     | as text
interval_fine        | refused PZ0501 | as text   | as text                     | as text
varchar              | same           | as text   | as text                     | as text
varchar_1mb          | same           | as text   | as text                     | as text
blob                 | same           | as text   | as text                     | as text
uuid                 | same           | as text   | as text                     | as text
json                 | same           | as text   | as object or text or number | as object or text or number
json_digits          | same           | as text   | refused PZ0501              | as object
json_null            | same           | as text   | as null                     | as null
enum                 | as VARCHAR     | as text   | as text                     | as text
list                 | same           | as text   | as array                    | as array
list_varchar         | same           | as text   | as array                    | as array
`,
  mysql: String.raw`
                | to s3_parquet | to s3_csv | to s3_json                  | to http
boolean         | same          | as text   | as boolean                  | as boolean
tinyint         | same          | as text   | as number                   | as number
smallint        | same          | as text   | as number                   | as number
integer         | same          | as text   | as number                   | as number
bigint          | same          | as text   | as number                   | as number
utinyint        | same          | as text   | as number                   | as number
usmallint       | same          | as text   | as number                   | as number
uinteger        | same          | as text   | as number                   | as number
ubigint         | same          | as text   | as number                   | as number
decimal_4_4     | same          | as text   | as number                   | as number
decimal_18_2    | same          | as text   | as number                   | as number
decimal_38_0    | same          | as text   | as number                   | as number
decimal_38_10   | same          | as text   | as number                   | as number
float           | same          | as text   | as number                   | as number
double          | same          | as text   | as number                   | as number
date            | same          | as text   | as text                     | as text
time            | same          | as text   | as text                     | as text
timestamp_s     | as TIMESTAMP  | as text   | as text                     | as text
timestamp_ms    | as TIMESTAMP  | as text   | as text                     | as text
timestamp       | same          | as text   | as text                     | as text
timestamp_ns_us | as TIMESTAMP  | as text   | as text                     | as text
varchar         | same          | as text   | as text                     | as text
varchar_1mb     | same          | as text   | as text                     | as text
varchar_nul     | same          | as text   | as text                     | as text
blob            | same          | as text   | as text                     | as text
uuid            | same          | as text   | as text                     | as text
json            | same          | as text   | as object or text or number | as object or text or number
json_digits     | same          | as text   | refused PZ0501              | as object
json_null       | same          | as text   | as null                     | as null
enum            | as VARCHAR    | as text   | as text                     | as text
`,
  sqlite: String.raw`
                | to s3_parquet    | to s3_csv | to s3_json                  | to http
boolean         | same             | as text   | as boolean                  | as boolean
tinyint         | as BIGINT        | as text   | as number                   | as number
smallint        | as BIGINT        | as text   | as number                   | as number
integer         | as BIGINT        | as text   | as number                   | as number
bigint          | same             | as text   | as number                   | as number
utinyint        | as BIGINT        | as text   | as number                   | as number
usmallint       | as BIGINT        | as text   | as number                   | as number
uinteger        | as BIGINT        | as text   | as number                   | as number
ubigint         | as DECIMAL(20,0) | as text   | as number                   | as number
decimal_4_4     | same             | as text   | as number                   | as number
decimal_18_2    | same             | as text   | as number                   | as number
decimal_38_0    | same             | as text   | as number                   | as number
decimal_38_10   | same             | as text   | as number                   | as number
float           | as DOUBLE        | as text   | as number                   | as number
double          | same             | as text   | as number                   | as number
date            | same             | as text   | as text                     | as text
time            | same             | as text   | as text                     | as text
timestamp_s     | as TIMESTAMP     | as text   | as text                     | as text
timestamp_ms    | as TIMESTAMP     | as text   | as text                     | as text
timestamp       | same             | as text   | as text                     | as text
timestamp_ns_us | as TIMESTAMP     | as text   | as text                     | as text
timestamptz     | same             | as text   | as text                     | as text
varchar         | same             | as text   | as text                     | as text
varchar_1mb     | same             | as text   | as text                     | as text
varchar_nul     | same             | as text   | as text                     | as text
blob            | same             | as text   | as text                     | as text
uuid            | same             | as text   | as text                     | as text
json            | same             | as text   | as object or text or number | as object or text or number
json_digits     | same             | as text   | refused PZ0501              | as object
json_null       | same             | as text   | as null                     | as null
enum            | as VARCHAR       | as text   | as text                     | as text
`,
};
