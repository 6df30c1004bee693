import type { EventEmitter } from "node:events";
import type { Socket } from "node:net";

/** What of the driver pz uses. */
export type ConnectionOptions = {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string | undefined;
  readonly database: string;
  readonly ssl?: { readonly [option: string]: unknown };
  readonly charset: string;
  readonly connectTimeout: number;
  readonly disableEval: boolean;
  readonly flags: readonly string[];
  readonly trace: boolean;
  readonly connectAttributes?: { readonly [name: string]: string };
};

/** A message of the server: `buffer` from `offset` to `end`, valid while it is handled. */
export type Packet = {
  readonly buffer: Uint8Array;
  readonly offset: number;
  readonly end: number;
  isError(): boolean;
  isEOF(): boolean;
  asError(encoding?: string): Error;
};

/** A statement that speaks the protocol by itself. */
export type Command = {
  /** Called once without a packet when it is its turn, then with each packet; true: it is done. */
  execute(packet: Packet | undefined, connection: Connection): boolean;
  /** The connection failed. */
  onResult(error: Error): void;
};

export type Connection = EventEmitter & {
  readonly stream: Socket;
  readonly threadId: number | null;
  readonly _isMariaDB: boolean;
  readonly _mariadbExtendedMetadata: boolean;
  addCommand(command: Command): Command;
  write(bytes: Uint8Array): void;
  _resetSequenceId(): void;
  _bumpSequenceId(packets: number): void;
  pause(): void;
  resume(): void;
  destroy(): void;
};

export function createConnection(options: ConnectionOptions): Connection;
