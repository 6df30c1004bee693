import { PLACEHOLDER_NAME, type Template } from "./template.ts";

const PROJECT = `name: ${PLACEHOLDER_NAME}
version: 0.1.0

retention:
  keep_last: 10
`;

const CONNECTIONS =
  `# An API, which is read page by page. This one is public; GitHub lets an unknown reader ask 60 times an hour.
github:
  connector: http
  base_url: https://api.github.com
  headers:
    Accept: application/vnd.github+json
  # auth:
  #   type: bearer
  #   token: \${GITHUB_TOKEN}
  entities:
    issues:
      read:
        path: /repos/duckdb/duckdb/issues
        query: { state: all, sort: updated, direction: desc, per_page: 100 }
        pagination: link_header
        max_pages: 3 # remove it to read all of them
        # Without \`columns:\` each record arrives whole, as JSON text in a column \`payload\`.
        columns:
          id: bigint
          number: int
          title: varchar
          state: varchar
          comments: int
          user: json
          created_at: timestamp
          updated_at: timestamp

# Where results go: one folder each, next to this file.
lake:
  connector: localfiles
  root: out
`;

const ISSUES = `-- A member of a record that is JSON itself is a column of JSON: \`->>\` takes a text out of it.
INSERT INTO {{ sink('lake', 'issues', format: 'parquet', strategy: 'replace') }}
SELECT id, number, title, state, comments, "user" ->> 'login' AS author, created_at, updated_at
FROM {{ source('github', 'issues') }}
`;

const ISSUES_CONFIG = `pipeline: issues
checks:
  - unique: [id]
  - not_null: [id, number, created_at]
  - accepted_values: { column: state, values: [open, closed] }
`;

const AUTHORS = `-- Who opened how many of them.
INSERT INTO {{ sink('lake', 'authors', format: 'csv', strategy: 'replace') }}
SELECT author, count(*) AS issues, sum(comments) AS comments
FROM {{ ref('issues') }}
GROUP BY author
ORDER BY issues DESC, author
`;

const README = `# ${PLACEHOLDER_NAME}

Pages of a REST API to Parquet and CSV, with checks.

    api.github.com ─ issues ─┬─ out/issues/issues.parquet
                             └─ authors ─ out/authors/authors.csv

It needs the internet, and no account.

    pz validate --connect     # everything, the server too
    pz plan                   # how every byte will move, and which hosts the connection may reach
    pz run

To read another API, change \`base_url\`, \`path\` and \`columns\` in connections.yml. Its pages may follow one another by
\`page\`, \`offset\`, \`link_header\` or \`cursor\`; \`items\` says where in an answer the records stand.
`;

/** Issues of a public repository, from an API to files. */
export const HTTP: Template = {
  id: "http",
  summary: "pages of a REST API to Parquet and CSV, with checks",
  marker: "needs the internet",
  files: [
    { path: "project.yml", content: PROJECT },
    { path: "connections.yml", content: CONNECTIONS },
    { path: "pipelines/issues.sql", content: ISSUES },
    { path: "pipelines/configs/issues.yml", content: ISSUES_CONFIG },
    { path: "pipelines/authors.sql", content: AUTHORS },
    { path: "README.md", content: README },
    { path: ".gitignore", content: ".pz/\nout/\n.env\n" },
  ],
  nextSteps: ["pz validate --connect", "pz plan", "pz run"],
};
