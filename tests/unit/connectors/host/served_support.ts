import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import {
  type ChildCommand,
  type ConfigMap,
  ConnectorError,
  ConnectorSession,
  type OutputSpec,
  type SessionOptions,
} from "../../../../src/connectors/mod.ts";
import { arrowSchema, BatchBuilder } from "../../../../src/connectors/sdk/mod.ts";
import type { RecordBatch } from "../../../../src/util/arrow.ts";

export const NEVER = new AbortController().signal;
export const SCHEMA = arrowSchema([{ name: "n", type: "bigint" }]);

/** What the connector said, and a way to wait for a line of it. */
export class Log {
  readonly lines: string[] = [];
  #waiting: { readonly line: string; readonly resolve: () => void }[] = [];

  readonly push = (line: string): void => {
    this.lines.push(line);
    for (const { line: awaited, resolve } of this.#waiting) if (awaited === line) resolve();
  };

  until(line: string): Promise<void> {
    if (this.lines.includes(line)) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push({ line, resolve }));
  }
}

/** A session with a child that runs `served_child.ts`. */
export function openServed(log = new Log(), more: Partial<SessionOptions> = {}): ConnectorSession {
  return new ConnectorSession({
    connector: "served",
    connection: "c",
    config: { password: "hunter2" },
    grant: { net: [], read: [], write: [], env: [] },
    runId: "r",
    onLog: (_level, message) => log.push(message),
    command: servedChild(),
    ...more,
  });
}

function servedChild(): ChildCommand {
  const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));
  const config = path("../../../../deno.json");
  const flags = [
    "run",
    "--quiet",
    "--no-prompt",
    "--cached-only",
    "--allow-run",
    "--allow-env",
    "--allow-net=127.0.0.1",
    "--v8-flags=--max-old-space-size=200",
    "--config",
    config,
  ];
  return { path: Deno.execPath(), args: [...flags, path("./served_child.ts")], env: {} };
}

export function output(options: ConfigMap = {}, more: Partial<OutputSpec> = {}): OutputSpec {
  return {
    connection: "c",
    entity: "e",
    config: {},
    options,
    mode: "append",
    schemaPolicy: "fail_on_change",
    keys: [],
    attempt: { node: "n1", run: "r1", ordinal: 3 },
    ...more,
  };
}

/** A batch of so many consecutive numbers. */
export function numbers(count: number, from = 0): RecordBatch {
  const builder = new BatchBuilder(SCHEMA);
  for (let index = 0; index < count; index++) builder.append([BigInt(from + index)]);
  return builder.finish();
}

export async function failureOf(work: Promise<unknown>): Promise<ConnectorError> {
  try {
    await work;
  } catch (error) {
    assert.ok(error instanceof ConnectorError, String(error));
    return error;
  }
  throw new assert.AssertionError({ message: "nothing failed" });
}
