import { CONNECTIONS, type Mistake, PIPELINE } from "./newcomer_project.ts";

/** Mistakes in a project's files and folders. */
export const FILE_MISTAKES: readonly Mistake[] = [
  {
    title: "a number in ${VAR} without quotes",
    files: {
      "connections.yml":
        "files:\n  connector: localfiles\n  root: ${DATA_DIR}\nlake:\n  connector: localfiles\n  root: out\n",
    },
    env: { "DATA_DIR": "123" },
    stderr: [
      'error PZ0301: connection \'files\': Setting "root" is 123: expected a folder (connections.yml:3:3) — hint: put it in quotes, as in root: "${NAME}", to keep it a text',
    ],
  },
  {
    title: "an environment variable that is not set",
    files: {
      "connections.yml":
        "files:\n  connector: localfiles\n  root: ${DATA_DIR}\nlake:\n  connector: localfiles\n  root: out\n",
    },
    stderr: [
      "error PZ0103: The environment variable 'DATA_DIR' is not set (connections.yml:3:9) — hint: Set DATA_DIR.",
    ],
  },
  {
    title: "an environment variable as in a shell",
    files: {
      "connections.yml":
        "files:\n  connector: localfiles\n  root: $DATA_DIR\nlake:\n  connector: localfiles\n  root: out\n",
    },
    env: { "DATA_DIR": "data" },
    stderr: [
      "warning: PZ0133 '$DATA_DIR' stays as it is (connections.yml:3:9) — Write ${DATA_DIR} for the environment variable.",
      'error PZ0353: files.orders: There is no file "/shop/$DATA_DIR/orders.csv" for entity "orders" (pipelines/orders.sql:2:34) — hint: there is no folder "/shop/$DATA_DIR"',
    ],
  },
  {
    title: "${VAR} without quotes inside { }",
    files: {
      "connections.yml":
        "files: { connector: localfiles, root: ${DATA_DIR} }\nlake:\n  connector: localfiles\n  root: out\n",
    },
    env: { "DATA_DIR": "data" },
    stderr: [
      'error PZ0101: This doesn\'t belong here (connections.yml:1:40) — hint: Inside { } and [ ] put the reference in quotes: "${NAME}".',
    ],
  },
  {
    title: "a template in YAML",
    files: {
      "connections.yml":
        "files:\n  connector: localfiles\n  root: {{ env_var('DATA_DIR') }}\nlake:\n  connector: localfiles\n  root: out\n",
    },
    stderr: [
      "error PZ0101: A key must be a plain text (connections.yml:3:10) — hint: Put a text that starts with { in quotes; an environment variable is ${NAME}.",
    ],
  },
  {
    title: "a template in YAML, in quotes",
    files: {
      "connections.yml":
        "files:\n  connector: localfiles\n  root: \"{{ env_var('DATA_DIR') }}\"\nlake:\n  connector: localfiles\n  root: out\n",
    },
    stderr: [
      "warning: PZ0133 '{{ … }}' stays as it is: templates are filled in in pipelines only (connections.yml:3:9) — Write ${DATA_DIR} for the environment variable.",
      'error PZ0353: files.orders: There is no file "/shop/{{ env_var(\'DATA_DIR\') }}/orders.csv" for entity "orders" (pipelines/orders.sql:2:34) — hint: there is no folder "/shop/{{ env_var(\'DATA_DIR\') }}"',
    ],
  },
  {
    title: "profiles.yml in place of connections.yml",
    files: {
      "connections.yml": undefined,
      "profiles.yml": "shop:\n  target: dev\n  outputs:\n    dev: { type: duckdb }\n",
    },
    stderr: [
      "warning: PZ0703 'profiles.yml' is not read: connections stand in connections.yml (profiles.yml) — Write each connection there as '<name>: { connector: … }'; what differs from place to place is ${NAME}.",
      "error PZ0201: sink('lake', 'orders') names no connection (pipelines/orders.sql:1:16) — hint: add 'lake' to connections.yml",
      "error PZ0201: source('files', 'orders') names no connection (pipelines/orders.sql:2:34) — hint: add 'files' to connections.yml",
    ],
  },
  {
    title: "targets in connections.yml",
    files: {
      "connections.yml":
        "files:\n  connector: localfiles\n  root: data\nlake:\n  connector: localfiles\n  root: out\nshop:\n  target: dev\n  outputs:\n    dev: { type: postgres }\n",
    },
    stderr: [
      "error PZ0101: Missing key 'connector' in 'shop' (connections.yml:9:3) — hint: A connection has no targets: put its settings under its name, and write what differs as ${NAME}.",
    ],
  },
  {
    title: "type in place of connector",
    files: {
      "connections.yml": "files:\n  type: localfiles\n  root: data\nlake:\n  connector: localfiles\n  root: out\n",
    },
    stderr: [
      "error PZ0101: Missing key 'connector' in 'files' (connections.yml:2:3) — hint: Write 'connector:' in place of 'type:'.",
    ],
  },
  {
    title: "a key around all connections",
    files: { "connections.yml": "connections:\n  files:\n    connector: localfiles\n" },
    stderr: [
      "error PZ0101: 'connections' is no connection, but wraps others (connections.yml:1:1) — hint: Connections stand at the top level: remove 'connections:' and indent less.",
    ],
  },
  {
    title: "a connector by the name of its files",
    files: {
      "connections.yml": "files:\n  connector: csv\n  root: data\nlake:\n  connector: localfiles\n  root: out\n",
    },
    stderr: [
      "error PZ0701: connection 'files' uses connector 'csv', which pz does not know (connections.yml:2:3) — hint: did you mean 'localfiles'?",
    ],
  },
  {
    title: "a connector by another name",
    files: {
      "connections.yml": "files:\n  connector: postgresql\n  root: data\nlake:\n  connector: localfiles\n  root: out\n",
    },
    stderr: [
      "error PZ0701: connection 'files' uses connector 'postgresql', which pz does not know (connections.yml:2:3) — hint: did you mean 'postgres'?",
    ],
  },
  {
    title: "dbt_project.yml in place of project.yml",
    files: { "project.yml": undefined, "dbt_project.yml": "name: shop\n" },
    stderr: [
      "error PZ0101: There is no project.yml in '/shop' (project.yml) — hint: pz does not read dbt_project.yml: write a project.yml with name and version.",
    ],
  },
  {
    title: "keys of dbt_project.yml",
    files: { "project.yml": 'name: shop\nversion: "1"\nprofile: shop\nmodel-paths: [models]\n' },
    stderr: [
      "error PZ0101: Unknown key 'profile' (project.yml:3:1) — hint: Describe each connection in connections.yml.",
      "error PZ0101: Unknown key 'model-paths' (project.yml:4:1) — hint: Pipelines stand in pipelines/.",
    ],
  },
  {
    title: "project.yaml",
    files: { "project.yml": undefined, "project.yaml": 'name: shop\nversion: "1"\n' },
    stderr: [
      "error PZ0101: There is no project.yml in '/shop' (project.yml) — hint: Rename 'project.yaml' to 'project.yml'.",
    ],
  },
  {
    title: "connections.yaml",
    files: { "connections.yml": undefined, "connections.yaml": CONNECTIONS },
    stderr: [
      "warning: PZ0135 'connections.yaml' is not read: project files end in .yml (connections.yaml) — Rename it to 'connections.yml'.",
      "error PZ0201: sink('lake', 'orders') names no connection (pipelines/orders.sql:1:16) — hint: add 'lake' to connections.yml",
      "error PZ0201: source('files', 'orders') names no connection (pipelines/orders.sql:2:34) — hint: add 'files' to connections.yml",
    ],
  },
  {
    title: "a sidecar that ends in .yaml",
    files: { "pipelines/configs/orders.yaml": "pipeline: orders\n" },
    code: 0,
    stderr: [
      "warning: PZ0135 'pipelines/configs/orders.yaml' is not read: project files end in .yml (pipelines/configs/orders.yaml) — Rename it to 'pipelines/configs/orders.yml'.",
    ],
  },
  {
    title: "a sidecar beside its pipeline",
    files: { "pipelines/orders.yml": "pipeline: orders\n" },
    code: 0,
    stderr: [
      "warning: PZ0703 'pipelines/orders.yml' is not read: settings of pipelines stand in pipelines/configs/ (pipelines/orders.yml) — Move it to 'pipelines/configs/', and name its pipeline there with 'pipeline:'.",
    ],
  },
  {
    title: "pipelines in models/",
    files: { "pipelines/orders.sql": undefined, "models/orders.sql": PIPELINE, "models/more/b.sql": PIPELINE },
    code: 0,
    stderr: [
      "warning: PZ0703 'models/more/b.sql' and 1 more are not read: pipelines stand in pipelines/ (models/more/b.sql) — Move them to 'pipelines/'.",
    ],
  },
  {
    title: "a pipeline in the project's folder",
    files: { "pipelines/orders.sql": undefined, "orders.sql": PIPELINE },
    code: 0,
    stderr: [
      "warning: PZ0703 'orders.sql' is not read: pipelines stand in pipelines/ (orders.sql) — Move it to 'pipelines/'.",
    ],
  },
  {
    title: "schema.yml",
    files: { "pipelines/configs/schema.yml": "version: 2\nmodels:\n  - name: orders\n" },
    stderr: [
      "error PZ0101: Unknown key 'version' (pipelines/configs/schema.yml:1:1) — hint: Remove it.",
      "error PZ0101: Missing key 'pipeline' (pipelines/configs/schema.yml:1:1) — hint: Add 'pipeline:'.",
      "error PZ0101: Unknown key 'models' (pipelines/configs/schema.yml:2:1) — hint: Each pipeline has a file of its own: 'pipeline:' with its name, then 'checks:'.",
    ],
  },
  {
    title: "tests in place of checks",
    files: { "pipelines/configs/orders.yml": "pipeline: orders\ntests:\n  - unique: [id]\n" },
    stderr: ["error PZ0101: Unknown key 'tests' (pipelines/configs/orders.yml:2:1) — hint: Write 'checks:'."],
  },
  {
    title: "materialized in place of materialization",
    files: { "pipelines/configs/orders.yml": "pipeline: orders\nmaterialized: table\n" },
    stderr: [
      "error PZ0101: Unknown key 'materialized' (pipelines/configs/orders.yml:2:1) — hint: Write 'materialization: table', view or ephemeral.",
    ],
  },
  {
    title: "materialization: incremental",
    files: { "pipelines/configs/orders.yml": "pipeline: orders\nmaterialization: incremental\n" },
    stderr: [
      "error PZ0134: 'materialization' must be one of table, view, ephemeral, not the text 'incremental' (pipelines/configs/orders.yml:2:18) — hint: Read in steps with 'sync' or watermark(), and keep what is there with strategy: merge or append.",
    ],
  },
  {
    title: "checks without a list",
    files: { "pipelines/configs/orders.yml": "pipeline: orders\nchecks:\n  not_null: [id]\n" },
    stderr: [
      "error PZ0113: 'checks' must be a list of checks, not a map (pipelines/configs/orders.yml:3:3) — hint: Start each check with '- ', as in '- not_null: …'.",
    ],
  },
  {
    title: "a check with a word in place of a list",
    files: { "pipelines/configs/orders.yml": "pipeline: orders\nchecks:\n  - unique: id\n" },
    stderr: [
      "error PZ0113: 'checks[0].unique' must be a list of columns or a map of options, not the text 'id' (pipelines/configs/orders.yml:3:13) — hint: Write [id].",
    ],
  },
  {
    title: "tabs in YAML",
    files: { "connections.yml": "files:\n\tconnector: localfiles\n" },
    stderr: ["error PZ0101: A tab can't indent YAML (connections.yml:2:1) — hint: Use spaces."],
  },
  {
    title: "pz run in a folder of the project",
    args: ["run", "--project", "pipelines"],
    stderr: [
      "error PZ0101: There is no project.yml in '/shop/pipelines' (project.yml) — hint: The project is in '/shop': run pz there, or name it with --project.",
    ],
  },
  {
    title: "pz run on a file of the project",
    args: ["run", "--project", "project.yml"],
    stderr: [
      "error PZ0101: '/shop/project.yml' is a file, not a project's folder — hint: Name the folder that holds project.yml: --project /shop",
    ],
  },
  {
    title: "pz run in no project",
    args: ["run", "--project", "nowhere"],
    stderr: [
      "error PZ0101: There is no folder '/shop/nowhere' — hint: Name a project's folder with --project, or start one with pz init.",
    ],
  },
];
