import assert from "node:assert/strict";
import { ConnectorError } from "../../../src/connectors/mod.ts";
import { DuckDbError } from "../../../src/duckdb/mod.ts";
import { failureOf, StepError } from "../../../src/engine/failure.ts";
import { maskOf, secretTexts } from "../../../src/util/mod.ts";
import { PzError } from "../../../src/errors/mod.ts";

const scene = { step: "read", connector: "generate", connection: "g", redact: maskOf([]) } as const;

function systemError(message: string, code: string): Error {
  return Object.assign(new Error(message), { code });
}

Deno.test("every kind of error gets its code and cause", () => {
  const cases: readonly [unknown, string, string | undefined][] = [
    [new PzError("PZ0311", "x"), "PZ0311", undefined],
    [new DuckDbError("x", "Conversion"), "PZ0501", "read"],
    [new DuckDbError("failed to allocate", "Out of Memory"), "PZ0501", "out_of_memory"],
    [new DuckDbError("Could not write file: No space left on device", "IO"), "PZ0501", "disk_full"],
    [new DuckDbError("no access", "Permission"), "PZ0501", "denied"],
    [new StepError("commit", new Error("x")), "PZ0501", "commit"],
    [new StepError("commit", systemError("x", "ENOSPC")), "PZ0501", "disk_full"],
    [systemError("x", "EACCES"), "PZ0501", "denied"],
    [new ConnectorError("x", { transient: true }), "PZ0501", "read"],
    [new ConnectorError("x", { transient: true, code: "PZ0358" }), "PZ0501", "connector_died"],
    [
      new ConnectorError("x", { transient: false, denied: { permission: "net", target: "h:1" } }),
      "PZ0740",
      "denied",
    ],
    ["a text", "PZ0501", "read"],
  ];
  for (const [error, code, cause] of cases) {
    const failure = failureOf(error, scene);
    assert.deepEqual([failure.code, failure.cause], [code, cause], String(error));
  }
});

Deno.test("a commit that may have taken place is told in the first line, with what to do about it", () => {
  const died = new ConnectorError("the process ended", { transient: true, code: "PZ0358" });
  const told = (repeatable: boolean, cause: unknown = died) =>
    failureOf(new StepError("commit", cause, { outcomeUnknown: true, repeatable }), scene);
  assert.deepEqual(told(false), {
    code: "PZ0501",
    message: "The commit failed, outcome unknown: the process ended\n" +
      "hint: look whether the rows are there before you run it again, which would add them once more",
    cause: "commit",
    outcomeUnknown: true,
  });
  assert.match(told(true).message, /\nhint: run it again: rows that are there already are replaced, not doubled$/);
  const hinted = new ConnectorError("gone", { transient: true, hint: "ask the server" });
  assert.equal(told(true, hinted).message, "The commit failed, outcome unknown: gone\nhint: ask the server");
});

Deno.test("what a write left behind is told whatever stands around its error", () => {
  const delivery = { abortSemantics: "none", rowsVisible: 7, resumedRows: 0 } as const;
  const error = new StepError("write", new Error("x"), { delivery });
  assert.deepEqual(failureOf(error, scene).delivery, delivery);
  assert.deepEqual(failureOf(new Error("y", { cause: error }), scene).delivery, delivery);
  assert.equal("delivery" in failureOf(new StepError("write", new Error("x")), scene), false);
});

Deno.test("a denied permission without a target reads well", () => {
  const error = new ConnectorError("x", { transient: false, denied: { permission: "run", target: "" } });
  assert.match(failureOf(error, scene).message, /^Connector 'generate' of connection 'g' was denied run access\n/);
});

Deno.test("secrets are masked in every message, longer ones first, and short texts are left alone", () => {
  const redact = maskOf(secretTexts({
    host: "db.example",
    password: "hunter2",
    options: { Api_Key: ["hunter2-long", 123456n], nested: { token: "t" } },
  }));
  const failure = failureOf(new Error("hunter2-long, hunter2, 123456, t, db.example"), { ...scene, redact });
  assert.equal(failure.message, "***, ***, ***, t, db.example");
});

Deno.test("a system that refuses for want of space or of a right is told with the next step", () => {
  assert.equal(
    failureOf(systemError("No space left on device: write '/d/x'", "ENOSPC"), scene).message,
    "No space left on device: write '/d/x'\nhint: free some space; `pz clean` deletes what old runs left behind",
  );
  assert.equal(
    failureOf(systemError("denied: open '/d/x'", "EACCES"), scene).message,
    "denied: open '/d/x'\nhint: give the user who runs pz the right to it, or use a folder that can be written",
  );
  assert.equal(
    failureOf(new DuckDbError('Cannot open file "/d/x": Permission denied', "IO"), scene).message,
    'Cannot open file "/d/x": Permission denied\n' +
      "hint: give the user who runs pz the right to it, or use a folder that can be written",
  );
});
