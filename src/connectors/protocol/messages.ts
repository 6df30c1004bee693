import { ConnectorError, type Grant } from "../contract/mod.ts";
import { encodeFrame, FRAME, FrameError } from "./frame.ts";

/** The version of the protocol; both sides must agree. */
export const PROTOCOL_MAJOR = 1;
/** The code of a connector is no larger than this. */
export const MAX_CODE_BYTES = 32 << 20;
/** Data frames that a receiver allows at first, and so the most that may be on their way on one stream. */
export const DATA_CREDITS = 8;

/**
 * A JSON message. Every request opens the stream whose number its frame carries; the answer is any number of messages
 * and data frames on that stream, then exactly one `EndOfStream` or `Failed`; what still comes for a stream that has
 * ended is dropped. Stream 0 belongs to the process itself.
 *
 * | request | the host says besides | answers |
 * |---|---|---|
 * | `Handshake` | | `Hello` |
 * | `Configure`, `CheckConnection`, `Shutdown` | | |
 * | `GetSchema` | | data: an Arrow stream without batches |
 * | `PlanRead` | | `Partition` for each, as they are found |
 * | `OpenReadStream` | credits | `Resumed` if asked to resume; data: one Arrow stream; `Checkpoint` |
 * | `BeginWrite` | data: one Arrow stream of rows, `EndOfData`, perhaps `DeleteKeys` and one of keys, `EndOfData`; `ResumeFrom`; `AckStored` for each `WriteAck` that asks for it; `CommitWrite` or `AbortWrite` | credits; `WriteSession` when begun; `Resumed`; `WriteAck`; `WriteFailed` at once, before what was written is taken back; `Committing` when that can't be stopped any more; `WriteResult` |
 * | `FetchFiles` | | `Progress` with bytes; `File` for each, in their order |
 * | `StoreFiles` | `FileGrew`; `FilesComplete`; `CommitWrite` or `AbortWrite` | `StoreSession` when begun; `FilesSent` when complete; `WriteFailed` at once; `StoreResult` |
 * | `SweepStores` | | |
 *
 * `Cancel` ends any of them early. For every single request that it makes to its system, the process asks on the stream
 * of the request that it serves: `GateAcquire`, which the host answers with `GateGrant` for one try, and then tells
 * `GateComplete`. A failure that may pass, of an operation that may be repeated, is answered again: by `GateGrant`, or
 * by `GateEnd`, after which nothing more is tried; this is also the answer where nothing is let go any more.
 * `GateComplete` before a grant takes the question back. `GateBudget` tells what is left of the system's own limit. On
 * stream 0 the host sends `Start` once, with the connector's code as data behind it where that says how many bytes it
 * has, and `Ping`; the process sends `Pong`, `LogEvent` and `Notice`.
 */
export type Message = { readonly m: string; readonly [field: string]: unknown };

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true });

/** How a gated operation failed, as far as the host has to know. */
export type OperationFailure = { readonly transient: boolean; readonly retryAfterMs?: number | undefined };

/**
 * What a `GateComplete` tells: how the operation failed, undefined for well.
 *
 * @throws {FrameError}
 */
export function operationFailure(message: Message): OperationFailure | undefined {
  if (message["error"] === undefined) return undefined;
  const failure: Message = { m: message.m, ...asRecord(message["error"], "an error") };
  const retryAfterMs = failure["retryAfterMs"];
  const asked = typeof retryAfterMs === "number" && retryAfterMs >= 0 ? { retryAfterMs } : {};
  return { transient: flagMember(failure, "transient"), ...asked };
}

/** A message as a frame. */
export function encodeMessage(stream: number, message: Message): Uint8Array<ArrayBuffer> {
  return encodeFrame(FRAME.control, stream, encoder.encode(JSON.stringify(message)));
}

/**
 * The message in a control frame.
 *
 * @throws {FrameError} when it is no message
 */
