import assert from "node:assert/strict";
import { join } from "node:path";
import * as esbuild from "esbuild";
import { CHILD_VERB, childCommand } from "../../src/connectors/host/command.ts";
import { ConnectorError, ConnectorSession, type DatasetSpec } from "../../src/connectors/mod.ts";
import { BINARY } from "../harness/cli.ts";
import type { Attempt } from "./sandbox/attempt.ts";
import { ATTEMPTS, HOSTILE } from "./sandbox/hostile.ts";
import { ROOT, Surroundings } from "./sandbox_support.ts";

const NEVER = new AbortController().signal;

/** The hostile connector as its author would publish it. */
async function hostilePackage(): Promise<Uint8Array<ArrayBuffer>> {
  try {
    const { outputFiles } = await esbuild.build({
      absWorkingDir: ROOT,
      entryPoints: [join("tests", "connectors", "sandbox", "hostile.ts")],
      bundle: true,
      write: false,
      format: "esm",
      platform: "node",
      target: "esnext",
      logLevel: "error",
    });
    return new Uint8Array(outputFiles[0]?.contents ?? []);
  } finally {
    await esbuild.stop();
  }
}

Deno.test(`nothing that the code of a package tries gets it out of the sandbox${BINARY === undefined ? "" : " of the binary"}`, async () => {
  // Within the test: the bundler's process may end a while after it was stopped.
  const code = await hostilePackage();
  await using surroundings = await Surroundings.create();
  const { granted, grantedPort } = surroundings.targets;
  const command = BINARY === undefined ? childCommand() : { path: BINARY, args: [CHILD_VERB], env: {} };
  await using session = new ConnectorSession({
    connector: HOSTILE,
    connection: "h",
    config: {},
    grant: { net: [`127.0.0.1:${grantedPort}`], read: [granted], write: [granted], env: ["PZ_GRANTED"] },
    runId: "r1",
    onLog: () => {},
    program: { kind: "module", code },
    command: { ...command, env: { ...command.env, PZ_GRANTED: "yes" } },
  });
  const escaped: string[] = [];
  for (const attempt of ATTEMPTS.filter(({ only }) => only === undefined)) {
    try {
      await session.planRead(asked(attempt, JSON.stringify(surroundings.targets)), NEVER);
      escaped.push(`${attempt.kind}: ${attempt.name}`);
    } catch (error) {
      assert.ok(error instanceof ConnectorError, String(error));
    }
  }
  assert.deepEqual(escaped, []);
  assert.deepEqual(await session.planRead({ ...PLACE, options: {} }, NEVER), [{ id: "idle" }]);
});

const PLACE = { connection: "h", entity: "e", config: {} };

function asked({ kind, name }: Attempt, targets: string): DatasetSpec {
  return { ...PLACE, options: { attempt: `${kind}: ${name}`, targets } };
}
