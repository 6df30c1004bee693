import { PLACEHOLDER_NAME, type Template } from "./template.ts";

const PROJECT = `name: ${PLACEHOLDER_NAME}
version: 0.1.0

# Connectors that pz does not carry itself.
# connectors:
#   - package: acme-connector
#     version: 1.0.0

# Values that pipelines read with {{ var('name') }}; --vars overrides them one by one.
# vars:
#   min_amount: 10

# How many runs keep their staging database.
retention:
  keep_last: 10
`;

const CONNECTIONS = `# One block for each system that pz reads from or writes to, for example:
#
# raw:
#   connector: localfiles
#   root: data
#   entities:
#     orders:
#       read:
#         format: csv
#         columns:
#           id: bigint
#           amount: decimal(12,2)
#
# lake:
#   connector: localfiles
#   root: out
`;

const README = `# ${PLACEHOLDER_NAME}

A pz project.

- \`project.yml\`: its name, variables and engine settings
- \`connections.yml\`: the systems that it reads from and writes to
- \`pipelines/\`: one SQL file for each pipeline (make this folder yourself)
- \`pipelines/configs/\`: tags, checks and materialization of a pipeline

Describe a connection, write \`pipelines/first.sql\` and run it:

    pz plan
    pz run
`;

/** An empty project: it compiles and has nothing to run yet. */
export const MINIMAL: Template = {
  id: "minimal",
  summary: "an empty project: project.yml and connections.yml with commented examples",
  marker: "nothing to run yet",
  files: [
    { path: "project.yml", content: PROJECT },
    { path: "connections.yml", content: CONNECTIONS },
    { path: "README.md", content: README },
    { path: ".gitignore", content: ".pz/\n" },
  ],
  nextSteps: [
    "describe a connection in connections.yml",
    "write pipelines/first.sql",
    "pz plan",
    "pz run",
  ],
};
