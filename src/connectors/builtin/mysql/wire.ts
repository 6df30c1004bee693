import type { Packet } from "./driver.ts";

/** Numbers and texts of the protocol, one after another. */
export class WireReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #at: number;

  constructor({ buffer, offset }: Packet) {
    this.#bytes = buffer;
    this.#view = new DataView(buffer.buffer, buffer.byteOffset, buffer.byteLength);
    this.#at = offset;
  }

  uint8(): number {
    return this.#view.getUint8(this.#at++);
  }

  uint16(): number {
    this.#at += 2;
    return this.#view.getUint16(this.#at - 2, true);
  }

  uint32(): number {
    this.#at += 4;
    return this.#view.getUint32(this.#at - 4, true);
  }

  /** A number that tells its own length; undefined: NULL. */
  length(): number | undefined {
    const first = this.uint8();
    if (first < 0xfb) return first;
    if (first === 0xfb) return undefined;
    if (first === 0xfc) return this.uint16();
    if (first === 0xfd) return this.uint16() | (this.uint8() << 16);
    const low = this.uint32();
    return low + this.uint32() * 2 ** 32;
  }

  /** A text that tells its length; null: NULL. */
  text(): string | null {
    const size = this.length();
    if (size === undefined) return null;
    this.#at += size;
    return WireReader.#decoder.decode(this.#bytes.subarray(this.#at - size, this.#at));
  }

  skip(bytes: number): void {
    this.#at += bytes;
  }

  get at(): number {
    return this.#at;
  }

  static readonly #decoder = new TextDecoder();
}

/** A column as the server describes it. */
export type FieldInfo = {
  readonly name: string;
  /** Its number in the protocol. */
  readonly type: number;
  readonly flags: number;
  /** Characters or bytes at most. */
  readonly length: number;
  readonly decimals: number;
  /** The number of the collation; 63: bytes. */
  readonly collation: number;
  /** What MariaDB says of types that travel as texts or bytes, such as `uuid` or `json`. */
  readonly extended: string | undefined;
};

/** Reads the description of a column. */
export function readField(packet: Packet, isExtended: boolean): FieldInfo {
  const reader = new WireReader(packet);
  for (let skipped = 0; skipped < 4; skipped++) reader.skip(reader.length() ?? 0); // catalog, schema and both tables
  const name = reader.text() ?? "";
  reader.skip(reader.length() ?? 0); // its name in the table
  const extended = isExtended ? readExtended(reader) : undefined;
  reader.skip(1);
  return {
    collation: reader.uint16(),
    name,
    length: reader.uint32(),
    type: reader.uint8(),
    flags: reader.uint16(),
    decimals: reader.uint8(),
    extended,
  };
}

function readExtended(reader: WireReader): string | undefined {
  const size = reader.length() ?? 0;
  const end = reader.at + size;
  let found: string | undefined;
  while (reader.at < end) {
    reader.skip(1); // whether it is a type or a format
    found = reader.text() ?? found;
  }
  return found;
}
