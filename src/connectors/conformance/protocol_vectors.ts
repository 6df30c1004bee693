import { CAPABILITIES, type ConfigMap, ConnectorError, type DatasetSpec } from "../contract/mod.ts";
import type { ConnectorChild } from "../host/child.ts";
import { withDeadline } from "../host/deadline.ts";
import { MAX_MESSAGE_BYTES, NUMERIC_PROBE } from "../sdk/probe.ts";
import { datasetToWire } from "../protocol/specs.ts";
import { expect, Skipped, type Vector } from "./target.ts";
import type { Trial } from "./trial.ts";

/** A name that no system has. */
export const MISSING = "__pz_conformance_probe_missing__";

/** What holds for every connector, in the order of the report. */
export const HANDSHAKE: Vector = {
  name: "handshake",
  needs: "nothing",
  async run(trial) {
    const { connector } = trial.target;
    const child = await trial.child();
    try {
      expect(connector.name !== "", "the connector has no name");
      const call = child.open({ m: "Handshake", protocolMajor: 1, runId: "conformance" }, { isLimited: true });
      const hello = (await call.answer()).find(({ m }) => m === "Hello");
      expect(hello?.["name"] === connector.name, "it answers by another name than its manifest has");
      expect(
        hello?.["version"] === connector.version,
        `it says that its version is ${
          JSON.stringify(hello?.["version"])
        }, and its manifest says "${connector.version}"`,
      );
      const bits = [...connector.capabilities].reduce((sum, name) => sum | CAPABILITIES[name], 0n);
      expect(
        connector.program === undefined || hello?.["capabilities"] === bits.toString(),
        "its capabilities are others than its manifest's",
      );
    } finally {
      await child.close();
    }
    return `${connector.name} ${connector.version}, protocol 1`;
  },
};

export const ERROR_SHAPE: Vector = {
  name: "transient-error-shape",
  needs: "either",
  async run(trial) {
    const { read, connector } = trial.target;
    const missing = read === undefined ? undefined : { ...read, dataset: MISSING };
    let spec: DatasetSpec | undefined;
    try {
      spec = missing === undefined ? undefined : trial.dataset(undefined, missing);
    } catch {
      return "refused before its process was asked";
    }
    if (spec === undefined || !connector.universal.read) throw new Skipped("no dataset to ask for");
    const signal = AbortSignal.timeout(30_000);
    try {
      await trial.session.getSchema(spec, signal);
      for (const partition of await trial.session.planRead(spec, signal)) {
        for await (const _ of trial.session.read(spec, partition, { batchBytes: 4096, signal })) break;
      }
    } catch (error) {
      checkError(error);
      return;
    }
    throw new Skipped("the connector accepts any name");
  },
};

/** @throws {Error} unless it is an error that the connector made on purpose */
export function checkError(error: unknown): void {
  expect(error instanceof ConnectorError, "it does not answer within 30 s");
  if (!(error instanceof ConnectorError)) return;
  expect(error.message !== "", "the error has no message");
  expect(error.code !== "PZ0358" && error.code !== "PZ0357", `instead of an error, ${error.message}`);
  expect(
    !/^Connector '.*' of connection '.*' failed unexpectedly: /.test(error.message),
    `no ConnectorError: ${error.message}`,
  );
}

export const VALIDATION: Vector = {
  name: "validation-aggregation",
  needs: "nothing",
  async run(trial) {
    const { connector, root } = trial.target;
    const context = { projectRoot: root };
    connector.grant({}, context);
    const place = { connection: "conformance", entity: "conformance", config: {}, options: {} };
    const refused = connector.universalRead?.(place, context);
    const told = refused?.ok === false ? refused.problems.length : 0;
    // The process gets a connection without settings, too, and lives.
    const child = await openedWith(trial, {});
    try {
      const call = child?.open({ m: "CheckConnection" }, { isLimited: true });
      await withDeadline(call?.settled.catch(() => {}) ?? Promise.resolve(), 15_000);
      expect(child === undefined || child.isAlive, "a connection without settings ends the process");
    } finally {
      await child?.close();
    }
    return told === 0 ? undefined : `${told} problems told at once`;
  },
};

