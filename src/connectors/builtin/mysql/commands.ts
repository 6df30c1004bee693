import type { Command, Connection, Packet } from "./driver.ts";
import { type FieldInfo, readField, WireReader } from "./wire.ts";

const HEADER_BYTES = 4;
const MAX_PACKET = 0xffffff;
const QUIT = 0x01;
const QUERY = 0x03;
const PREPARE = 0x16;
const EXECUTE = 0x17;

/** Bytes of a command with room for the packet's header before them. */
export type Payload = Uint8Array;

/** Sends a command as packets of the protocol. */
function send(connection: Connection, payload: Payload): void {
  const size = payload.length - HEADER_BYTES;
  for (let from = 0, sequence = 0;; from += MAX_PACKET, sequence++) {
    const length = Math.min(MAX_PACKET, size - from);
    const header = from === 0 ? payload.subarray(0, HEADER_BYTES) : new Uint8Array(HEADER_BYTES);
    header[0] = length & 0xff;
    header[1] = (length >> 8) & 0xff;
    header[2] = length >> 16;
    header[3] = sequence & 0xff;
    connection._bumpSequenceId(1);
    if (from === 0) connection.write(payload.subarray(0, HEADER_BYTES + length));
    else {
      connection.write(header);
      connection.write(payload.subarray(HEADER_BYTES + from, HEADER_BYTES + from + length));
    }
    if (length < MAX_PACKET) return;
  }
}

/** A command and its text. */
function textPayload(command: number, text: string): Payload {
  const bytes = new TextEncoder().encode(text);
  const payload = new Uint8Array(HEADER_BYTES + 1 + bytes.length);
  payload[HEADER_BYTES] = command;
  payload.set(bytes, HEADER_BYTES + 1);
  return payload;
}

/** Marks bytes, which leave room for header and command, as a statement. */
export function statementPayload(bytes: Uint8Array): Payload {
  bytes[HEADER_BYTES] = QUERY;
  return bytes;
}

/** Bytes before the text of a statement. */
export const STATEMENT_START = HEADER_BYTES + 1;

/** A command whose end can be waited for. */
abstract class ServerCommand implements Command {
  readonly #payload: Payload;
  readonly #end = Promise.withResolvers<void>();

  constructor(payload: Payload) {
    this.#payload = payload;
    // Whoever does not wait for the end hears of the failure elsewhere.
    this.#end.promise.catch(() => {});
  }

  /** Settles when the server has answered, or failed this command. */
  get end(): Promise<void> {
    return this.#end.promise;
  }

  execute(packet: Packet | undefined, connection: Connection): boolean {
    if (packet === undefined) {
      connection._resetSequenceId();
      send(connection, this.#payload);
      return false;
    }
    if (packet.isError()) {
      this.onResult(packet.asError("utf8"));
      return true;
    }
    const isDone = this.receive(packet, connection);
    if (isDone) this.#end.resolve();
    return isDone;
  }

  onResult(error: Error): void {
    this.#end.reject(error);
  }

  /** Handles one packet of the answer; true: it was the last. */
  protected abstract receive(packet: Packet, connection: Connection): boolean;
}

/** Where an answer with rows has got to. */
type Place = "header" | "fields" | "rows";

abstract class RowsCommand extends ServerCommand {
  readonly fields: FieldInfo[] = [];
  #place: Place = "header";
  #expected = 0;
  affectedRows = 0n;

  protected override receive(packet: Packet, connection: Connection): boolean {
    switch (this.#place) {
      case "header": {
        const reader = new WireReader(packet);
        const count = reader.length();
        if (count === undefined) throw new Error("The server asks for a file of the client, which no statement does");
        if (count === 0) {
          this.affectedRows = BigInt(reader.length() ?? 0);
          return true;
        }
        this.#expected = count;
        this.#place = "fields";
        return false;
      }
      case "fields":
        if (this.fields.length < this.#expected) {
          this.fields.push(readField(packet, connection._mariadbExtendedMetadata));
        } else {
          this.#place = "rows";
          this.described();
        }
        return false;
      case "rows":
        if (packet.isEOF()) return true;
        this.row(packet);
        return false;
    }
  }

  /** All fields are known. */
  protected described(): void {}
  protected abstract row(packet: Packet): void;
}

/** A statement whose rows come as the server's texts. */
export class Statement extends RowsCommand {
  readonly rows: (string | null)[][] = [];

  constructor(sql: string | Payload) {
    super(typeof sql === "string" ? textPayload(QUERY, sql) : sql);
  }

  protected override row(packet: Packet): void {
    const reader = new WireReader(packet);
    this.rows.push(this.fields.map(() => reader.text()));
  }
}

/** Makes the server look at one statement, which it does not run. */
export class Prepare extends ServerCommand {
  readonly fields: FieldInfo[] = [];
  id = 0;
  #parameters = 0;
  #columns = -1;

  constructor(sql: string) {
    super(textPayload(PREPARE, sql));
  }

  protected override receive(packet: Packet, connection: Connection): boolean {
    if (this.#columns < 0) {
      const reader = new WireReader(packet);
      reader.skip(1);
      this.id = reader.uint32();
      this.#columns = reader.uint16();
      const parameters = reader.uint16();
      // Each list is followed by a mark of its end.
      this.#parameters = parameters === 0 ? 0 : parameters + 1;
      return this.#parameters === 0 && this.#columns === 0;
    }
    if (this.#parameters > 0) {
      this.#parameters--;
      return this.#parameters === 0 && this.#columns === 0;
    }
    if (this.fields.length === this.#columns) return true;
    this.fields.push(readField(packet, connection._mariadbExtendedMetadata));
    return false;
  }
}

/** What takes the rows of a prepared statement; each packet is valid during the call only. */
export type RowTaker = {
  described(fields: readonly FieldInfo[]): void;
  row(packet: Packet): void;
};

/** Runs a prepared statement without parameters; its rows come in the binary form. */
export class Execute extends RowsCommand {
  readonly #taker: RowTaker;

  constructor(id: number, taker: RowTaker) {
    const payload = new Uint8Array(HEADER_BYTES + 10);
    const view = new DataView(payload.buffer);
    view.setUint8(HEADER_BYTES, EXECUTE);
    view.setUint32(HEADER_BYTES + 1, id, true);
    view.setUint32(HEADER_BYTES + 6, 1, true);
    super(payload);
    this.#taker = taker;
  }

  protected override described(): void {
    this.#taker.described(this.fields);
  }

  protected override row(packet: Packet): void {
    this.#taker.row(packet);
  }
}

/** Tells the server that nothing more comes; it answers by closing the connection. */
export class Quit implements Command {
  execute(_packet: Packet | undefined, connection: Connection): boolean {
    connection._resetSequenceId();
    send(connection, new Uint8Array([0, 0, 0, 0, QUIT]));
    return true;
  }

  onResult(): void {}
}