export function decodeMessage(payload: Uint8Array): Message {
  let value: unknown;
  try {
    value = JSON.parse(decoder.decode(payload));
  } catch (error) {
    throw new FrameError("a control frame that is not JSON", { cause: error });
  }
  if (!isMessage(value)) throw new FrameError("a control frame without a message name");
  return value;
}

function isMessage(value: unknown): value is Message {
  return typeof value === "object" && value !== null && "m" in value && typeof value.m === "string";
}

/**
 * A member that must be text.
 *
 * @throws {FrameError}
 */
export function textMember(message: Message, name: string): string {
  const value = message[name];
  if (typeof value !== "string") throw new FrameError(`message ${message.m} without the text "${name}"`);
  return value;
}

/**
 * A member that must be true or false.
 *
 * @throws {FrameError}
 */
export function flagMember(message: Message, name: string): boolean {
  const value = message[name];
  if (typeof value !== "boolean") throw new FrameError(`message ${message.m} without the flag "${name}"`);
  return value;
}

/**
 * A member that must be a number of rows: digits, of at most 64 bits.
 *
 * @throws {FrameError}
 */
export function rowsMember(message: Message, name: string): bigint {
  const value = message[name];
  const rows = typeof value === "string" && /^\d{1,19}$/.test(value) ? BigInt(value) : undefined;
  if (rows === undefined || rows >= 1n << 63n) throw new FrameError(`message ${message.m} without the rows "${name}"`);
  return rows;
}

/**
 * A member that must be a whole number of at least zero.
 *
 * @throws {FrameError}
 */
export function countMember(message: Message, name: string): number {
  const value = message[name];
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0) {
    throw new FrameError(`message ${message.m} without the count "${name}"`);
  }
  return value;
}

/**
 * The grant of a `Start` message.
 *
 * @throws {FrameError}
 */
export function grantFromWire(wire: unknown): Grant {
  const { net, read, write, env } = asRecord(wire, "a grant");
  return { net: texts(net), read: texts(read), write: texts(write), env: texts(env) };
}

/**
 * A list of texts.
 *
 * @throws {FrameError}
 */
export function texts(wire: unknown): readonly string[] {
  if (!Array.isArray(wire)) throw new FrameError("a list that is missing");
  return wire.map((text) => {
    if (typeof text !== "string") throw new FrameError("a list that holds more than texts");
    return text;
  });
}

export function errorToWire(error: ConnectorError): { readonly [field: string]: unknown } {
  const { message, transient, retryAfterMs, code, hint, denied, outcomeUnknown } = error;
  return { message, transient, retryAfterMs, code, hint, denied, outcomeUnknown };
}

/**
 * The error of a `Failed` message.
 *
 * @throws {FrameError}
 */
export function errorFromWire(wire: unknown): ConnectorError {
  const { message, transient, retryAfterMs, code, hint, denied, outcomeUnknown } = asRecord(wire, "an error");
  if (typeof message !== "string" || typeof transient !== "boolean") throw new FrameError("an error without its parts");
  return new ConnectorError(message, {
    transient,
    retryAfterMs: typeof retryAfterMs === "number" && retryAfterMs >= 0 ? retryAfterMs : undefined,
    code: typeof code === "string" ? code : undefined,
    hint: typeof hint === "string" ? hint : undefined,
    denied: deniedFromWire(denied),
    outcomeUnknown: typeof outcomeUnknown === "boolean" ? outcomeUnknown : undefined,
  });
}

function deniedFromWire(wire: unknown): ConnectorError["denied"] {
  if (wire === undefined) return undefined;
  const { permission, target } = asRecord(wire, "a denied permission");
  return typeof permission === "string" && typeof target === "string" ? { permission, target } : undefined;
}

/**
 * The members of an object.
 *
 * @throws {FrameError} when it is none
 */
export function asRecord(value: unknown, what: string): { readonly [field: string]: unknown } {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new FrameError(`${what} is missing`);
  return { ...value };
}
