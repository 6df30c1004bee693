import { PLACEHOLDER_NAME, type Template } from "./template.ts";

const PROJECT = `name: ${PLACEHOLDER_NAME}
version: 0.1.0

# Pipelines read these with {{ var('name') }}; try: pz run --all --vars '{"min_amount": 100}'
vars:
  min_amount: 10

retention:
  keep_last: 10
`;

const CONNECTIONS =
  `# CSV files to read. A \`columns:\` contract gives every column its type; a value that does not fit stops the load.
raw:
  connector: localfiles
  root: data
  entities:
    customers:
      read:
        format: csv
        columns:
          id: bigint
          name: varchar
          email: varchar
          country: varchar
    orders:
      read:
        format: csv
        columns:
          id: bigint
          customer_id: bigint
          ordered_on: date
          amount: decimal(12,2)

# Where results go.
lake:
  connector: localfiles
  root: out
  entities:
    orders_curated:
      write:
        strategy: replace
        format: parquet
`;

const STG_ORDERS = `-- Orders worth looking at. There is no sink here: other pipelines read the result with ref().
SELECT id, customer_id, ordered_on, amount
FROM {{ source('raw', 'orders') }}
WHERE amount >= {{ var('min_amount') }}
`;

const ORDERS_ENRICHED = `-- Each order with its customer. How it is written stands in connections.yml.
INSERT INTO {{ sink('lake', 'orders_curated') }}
SELECT
  orders.id,
  orders.ordered_on,
  orders.amount,
  customers.name AS customer,
  customers.email,
  customers.country
FROM {{ ref('stg_orders') }} AS orders
JOIN {{ source('raw', 'customers') }} AS customers ON customers.id = orders.customer_id
ORDER BY orders.id
`;

const ORDERS_ENRICHED_CONFIG = `pipeline: orders_enriched
tags: [daily]
checks:
  - not_null: [id, email]
  - unique: [id]
`;

const ORDER_TOTALS = `-- What each customer spent. Here the write options stand in the call.
INSERT INTO {{ sink('lake', 'order_totals', format: 'csv', strategy: 'replace') }}
SELECT
  customer_id,
  count(*) AS orders,
  sum(amount) AS total,
  max(ordered_on) AS last_order_on
FROM {{ ref('stg_orders') }}
GROUP BY customer_id
ORDER BY customer_id
`;

const PRODUCT_CATALOG =
  `-- A flow of its own: it shares nothing with the orders. The read options stand in the call, and DuckDB finds the types.
INSERT INTO {{ sink('lake', 'product_catalog', format: 'parquet', strategy: 'replace') }}
SELECT sku, upper(title) AS title, price
FROM {{ source('raw', 'products', format: 'csv', path: 'products.csv') }}
ORDER BY sku
`;

const CUSTOMERS = `id,name,email,country
1,Ada Byron,ada@example.com,GB
2,Blaise Martin,blaise@example.com,FR
3,Chiara Rossi,chiara@example.com,IT
`;

const ORDERS = `id,customer_id,ordered_on,amount
101,1,2026-03-01,42.50
102,2,2026-03-02,7.25
103,1,2026-03-04,19.90
104,3,2026-03-04,120.00
105,2,2026-03-05,3.10
`;

const PRODUCTS = `sku,title,price
LMP-01,desk lamp,39.90
MUG-02,coffee mug,8.50
PEN-03,fountain pen,24.00
`;

const README = `# ${PLACEHOLDER_NAME}

The pz sample: two independent flows over CSV files, offline.

    data/orders.csv ─ stg_orders ─┬─ orders_enriched ─ out/orders_curated/orders_curated.parquet
    data/customers.csv ───────────┘   (checks: not_null, unique)
                       stg_orders ─── order_totals ─── out/order_totals/order_totals.csv
    data/products.csv ─ product_catalog ────────────── out/product_catalog/product_catalog.parquet

    pz ls                     # the 12 nodes
    pz plan                   # how every byte will move, and why
    pz run orders_enriched    # one flow
    pz run --all              # both
    pz runs                   # what ran
`;

/** Four pipelines over three CSV files in two flows; 12 nodes. */
export const SAMPLE: Template = {
  id: "sample",
  summary: "four pipelines over CSV files in two independent flows, with checks, to Parquet and CSV",
  marker: "runs offline",
  files: [
    { path: "project.yml", content: PROJECT },
    { path: "connections.yml", content: CONNECTIONS },
    { path: "pipelines/stg_orders.sql", content: STG_ORDERS },
    { path: "pipelines/orders_enriched.sql", content: ORDERS_ENRICHED },
    { path: "pipelines/configs/orders_enriched.yml", content: ORDERS_ENRICHED_CONFIG },
    { path: "pipelines/order_totals.sql", content: ORDER_TOTALS },
    { path: "pipelines/product_catalog.sql", content: PRODUCT_CATALOG },
    { path: "data/customers.csv", content: CUSTOMERS },
    { path: "data/orders.csv", content: ORDERS },
    { path: "data/products.csv", content: PRODUCTS },
    { path: "README.md", content: README },
    { path: ".gitignore", content: ".pz/\nout/\n" },
  ],
  nextSteps: ["pz plan", "pz run orders_enriched", "pz run --all"],
};
