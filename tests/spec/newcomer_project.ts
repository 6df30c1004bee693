export type ChangedFiles = { readonly [path: string]: string | undefined };

export const CONNECTIONS =
  `files:\n  connector: localfiles\n  root: data\nlake:\n  connector: localfiles\n  root: out\n`;
export const PIPELINE = `INSERT INTO {{ sink('lake', 'orders', format: 'csv', strategy: 'replace') }}
SELECT id, email, amount FROM {{ source('files', 'orders') }}
`;

/** A project that works. */
export const PROJECT: ChangedFiles = {
  "project.yml": `name: shop\nversion: "1"\n`,
  "connections.yml": CONNECTIONS,
  "data/orders.csv": "id,email,amount\n1,a@example.com,5\n",
  "pipelines/orders.sql": PIPELINE,
};

/** One mistake: what is different from the project that works, and all that pz says on stderr, word for word. */
export type Mistake = {
  readonly title: string;
  /** Files that replace or add to the project's; undefined: the file is not there. */
  readonly files?: ChangedFiles;
  /** What is started; `run` unless set. */
  readonly args?: readonly string[];
  readonly env?: { readonly [name: string]: string };
  /** The exit code; 2 unless set. */
  readonly code?: number;
  /** Lines; the project's folder is written as `/shop`. */
  readonly stderr: readonly string[];
};
