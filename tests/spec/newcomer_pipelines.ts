import type { Mistake } from "./newcomer_project.ts";

/** Mistakes in pipelines, their checks and data, and on the command line. */
export const PIPELINE_MISTAKES: readonly Mistake[] = [
  {
    title: "a ref to a model that is not there",
    files: { "pipelines/orders.sql": "SELECT * FROM {{ ref('customers') }}\n" },
    stderr: [
      "error PZ0201: ref('customers') names no pipeline (pipelines/orders.sql:1:18) — hint: add pipelines/customers.sql",
    ],
  },
  {
    title: "a misspelt ref",
    files: {
      "pipelines/orders.sql": "SELECT * FROM {{ ref('ordrs_raw') }}\n",
      "pipelines/orders_raw.sql": "SELECT 1 AS one\n",
    },
    stderr: [
      "error PZ0201: ref('ordrs_raw') names no pipeline (pipelines/orders.sql:1:18) — hint: did you mean 'orders_raw'?",
    ],
  },
  {
    title: "a ref with a package",
    files: { "pipelines/orders.sql": "SELECT * FROM {{ ref('shop', 'customers') }}\n" },
    stderr: [
      "error PZ0201: ref() takes the pipeline, but got 2 arguments (pipelines/orders.sql:1:30) — hint: As in ref('orders').",
    ],
  },
  {
    title: "a source without a connection",
    files: { "pipelines/orders.sql": "SELECT * FROM {{ source('orders') }}\n" },
    stderr: [
      "error PZ0201: source() takes the connection and the entity first, then named arguments, but got 1 argument (pipelines/orders.sql:1:18) — hint: As in source('crm', 'orders', format: 'csv').",
    ],
  },
  {
    title: "a source with an unknown connection",
    files: { "pipelines/orders.sql": "SELECT * FROM {{ source('crm', 'orders') }}\n" },
    stderr: [
      "error PZ0201: source('crm', 'orders') names no connection (pipelines/orders.sql:1:18) — hint: add 'crm' to connections.yml",
    ],
  },
  {
    title: "names without quotes",
    files: { "pipelines/orders.sql": "SELECT * FROM {{ source(files, orders) }}\n" },
    stderr: ["error PZ0104: Unknown name 'files' (pipelines/orders.sql:1:25) — hint: Names stand in quotes: 'files'."],
  },
  {
    title: "a table without source()",
    files: {
      "pipelines/orders.sql":
        "INSERT INTO {{ sink('lake', 'orders', format: 'csv', strategy: 'replace') }}\nSELECT id, email, amount FROM orders\n",
    },
    stderr: [
      "error PZ0401: pipeline 'orders': Table with name orders does not exist (pipelines/orders.sql:2:31) — hint: a pipeline reads data by {{ source('connection', 'entity') }} and other pipelines by {{ ref('name') }}",
    ],
  },
  {
    title: "a table of a connection without source()",
    files: {
      "pipelines/orders.sql":
        "INSERT INTO {{ sink('lake', 'orders', format: 'csv', strategy: 'replace') }}\nSELECT id, email, amount FROM files.orders\n",
    },
    stderr: [
      "error PZ0401: pipeline 'orders': Table with name \"files.orders\" does not exist because schema \"files\" does not exist. (pipelines/orders.sql:2:31) — hint: write {{ source('files', 'orders') }}",
    ],
  },
  {
    title: "config()",
    files: {
      "pipelines/orders.sql":
        "{{ config(materialized='table') }}\nINSERT INTO {{ sink('lake', 'orders', format: 'csv', strategy: 'replace') }}\nSELECT id, email, amount FROM {{ source('files', 'orders') }}\n",
    },
    stderr: [
      "error PZ0104: Unknown function 'config' (pipelines/orders.sql:1:4) — hint: Settings of a pipeline stand in pipelines/configs/<name>.yml.",
    ],
  },
  {
    title: "is_incremental()",
    files: {
      "pipelines/orders.sql":
        "INSERT INTO {{ sink('lake', 'orders', format: 'csv', strategy: 'replace') }}\nSELECT id, email, amount FROM {{ source('files', 'orders') }}\n{% if is_incremental() %}\nWHERE id > (SELECT max(id) FROM {{ this }})\n{% endif %}\n",
    },
    stderr: [
      "error PZ0104: Unknown function 'is_incremental' (pipelines/orders.sql:3:7) — hint: Compare the cursor column with {{ watermark('connection', 'entity') }}; it is NULL on the first run.",
    ],
  },
  {
    title: "named arguments with =",
    files: {
      "pipelines/orders.sql":
        "INSERT INTO {{ sink('lake', 'orders', format='csv', strategy: 'replace') }}\nSELECT id, email, amount FROM {{ source('files', 'orders') }}\n",
    },
    stderr: [
      "error PZ0104: Named arguments are written with a colon (pipelines/orders.sql:1:39) — hint: Write 'format: …'.",
    ],
  },
  {
    title: "env_var()",
    files: {
      "pipelines/orders.sql":
        "INSERT INTO {{ sink('lake', 'orders', format: 'csv', strategy: 'replace') }}\nSELECT {{ env_var('X') }}, email, amount FROM {{ source('files', 'orders') }}\n",
    },
    stderr: ["error PZ0104: Unknown function 'env_var' (pipelines/orders.sql:2:11) — hint: Write env('NAME')."],
  },
  {
    title: "target.name",
    files: {
      "pipelines/orders.sql":
        "INSERT INTO {{ sink('lake', 'orders', format: 'csv', strategy: 'replace') }}\nSELECT '{{ target.name }}' AS t, email, amount FROM {{ source('files', 'orders') }}\n",
    },
    stderr: [
      "error PZ0104: Unknown name 'target' (pipelines/orders.sql:2:12) — hint: There are no targets: what differs from place to place is var('name') or env('NAME').",
    ],
  },
  {
    title: "a comment of Jinja",
    files: {
      "pipelines/orders.sql":
        "{# why #}\nINSERT INTO {{ sink('lake', 'orders', format: 'csv', strategy: 'replace') }}\nSELECT id, email, amount FROM {{ source('files', 'orders') }}\n",
    },
    stderr: [
      "error PZ0208: pipeline 'orders': {# … #} is no comment (pipelines/orders.sql:1:1) — hint: write -- …, /* … */ or {% comment %}…{% endcomment %}",
    ],
  },
  {
    title: "{% set %}",
    files: {
      "pipelines/orders.sql":
        "{% set x = 1 %}\nINSERT INTO {{ sink('lake', 'orders', format: 'csv', strategy: 'replace') }}\nSELECT id, email, amount FROM {{ source('files', 'orders') }}\n",
    },
    stderr: ["error PZ0104: Unknown tag 'set' (pipelines/orders.sql:1:1) — hint: Write {% assign name = value %}."],
  },
  {
    title: "CREATE TABLE AS",
    files: { "pipelines/orders.sql": "CREATE TABLE orders AS SELECT id FROM {{ source('files', 'orders') }}\n" },
    stderr: [
      "warning: PZ0223 nothing uses pipeline 'orders': no sink(), no ref() and no check (pipelines/orders.sql) — load it with `INSERT INTO {{ sink(…) }}`, ref it, or delete the file",
      "error PZ0401: pipeline 'orders': syntax error at or near \"CREATE\" (pipelines/orders.sql:1:1) — hint: a pipeline is exactly one SELECT; its result is kept as a table without CREATE",
    ],
  },
  {
    title: "WITH before INSERT INTO",
    files: {
      "pipelines/orders.sql": "WITH a AS (SELECT 1 AS x)\nINSERT INTO {{ sink('lake', 'orders') }}\nSELECT * FROM a\n",
    },
    stderr: [
      "error PZ0208: pipeline 'orders': sink() may stand only behind a leading `INSERT INTO` (pipelines/orders.sql:2:16) — hint: begin with `INSERT INTO {{ sink(…) }} SELECT …`, or with `INSERT INTO [{{ sink(…) }}, {{ sink(…) }}] SELECT …` for several outputs; WITH comes after the sink call",
    ],
  },
  {
    title: "a merge where files can't merge",
    files: {
      "pipelines/orders.sql":
        "INSERT INTO {{ sink('lake', 'orders', format: 'csv', strategy: 'merge') }}\nSELECT id FROM {{ source('files', 'orders') }}\n",
    },
    stderr: [
      "error PZ0324: connector 'localfiles' can't write 'lake.orders' with strategy 'merge' (pipelines/orders.sql:1:16) — hint: strategies it has: append, replace",
    ],
  },
  {
    title: "a merge where files can't merge, declared in connections.yml",
    files: {
      "connections.yml": "files: { connector: localfiles, root: data }\nlake:\n  connector: localfiles\n  root: out\n" +
        "  entities:\n    orders:\n      write:\n        format: csv\n        strategy: merge\n",
      "pipelines/orders.sql":
        "INSERT INTO {{ sink('lake', 'orders') }}\nSELECT id FROM {{ source('files', 'orders') }}\n",
    },
    stderr: [
      "error PZ0324: connector 'localfiles' can't write 'lake.orders' with strategy 'merge' (connections.yml:9:9) — hint: strategies it has: append, replace",
    ],
  },
  {
    title: "a merge without keys, declared in connections.yml",
    files: {
      "connections.yml":
        "files: { connector: localfiles, root: data }\nlake:\n  connector: duckdb\n  path: out.duckdb\n" +
        "  entities:\n    orders:\n      write:\n        strategy: merge\n",
      "pipelines/orders.sql":
        "INSERT INTO {{ sink('lake', 'orders') }}\nSELECT id FROM {{ source('files', 'orders') }}\n",
    },
    stderr: [
      "error PZ0209: output 'lake.orders': strategy 'merge' needs keys (connections.yml:8:9) — hint: name the columns that identify a row, such as keys: ['id']",
    ],
  },
  {
    title: "a second INSERT in one file",
    files: {
      "pipelines/orders.sql": "INSERT INTO {{ sink('lake', 'orders', format: 'csv') }}\nSELECT 1 AS id;\n" +
        "INSERT INTO {{ sink('lake', 'more', format: 'csv') }}\nSELECT 2 AS id\n",
    },
    stderr: [
      "error PZ0208: pipeline 'orders': a second `INSERT INTO` in one pipeline (pipelines/orders.sql:3:1) — hint: give it a file of its own; or where both outputs get the same rows, begin with `INSERT INTO [{{ sink(…) }}, {{ sink(…) }}] SELECT …`",
    ],
  },
  {
    title: "an option of a read among those of the connection",
    files: {
      "connections.yml":
        "files: { connector: localfiles, root: data, format: csv }\nlake: { connector: localfiles, root: out }\n",
    },
    stderr: [
      "error PZ0301: unknown option 'format' of connection 'files': connector 'localfiles' has no such option of a connection (connections.yml:1:45) — hint: put it under 'entities:', the entity's name and 'read:' or 'write:', or into the call of source() or sink()",
    ],
  },
  {
    title: "a misspelt column in a contract",
    files: {
      "connections.yml": "files:\n  connector: localfiles\n  root: data\n  entities:\n    orders:\n      read:\n" +
        "        columns: { id: int, emial: varchar, amount: int }\nlake: { connector: localfiles, root: out }\n",
    },
    stderr: [
      'error PZ0353: files.orders: Column "emial" is not in the header of "/shop/data/orders.csv": it has "id", "email", "amount" (connections.yml:7:29) — hint: did you mean "email"?',
      `error PZ0401: pipeline 'orders': Referenced column "email" not found in FROM clause (pipelines/orders.sql:2:12) — hint: 'emial' stands in columns: but not in the data; correct it there`,
    ],
  },
  {
    title: "keys without a merge",
    files: {
      "pipelines/orders.sql":
        "INSERT INTO {{ sink('lake', 'orders', format: 'csv', keys: ['id']) }}\nSELECT id FROM {{ source('files', 'orders') }}\n",
    },
    stderr: [
      "error PZ0211: output 'lake.orders': keys have no meaning with strategy 'append' (pipelines/orders.sql:1:16) — hint: use strategy 'merge', or remove keys",
    ],
  },
  {
    title: "a strategy by another name",
    files: {
      "pipelines/orders.sql":
        "INSERT INTO {{ sink('lake', 'orders', format: 'csv', strategy: 'overwrite') }}\nSELECT id FROM {{ source('files', 'orders') }}\n",
    },
    stderr: [
      "error PZ0334: 'strategy' must be one of replace, append, merge, not the text 'overwrite' (pipelines/orders.sql:1:16) — hint: Did you mean 'replace'?",
    ],
  },
  {
    title: "two statements",
    files: { "pipelines/orders.sql": "SELECT 1 AS a;\nSELECT 2 AS b;\n" },
    stderr: [
      "warning: PZ0223 nothing uses pipeline 'orders': no sink(), no ref() and no check (pipelines/orders.sql) — load it with `INSERT INTO {{ sink(…) }}`, ref it, or delete the file",
      "error PZ0401: pipeline 'orders' holds 2 statements (pipelines/orders.sql:1:1) — hint: a pipeline is exactly one SELECT",
    ],
  },
  {
    title: "a wrong column in a check",
    files: {
      "connections.yml":
        "files:\n  connector: localfiles\n  root: data\n  entities: { orders: { read: { columns: { id: bigint, email: varchar, amount: decimal } } } }\nlake:\n  connector: localfiles\n  root: out\n",
      "pipelines/configs/orders.yml": "pipeline: orders\nchecks:\n  - not_null: [emial]\n",
    },
    stderr: [
      "error PZ0113: a check 'not_null' names the column 'emial', which pipeline 'orders' does not have (pipelines/configs/orders.yml:3:16) — hint: did you mean 'email'?",
    ],
  },
  {
    title: "a template in a check",
    files: {
      "connections.yml":
        "files:\n  connector: localfiles\n  root: data\n  entities: { orders: { read: { columns: { id: bigint, email: varchar, amount: decimal } } } }\nlake:\n  connector: localfiles\n  root: out\n",
      "pipelines/configs/orders.yml":
        "pipeline: orders\nchecks:\n  - custom_sql: { name: big, sql: \"SELECT * FROM {{ ref('orders') }}\" }\n",
    },
    stderr: [
      "error PZ0401: check 'big': syntax error at or near \"{\" (pipelines/configs/orders.yml:3:50) — hint: the SQL of a check is no template; the rows of the pipeline stand in staging.orders",
    ],
  },
  {
    title: "a check of a bare name",
    files: {
      "connections.yml":
        "files:\n  connector: localfiles\n  root: data\n  entities: { orders: { read: { columns: { id: bigint, email: varchar, amount: decimal } } } }\nlake:\n  connector: localfiles\n  root: out\n",
      "pipelines/configs/orders.yml":
        "pipeline: orders\nchecks:\n  - custom_sql: { name: big, sql: SELECT * FROM orders }\n",
    },
    stderr: [
      "error PZ0401: check 'big': Table with name orders does not exist (pipelines/configs/orders.yml:3:49) — hint: the rows of the pipeline stand in staging.orders",
    ],
  },
  {
    title: "a file that is not there",
    files: { "data/orders.csv": undefined, "data/customers.csv": "id\n" },
    stderr: [
      'error PZ0353: files.orders: There is no file "/shop/data/orders.csv" for entity "orders" (pipelines/orders.sql:2:34) — hint: there is "customers.csv"; name a file with path:',
    ],
  },
  {
    title: "a file with capitals",
    files: { "data/orders.csv": undefined, "data/Orders.csv": "id\n" },
    stderr: [
      'error PZ0353: files.orders: There is no file "/shop/data/orders.csv" for entity "orders" (pipelines/orders.sql:2:34) — hint: did you mean "Orders.csv"?',
    ],
  },
  {
    title: "a file of another kind",
    files: { "data/orders.csv": undefined, "data/orders.parquet": "" },
    stderr: [
      'error PZ0353: files.orders: There is no file "/shop/data/orders.csv" for entity "orders" (pipelines/orders.sql:2:34) — hint: there is "orders.parquet": name it with path:, and its kind with format:',
    ],
  },
  {
    title: "a folder that is not there",
    files: {
      "connections.yml": "files:\n  connector: localfiles\n  root: dta\nlake:\n  connector: localfiles\n  root: out\n",
    },
    stderr: [
      'error PZ0353: files.orders: There is no file "/shop/dta/orders.csv" for entity "orders" (pipelines/orders.sql:2:34) — hint: there is no folder "/shop/dta"; did you mean "/shop/data"?',
    ],
  },
  {
    title: "an entity with its extension",
    files: { "pipelines/orders.sql": "SELECT id FROM {{ source('files', 'orders.csv') }}\n" },
    stderr: [
      "warning: PZ0223 nothing uses pipeline 'orders': no sink(), no ref() and no check (pipelines/orders.sql) — load it with `INSERT INTO {{ sink(…) }}`, ref it, or delete the file",
      'error PZ0353: files.orders.csv: There is no file "/shop/data/orders.csv.csv" for entity "orders.csv" (pipelines/orders.sql:1:19) — hint: leave the extension out of the entity\'s name: \'orders\'',
    ],
  },
  {
    title: "path in place of root",
    files: {
      "connections.yml": "files:\n  connector: localfiles\n  path: data\nlake:\n  connector: localfiles\n  root: out\n",
    },
    stderr: [
      "error PZ0301: unknown option 'path' of connection 'files': connector 'localfiles' has no such option of a connection (connections.yml:3:3) — hint: did you mean 'root'?",
    ],
  },
  {
    title: "two flows",
    files: {
      "pipelines/b.sql": "INSERT INTO {{ sink('lake', 'b', format: 'csv', strategy: 'replace') }}\nSELECT 1 AS one\n",
    },
    stderr: [
      "error PZ0215: the project has 2 independent flows — hint: use --all, --select, or a name; the flows end in: orders; b",
    ],
  },
  {
    title: "pz rnu",
    args: ["rnu"],
    stderr: ["error: unknown verb 'rnu' — hint: did you mean 'run'? run `pz --help` for the verbs"],
  },
  {
    title: "pz build",
    args: ["build"],
    stderr: ["error: unknown verb 'build' — hint: did you mean 'run'? run `pz --help` for the verbs"],
  },
  {
    title: "pz run -s",
    args: ["run", "-s", "orders"],
    stderr: ["error PZ0210: unknown option '-s' — hint: did you mean '--select'? run `pz run --help` for the options"],
  },
  {
    title: "pz run orders.sql",
    args: ["run", "pipelines/orders.sql"],
    stderr: ["error PZ0210: no node is named 'pipelines/orders.sql' — hint: did you mean 'orders'?"],
  },
  {
    title: "pz run ordres",
    args: ["run", "ordres"],
    stderr: ["error PZ0210: no node is named 'ordres' — hint: did you mean 'orders'?"],
  },
  {
    title: "pz ls orders",
    args: ["ls", "orders"],
    stderr: ["error: 'orders' is one argument too many — hint: `pz ls --select orders` chooses nodes"],
  },
  {
    title: "--vars as YAML",
    args: ["run", "--vars", "a: 1"],
    stderr: ['error PZ0102: --vars is not valid JSON — hint: Pass a JSON object: --vars \'{"name": "value"}\'.'],
  },
];