/** A process that was configured so; undefined where it refused the configuration in words. */
async function openedWith(
  trial: Trial,
  config: ConfigMap,
): Promise<ConnectorChild | undefined> {
  try {
    return await trial.child(config);
  } catch (error) {
    checkError(error);
    return undefined;
  }
}

/** The carrier has no tickets: what takes their place is the number of a stream, which is never used twice. */
export const TICKETS: Vector = {
  name: "ticket-handling",
  needs: "nothing",
  async run(trial) {
    const child = await trial.child();
    try {
      const unknown = child.open({ m: "PzConformanceUnknownRequest" }, { isLimited: true });
      let refused = false;
      await unknown.answer().catch((error: unknown) => refused = error instanceof ConnectorError);
      expect(refused, "a request that nobody knows is not refused");
      child.send(unknown, { m: "Cancel" });
      child.send(unknown, { m: "CommitWrite" });
      const again = child.open({ m: "Handshake", protocolMajor: 1, runId: "conformance" }, { isLimited: true });
      await again.answer();
      expect(child.isAlive, "what comes for a stream that has ended ends the process");
    } finally {
      await child.close();
    }
    return "streams that have ended take nothing more";
  },
};

export const MESSAGE_SIZE: Vector = {
  name: "control-plane-message-size",
  needs: "nothing",
  async run(trial) {
    const child = await trial.child();
    try {
      const hello = child.open({ m: "Handshake", protocolMajor: 1, runId: "conformance" }, { isLimited: true });
      const size = JSON.stringify(await hello.answer()).length;
      expect(size <= MAX_MESSAGE_BYTES, `its greeting has ${size} bytes`);
      if (trial.target.read === undefined || !trial.target.connector.universal.read) return;
      const schema = child.open({ m: "GetSchema", spec: datasetToWire(trial.dataset()) }, { isLimited: true });
      let bytes = 0;
      for await (const part of schema.data()) bytes += part.length;
      expect(bytes <= MAX_MESSAGE_BYTES, `a schema has ${bytes} bytes`);
    } finally {
      await child.close();
    }
  },
};

export const NUMBERS: Vector = {
  name: "numeric-option-fidelity",
  needs: "nothing",
  async run(trial) {
    const first = await probe(trial, 0.5);
    if (first === undefined) throw new Skipped("its SDK does not answer the probe");
    expect(first === `${NUMERIC_PROBE}: not integral`, `0.5 arrives as something else: ${first}`);
    for (const value of [424_242, 9_007_199_254_740_993n]) {
      const answer = await probe(trial, value);
      expect(answer === undefined, `${value} does not arrive as it is: ${answer}`);
    }
  },
};

/** What a connection with this one setting is refused with. */
async function probe(trial: Trial, value: number | bigint): Promise<string | undefined> {
  try {
    await (await trial.child({ [NUMERIC_PROBE]: value }, { asItIs: true })).close();
    return undefined;
  } catch (error) {
    return error instanceof ConnectorError ? error.message : String(error);
  }
}

export const CLEAN_EXIT: Vector = {
  name: "clean-exit-on-shutdown",
  needs: "nothing",
  async run(trial) {
    const child = await trial.child();
    const call = child.open({ m: "Shutdown" });
    const acknowledged = await withDeadline(call.settled, 10_000).catch(() => false);
    await child.close();
    expect(acknowledged !== false, "Shutdown is not acknowledged within 10 s");
    const { code, signal } = await child.status;
    expect(signal === null, `it did not end within 10 s of its input's end`);
    expect(code === 0, `it ends with exit code ${code}`);
  },
};
