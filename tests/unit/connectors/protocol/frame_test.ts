import assert from "node:assert/strict";
import fc from "fast-check";
import {
  decodeCredit,
  encodeCredit,
  encodeFrame,
  FRAME,
  type Frame,
  FrameDecoder,
  MAX_CONTROL_BYTES,
  MAX_DATA_BYTES,
} from "../../../../src/connectors/protocol/frame.ts";
import {
  decodeMessage,
  encodeMessage,
  errorFromWire,
  errorToWire,
  grantFromWire,
} from "../../../../src/connectors/protocol/messages.ts";
import { datasetFromWire, datasetToWire } from "../../../../src/connectors/protocol/specs.ts";
import { fromWire, toWire } from "../../../../src/connectors/protocol/values.ts";
import { type ConfigValue, ConnectorError } from "../../../../src/connectors/mod.ts";

function joined(parts: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(parts.flatMap((part) => [...part]));
}

Deno.test("frames survive being cut anywhere", () => {
  const frame = fc.record({
    kind: fc.constantFrom(FRAME.control, FRAME.data),
    stream: fc.nat(0xffffffff),
    payload: fc.uint8Array({ maxLength: 50 }),
  });
  fc.assert(fc.property(fc.array(frame, { maxLength: 8 }), fc.array(fc.nat(40), { minLength: 1 }), (frames, cuts) => {
    const bytes = joined(frames.map(({ kind, stream, payload }) => encodeFrame(kind, stream, payload)));
    const decoder = new FrameDecoder();
    const decoded: Frame[] = [];
    for (let at = 0, turn = 0; at < bytes.length; turn++) {
      const size = 1 + (cuts[turn % cuts.length] ?? 0);
      decoded.push(...decoder.push(bytes.subarray(at, at + size)));
      at += size;
    }
    assert.ok(decoder.atBoundary);
    assert.deepEqual(
      decoded.map(({ kind, stream, payload }) => ({ kind, stream, payload: [...payload] })),
      frames.map(({ kind, stream, payload }) => ({ kind, stream, payload: [...payload] })),
    );
  }));
});

Deno.test("an unknown kind and a length beyond the kind's limit are refused before anything is allocated", () => {
  const header = (length: number, kind: number) => {
    const bytes = new Uint8Array(9);
    new DataView(bytes.buffer).setUint32(0, length, true);
    bytes[4] = kind;
    return bytes;
  };
  for (
    const bytes of [
      header(0, 0),
      header(0, 9),
      header(MAX_DATA_BYTES + 1, FRAME.data),
      header(MAX_CONTROL_BYTES + 1, FRAME.control),
      header(5, FRAME.credit),
    ]
  ) {
    assert.throws(() => [...new FrameDecoder().push(bytes)], { name: "FrameError" });
  }
});

Deno.test("credits travel as their count", () => {
  const [frame] = [...new FrameDecoder().push(encodeCredit(7, 3))];
  assert.ok(frame !== undefined);
  assert.deepEqual([frame.stream, decodeCredit(frame)], [7, 3]);
  assert.throws(() => decodeCredit({ ...frame, payload: new Uint8Array(3) }), { name: "FrameError" });
});

Deno.test("configuration values of every kind come back the same, whole numbers exactly", () => {
  const leaf = fc.oneof(
    fc.constant(null),
    fc.boolean(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).filter((value) => !Object.is(value, -0)),
    fc.bigInt(),
    fc.string(),
  );
  const { value } = fc.letrec<{ value: ConfigValue }>((tie) => ({
    value: fc.oneof(
      { depthSize: "small" },
      leaf,
      fc.array(tie("value"), { maxLength: 4 }),
      fc.dictionary(fc.string().filter((key) => key !== "__proto__"), tie("value"), {
        maxKeys: 4,
        noNullPrototype: true,
      }),
    ),
  }));
  fc.assert(fc.property(value, (original) => {
    const back = fromWire(JSON.parse(JSON.stringify(toWire(original))));
    assert.deepEqual(normal(back), normal(original));
  }));
});

/** Maps without prototypes as plain ones. */
function normal(value: ConfigValue): unknown {
  if (Array.isArray(value)) return value.map(normal);
  if (value === null || typeof value !== "object") return value;
  return new Map(Object.entries(value).map(([key, member]) => [key, normal(member)]));
}

Deno.test("a dataset, an error and a grant come back the same", () => {
  const spec = {
    connection: "c",
    entity: "e",
    config: { a: 1 },
    options: { rows: 5n, list: ["x", { y: null }] },
    columns: [{ name: "n", type: "int" }],
  };
  const wire = JSON.parse(JSON.stringify(datasetToWire(spec)));
  assert.deepEqual(datasetFromWire(wire, spec.config).columns, spec.columns);
  assert.deepEqual(datasetFromWire(wire, spec.config).options["rows"], 5n);
  const error = new ConnectorError("m", {
    transient: true,
    retryAfterMs: 10,
    code: "PZ0740",
    hint: "h",
    denied: { permission: "net", target: "h:1" },
  });
  const back = errorFromWire(JSON.parse(JSON.stringify(errorToWire(error))));
  assert.deepEqual(
    [back.message, back.transient, back.retryAfterMs, back.code, back.hint, back.denied],
    ["m", true, 10, "PZ0740", "h", { permission: "net", target: "h:1" }],
  );
  const grant = { net: ["a:1"], read: ["/x"], write: [], env: ["HOME"] };
  assert.deepEqual(grantFromWire(JSON.parse(JSON.stringify(grant))), grant);
});

Deno.test("messages that are none are refused", () => {
  const encoder = new TextEncoder();
  for (const text of ["", "{", "[]", "{}", '{"m":1}', "null"]) {
    assert.throws(() => decodeMessage(encoder.encode(text)), { name: "FrameError" }, text);
  }
  assert.throws(() => decodeMessage(new Uint8Array([0xff])), { name: "FrameError" });
  assert.throws(() => datasetFromWire({}, {}), { name: "FrameError" });
  assert.throws(() => errorFromWire({ message: "x" }), { name: "FrameError" });
  assert.throws(() => grantFromWire({ net: [1], read: [], write: [], env: [] }), { name: "FrameError" });
  const [frame] = [...new FrameDecoder().push(encodeMessage(3, { m: "Cancel" }))];
  assert.deepEqual(frame === undefined ? undefined : decodeMessage(frame.payload), { m: "Cancel" });
});
