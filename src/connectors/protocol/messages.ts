import { ConnectorError, type DatasetSpec, type Grant } from "../contract/mod.ts";
import { encodeFrame, FRAME, FrameError } from "./frame.ts";
import { configFromWire, toWire } from "./values.ts";

/** The version of the protocol; both sides must agree. */
export const PROTOCOL_MAJOR = 1;
/** Data frames that a reader allows at first, and so the most that may be on their way on one stream. */
export const READ_CREDITS = 8;

/**
 * A JSON message. Every request opens the stream whose number its frame carries; the answer is any number of messages
 * and data frames on that stream, then exactly one `EndOfStream` or `Failed`. Stream 0 belongs to the process itself.
 */
export type Message = { readonly m: string; readonly [field: string]: unknown };

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true });

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

export function specToWire(spec: DatasetSpec): { readonly [field: string]: unknown } {
  return {
    connection: spec.connection,
    entity: spec.entity,
    options: toWire(spec.options),
    ...(spec.columns === undefined ? {} : { columns: spec.columns.map(({ name, type }) => ({ name, type })) }),
  };
}

/**
 * The dataset of a message. Its `config` is the one that the child was configured with.
 *
 * @throws {FrameError}
 */
export function specFromWire(wire: unknown, config: DatasetSpec["config"]): DatasetSpec {
  const spec = asRecord(wire, "a dataset");
  const { connection, entity, options, columns } = spec;
  if (typeof connection !== "string" || typeof entity !== "string") throw new FrameError("a dataset without its names");
  return {
    connection,
    entity,
    config,
    options: configFromWire(options),
    ...(columns === undefined ? {} : { columns: columnsFromWire(columns) }),
  };
}

function columnsFromWire(wire: unknown): NonNullable<DatasetSpec["columns"]> {
  if (!Array.isArray(wire)) throw new FrameError("columns that are no list");
  return wire.map((column) => {
    const { name, type } = asRecord(column, "a column");
    if (typeof name !== "string" || typeof type !== "string") throw new FrameError("a column without name and type");
    return { name, type };
  });
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

function texts(wire: unknown): readonly string[] {
  if (!Array.isArray(wire)) throw new FrameError("a grant without its lists");
  return wire.map((text) => {
    if (typeof text !== "string") throw new FrameError("a grant whose list holds more than texts");
    return text;
  });
}

export function errorToWire(error: ConnectorError): { readonly [field: string]: unknown } {
  const { message, transient, retryAfterMs, code, hint, denied } = error;
  return { message, transient, retryAfterMs, code, hint, denied };
}

/**
 * The error of a `Failed` message.
 *
 * @throws {FrameError}
 */
export function errorFromWire(wire: unknown): ConnectorError {
  const { message, transient, retryAfterMs, code, hint, denied } = asRecord(wire, "an error");
  if (typeof message !== "string" || typeof transient !== "boolean") throw new FrameError("an error without its parts");
  return new ConnectorError(message, {
    transient,
    retryAfterMs: typeof retryAfterMs === "number" && retryAfterMs >= 0 ? retryAfterMs : undefined,
    code: typeof code === "string" ? code : undefined,
    hint: typeof hint === "string" ? hint : undefined,
    denied: deniedFromWire(denied),
  });
}

function deniedFromWire(wire: unknown): ConnectorError["denied"] {
  if (wire === undefined) return undefined;
  const { permission, target } = asRecord(wire, "a denied permission");
  return typeof permission === "string" && typeof target === "string" ? { permission, target } : undefined;
}

function asRecord(value: unknown, what: string): { readonly [field: string]: unknown } {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new FrameError(`${what} is missing`);
  return { ...value };
}
