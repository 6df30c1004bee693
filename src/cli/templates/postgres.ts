import { PLACEHOLDER_NAME, type Template } from "./template.ts";

const PROJECT = `name: ${PLACEHOLDER_NAME}
version: 0.1.0

retention:
  keep_last: 10
`;

const CONNECTIONS =
  `# CSV files to read. A \`columns:\` contract gives every column its type; a value that does not fit stops the load.
raw:
  connector: localfiles
  root: data
  entities:
    orders:
      read:
        format: csv
        columns:
          id: bigint
          customer: varchar
          status: varchar
          ordered_on: date
          amount: decimal(12,2)

# Where results go. Set the variables in your shell; nothing of them is written to .pz/.
mart:
  connector: postgres
  host: \${MART_DB_HOST}
  port: \${MART_DB_PORT}
  database: \${MART_DB_NAME}
  user: \${MART_DB_USER}
  password: \${MART_DB_PASSWORD}
  retry: { max_attempts: 5, base_delay: 2s, max_delay: 1m }
  entities:
    orders_current:
      write:
        strategy: merge
        keys: [id]
`;

const ORDERS_CURRENT =
  `-- One row for each order: a second run updates the rows that are there. How it is written stands in connections.yml.
INSERT INTO {{ sink('mart', 'orders_current') }}
SELECT id, customer, status, ordered_on, amount
FROM {{ source('raw', 'orders') }}
`;

const ORDERS_CURRENT_CONFIG = `pipeline: orders_current
checks:
  # \`gate\` holds the sinks back, so that a broken key never reaches the table.
  - unique: { columns: [id], severity: gate }
  - not_null: [id, customer, ordered_on]
  - accepted_values: { column: status, values: [open, paid, sent] }
  - row_count: { min: 1 }
`;

const CUSTOMER_TOTALS =
  `-- What each customer spent. Here the write options stand in the call; \`replace\` swaps all rows in one transaction.
INSERT INTO {{ sink('mart', 'customer_totals', strategy: 'replace') }}
SELECT customer, count(*) AS orders, sum(amount)::DECIMAL(18,2) AS total
FROM {{ ref('orders_current') }}
GROUP BY customer
`;

const ORDERS = `id,customer,status,ordered_on,amount
101,Ada Byron,paid,2026-03-01,42.50
102,Blaise Martin,open,2026-03-02,7.25
103,Ada Byron,sent,2026-03-04,19.90
`;

const README = `# ${PLACEHOLDER_NAME}

CSV files to PostgreSQL, with checks.

    data/orders.csv ─ orders_current ─┬─ mart.orders_current (merge by id)
                                      └─ customer_totals ─ mart.customer_totals (replace)

The database is named by five variables; its tables are made at the first run.

    export MART_DB_HOST=127.0.0.1 MART_DB_PORT=5432 MART_DB_NAME=mart MART_DB_USER=me MART_DB_PASSWORD=…
    pz validate --connect     # everything, the server too
    pz plan                   # how every byte will move, and what each connection may touch
    pz run
`;

/** Two pipelines from a CSV file into tables of PostgreSQL. */
export const POSTGRES: Template = {
  id: "postgres",
  summary: "CSV files to PostgreSQL: merge and replace, with checks that hold a load back",
  marker: "needs a database",
  files: [
    { path: "project.yml", content: PROJECT },
    { path: "connections.yml", content: CONNECTIONS },
    { path: "pipelines/orders_current.sql", content: ORDERS_CURRENT },
    { path: "pipelines/configs/orders_current.yml", content: ORDERS_CURRENT_CONFIG },
    { path: "pipelines/customer_totals.sql", content: CUSTOMER_TOTALS },
    { path: "data/orders.csv", content: ORDERS },
    { path: "README.md", content: README },
    { path: ".gitignore", content: ".pz/\n.env\n" },
  ],
  nextSteps: [
    "set MART_DB_HOST, MART_DB_PORT, MART_DB_NAME, MART_DB_USER and MART_DB_PASSWORD",
    "pz validate --connect",
    "pz plan",
    "pz run",
  ],
};
