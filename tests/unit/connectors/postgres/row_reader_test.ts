import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import fc from "fast-check";
import { CopyTap } from "../../../../src/connectors/builtin/postgres/copy_tap.ts";
import type { PgStream } from "../../../../src/connectors/builtin/postgres/driver.ts";
import { RowReader } from "../../../../src/connectors/builtin/postgres/row_reader.ts";
import { arrowField, type Kind } from "../../../../src/connectors/builtin/postgres/kind.ts";
import { columnReaders } from "../../../../src/connectors/sdk/mod.ts";
import { Schema } from "../../../../src/util/arrow.ts";

const KINDS: readonly Kind[] = [
  { kind: "int4" },
  { kind: "text" },
  { kind: "bool" },
  { kind: "list", element: { kind: "int8" } },
];
const SCHEMA = new Schema(KINDS.map((kind, index) => arrowField(`c${index}`, kind)));

type Row = readonly [number | null, string | null, boolean | null, readonly (bigint | null)[] | null];

const numbers = fc.option(fc.integer());
const texts = fc.option(
  fc.oneof(fc.string({ unit: "binary", maxLength: 12 }), fc.string({ minLength: 250, maxLength: 300 })),
);
const flags = fc.option(fc.boolean());
const lists = fc.option(
  fc.array(fc.option(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })), { maxLength: 4 }),
);
const manyRows = fc.array(fc.tuple(numbers, texts, flags, lists), { maxLength: 30 });

function int16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(value);
  return bytes;
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

function int64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(value);
  return bytes;
}

function sized(bytes: Buffer | null): Buffer {
  return bytes === null ? int32(-1) : Buffer.concat([int32(bytes.length), bytes]);
}

function listBytes(items: readonly (bigint | null)[]): Buffer {
  if (items.length === 0) return Buffer.concat([int32(0), int32(0), int32(20)]);
  const head = [int32(1), int32(0), int32(20), int32(items.length), int32(1)];
  return Buffer.concat([...head, ...items.map((item) => sized(item === null ? null : int64(item)))]);
}

function rowBytes([number, text, flag, list]: Row): Buffer {
  return Buffer.concat([
    int16(4),
    sized(number === null ? null : int32(number)),
    sized(text === null ? null : Buffer.from(text)),
    sized(flag === null ? null : Buffer.from([flag ? 1 : 0])),
    sized(list === null ? null : listBytes(list)),
  ]);
}

const HEADER = Buffer.from([0x50, 0x47, 0x43, 0x4f, 0x50, 0x59, 0x0a, 0xff, 0x0d, 0x0a, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
const END = int16(-1);

function message(kind: string, content: Buffer): Buffer {
  return Buffer.concat([Buffer.from(kind), int32(content.length + 4), content]);
}

function cut(bytes: Buffer, sizes: readonly number[]): Buffer[] {
  const parts: Buffer[] = [];
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1;
    parts.push(bytes.subarray(at, at + size));
    at += size;
  }
  return parts;
}

/** Sends bytes through a tap; what the driver's parser gets is returned. */
function tapped(parts: readonly Buffer[], divert: (tap: CopyTap) => void): { parsed: Buffer; error: unknown } {
  let deliver: (bytes: Buffer) => void = () => {};
  const parsed: Buffer[] = [];
  let error: unknown;
  const connection = {
    attachListeners: (stream: PgStream) => {
      stream.on("data", (bytes) => parsed.push(Buffer.from(bytes)));
    },
  };
  const tap = new CopyTap(connection);
  connection.attachListeners({
    on: (_event, listener) => deliver = listener,
    destroy: (reason) => error = reason,
  });
  divert(tap);
  // The bytes are valid during the call only.
  for (const part of parts) {
    const own = Buffer.from(part);
    deliver(own);
    own.fill(0xee);
  }
  return { parsed: Buffer.concat(parsed), error };
}

function valuesOf(reader: RowReader): unknown[][] {
  const count = reader.rows;
  const columns = columnReaders(reader.take());
  return Array.from({ length: count }, (_, row) => columns.map((column) => column.value(row)));
}

Deno.test("rows come out as they were sent, however messages and chunks cut them, and the driver gets all the rest", () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(manyRows, fc.boolean(), sizes, sizes, (rows, byRow, messageSizes, chunkSizes) => {
      const parts = [HEADER, ...rows.map(rowBytes), END];
      const contents = byRow
        // As the server sends them: the header with the first row.
        ? [Buffer.concat(parts.slice(0, 2)), ...parts.slice(2)]
        : cut(Buffer.concat(parts), messageSizes);
      const before = [message("S", Buffer.from("TimeZone\0UTC\0")), message("H", Buffer.from([1, 0, 4]))];
      const notice = message("N", Buffer.from("a notice between rows"));
      const after = [
        message("c", Buffer.alloc(0)),
        message("C", Buffer.from("COPY\0")),
        message("Z", Buffer.from("I")),
      ];
      const copied = contents.map((content) => message("d", content));
      const middle = Math.floor(copied.length / 2);
      const stream = Buffer.concat([...before, ...copied.slice(0, middle), notice, ...copied.slice(middle), ...after]);
      const reader = new RowReader(SCHEMA, KINDS, 1 << 20);
      const { parsed, error } = tapped(
        cut(stream, chunkSizes),
        (tap) => tap.divert((bytes, at) => reader.read(bytes, at)),
      );
      assert.equal(error, undefined);
      assert.deepEqual(parsed, Buffer.concat([...before, notice, ...after]));
      assert.equal(reader.isEnded, true);
      assert.equal(reader.rows, rows.length);
      assert.deepEqual(valuesOf(reader), rows.map((row) => row.map((value) => value)));
    }),
    { numRuns: 200 },
  );
});

Deno.test("while nobody takes rows the driver gets every byte, and from then on until then only the others", () => {
  const row = message("d", Buffer.from("row"));
  const other = message("Z", Buffer.from("I"));
  const all = Buffer.concat([row, other, row]);
  assert.deepEqual(tapped(cut(all, [3]), () => {}).parsed, all);
});

Deno.test("a message of an impossible length ends the connection", () => {
  const bad = Buffer.concat([Buffer.from("d"), int32(2), Buffer.from("row")]);
  const { error } = tapped([bad], (tap) => tap.divert((bytes) => bytes.length));
  assert.match(String(error), /invalid message/);
});

Deno.test("rows of another width than the columns are refused", () => {
  const reader = new RowReader(SCHEMA, KINDS, 1 << 20);
  assert.throws(
    () => reader.read(message("d", Buffer.concat([HEADER, int16(1), int32(-1)])), 0),
    /A row of 1 values came, where 4 were asked for/,
  );
});

Deno.test("many rows make several batches, each from its own first row on, with and without NULL", () => {
  const reader = new RowReader(SCHEMA, KINDS, 50_000);
  const sent: Row[] = Array.from({ length: 9000 }, (_, index) => [
    index % 1000 === 999 ? null : index,
    index < 4000 ? `text ${index}` : null,
    index % 3 === 0,
    index % 5 === 0 ? [BigInt(index), null] : [],
  ]);
  const read: unknown[][] = [];
  let batches = 0;
  reader.read(message("d", HEADER), 0);
  for (const row of sent) {
    reader.read(message("d", rowBytes(row)), 0);
    if (!reader.isFull) continue;
    batches++;
    read.push(...valuesOf(reader));
  }
  read.push(...valuesOf(reader));
  assert.ok(batches > 3, String(batches));
  assert.deepEqual(read, sent.map((row) => [...row]));
});
