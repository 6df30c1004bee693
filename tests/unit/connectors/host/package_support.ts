import { ConnectorSession, type DatasetSpec, type SessionOptions } from "../../../../src/connectors/mod.ts";

export const SPEC: DatasetSpec = { connection: "mail", entity: "e", config: {}, options: {} };

/** The parts of a source that works, each of which a test may replace. */
const PARTS = {
  top: "",
  open: "",
  schema: `schema: async () => SCHEMA,`,
  plan: `plan: async () => [{ id: "all" }],`,
  read: `async *read() {},`,
  sink: "",
};

/** The code of a package, as pz connector build would make it, with these parts in place of the usual ones. */
export function codeOf(parts: Partial<typeof PARTS> = {}): string {
  const { top, open, schema, plan, read, sink } = { ...PARTS, ...parts };
  return `const { arrowSchema, BatchBuilder, ConnectorError } = globalThis[Symbol.for("pz.connector.sdk")];
const SCHEMA = arrowSchema([{ name: "size_bytes", type: "BIGINT" }]);
${top}
export const connector = { name: "maildir", version: "1", capabilities: [], open(config, host) {
${open}
return { source: { ${schema} ${plan} ${read} }, ${sink} };
} };
`;
}

/** A session with a sandboxed process that runs this code. */
export function openPackage(code: string, more: Partial<SessionOptions> = {}): ConnectorSession {
  return new ConnectorSession({
    connector: "maildir",
    connection: "mail",
    config: {},
    grant: { net: [], read: [], write: [], env: [] },
    runId: "r",
    program: { kind: "module", code: new TextEncoder().encode(code) },
    capabilities: new Set(),
    onLog: () => {},
    ...more,
  });
}

/** Reads all of the dataset; the number of rows. */
export async function readAll(session: ConnectorSession): Promise<number> {
  const signal = new AbortController().signal;
  let rows = 0;
  for (const partition of await session.planRead(SPEC, signal)) {
    for await (const batch of session.read(SPEC, partition, { batchBytes: 4096, signal })) rows += batch.numRows;
  }
  return rows;
}
